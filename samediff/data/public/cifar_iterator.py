"""CIFAR-10 in its binary form."""
from __future__ import annotations

import os
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...codecs.regular_files import open_regular, read_file
from ...errors import ConfigurationError, FileFormatError
from ..normalizers.image_transforms import Transform, resized
from .fetcher import fetch
from .labelled_examples import Asked, DataSetType, LabelledExamples

__all__ = ["Cifar10DataSetIterator"]

LABELS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_SIDE, _RECORD = 32, 1 + 3 * 32 * 32
_FILES = {DataSetType.TRAIN: tuple(f"data_batch_{i}.bin" for i in range(1, 6)), DataSetType.TEST: ("test_batch.bin",)}
_LARGEST = 1 << 26      # bytes of one file; the real ones have 31 million


class Cifar10DataSetIterator(LabelledExamples):
    """CIFAR-10: 50,000 training and 10,000 test images of 32 x 32 pixels in ten classes.

    Shapes: features (batch, 3, 32, 32), labels (batch, 10). As in DL4J the values go from 0 to 255 and the channels
    are blue, green, red; `ImagePreProcessingScaler` brings them to 0 to 1. Fetched at the first use (170 MB).

    Parameters
    ----------
    *form : sequence of int, DataSetType or str, function, int
        DL4J's arguments, which may be missing: ``img_dim``, ``data_set``, ``image_transform``, ``rng_seed``.
    data_set : DataSetType or str, default TRAIN
        TRAIN or TEST.
    rng_seed : int, default 123
        Of the order of the examples.
    rgb : bool, default False
        Channels in the order red, green, blue.
    img_dim : tuple of int, optional
        Height and width to which images are brought; 32 x 32 without it.
    image_transform : function of (picture, random), optional
        Changes every picture; see `ImageTransform`.
    folder : path, optional
        Take ``data_batch_1.bin`` to ``data_batch_5.bin`` or ``test_batch.bin`` from this folder instead.

    Notes
    -----
    Source: DL4J's ``Cifar10DataSetIterator``. A. Krizhevsky, *Learning multiple layers of features from tiny images*
    (2009). DL4J's shuffled order is that of files on its disk and cannot be repeated.
    """

    def __init__(self, batch: int, *form: Any, data_set: DataSetType | str = DataSetType.TRAIN, rng_seed: int = 123, rgb: bool = False,
                 img_dim: Sequence[int] | None = None, image_transform: Transform | None = None,
                 folder: str | os.PathLike[str] | None = None) -> None:
        asked = Asked(img_dim, data_set, image_transform, rng_seed).or_in(form)
        kind = DataSetType.of(asked.data_set)
        if kind not in _FILES:
            raise ConfigurationError("CIFAR-10 has no validation part: use TRAIN or TEST")
        parts = _from_archive(fetch("cifar10"), _FILES[kind]) if folder is None else _from_folder(Path(folder), _FILES[kind])
        records = np.concatenate(parts)
        self._images = records[:, 1:].reshape(-1, 3, _SIDE, _SIDE)
        self._height, self._width = (_SIDE, _SIDE) if asked.img_dim is None else _sizes(asked.img_dim)
        self._channels = slice(None) if rgb else slice(None, None, -1)
        super().__init__(records[:, 0].astype(np.int64), 10, batch, LABELS, seed=asked.rng_seed,
                         image_transform=asked.image_transform)

    def features_of(self, examples: NDArray[np.int64]) -> NDArray[np.float32]:
        images = np.ascontiguousarray(self._images[examples][:, self._channels], np.float32)
        if (self._height, self._width) == (_SIDE, _SIDE):
            return images
        return np.stack([resized(image, self._height, self._width) for image in images])


def _sizes(img_dim: Sequence[int]) -> tuple[int, int]:
    height, width, *rest = img_dim
    if min(height, width) < 1 or rest not in ([], [3]):
        raise ConfigurationError(f"CIFAR-10 images need (height, width) or (height, width, 3), got {tuple(img_dim)}")
    return height, width


def _records(data: bytes, where: str) -> NDArray[np.uint8]:
    if not data or len(data) % _RECORD:
        raise FileFormatError(f"{where}: {len(data)} bytes, expected a multiple of {_RECORD} (a label and 3 x 32 x 32 pixels)")
    array: NDArray[Any] = np.frombuffer(data, np.uint8).reshape(-1, _RECORD)
    return array


def _from_folder(folder: Path, names: tuple[str, ...]) -> list[NDArray[np.uint8]]:
    return [_records(read_file(folder / name), str(folder / name)) for name in names]


def _from_archive(path: Path, names: tuple[str, ...]) -> list[NDArray[np.uint8]]:
    """The members of these names, read without unpacking anything to disk."""
    found: dict[str, NDArray[np.uint8]] = {}
    try:
        with open_regular(path) as file, tarfile.open(fileobj=file, mode="r:gz") as archive:
            for member in archive:
                name = member.name.rpartition("/")[2]
                if name in names and name not in found and member.isfile() and member.size <= _LARGEST:
                    stream = archive.extractfile(member)
                    if stream is not None:
                        found[name] = _records(stream.read(), f"{path}: {member.name}")
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise FileFormatError(f"{path}: damaged archive ({error})") from None
    missing = [name for name in names if name not in found]
    if missing:
        raise FileFormatError(f"{path}: no file {missing[0]} in the archive")
    return [found[name] for name in names]
