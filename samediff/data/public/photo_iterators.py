"""Photographs: Labeled Faces in the Wild and Tiny ImageNet."""
from __future__ import annotations

import os
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...codecs.regular_files import open_regular
from ...codecs.safe_zip import SafeZip  # files imports data
from ...errors import ConfigurationError, FileFormatError
from ..normalizers.image_transforms import Transform
from ..pictures.decoding import decoded
from ..sets.java_random import JavaRandom
from .fetcher import fetch
from .labelled_examples import Asked, DataSetType, LabelledExamples

__all__ = ["LFWDataSetIterator", "TinyImageNetDataSetIterator"]

_LARGEST = 1 << 22      # bytes of one JPEG file


class _Photos(LabelledExamples):
    """JPEG files in memory, decoded batch by batch."""

    _files: list[bytes]
    _size: tuple[int, int, int]
    _where: str

    def features_of(self, examples: NDArray[np.int64]) -> NDArray[np.float32]:
        channels, height, width = self._size
        pictures = [decoded(self._files[i], height, width, channels, f"{self._where}: picture {i}") for i in examples]
        return np.stack(pictures).astype(np.float32)


def _size(given: Sequence[int]) -> tuple[int, int, int]:
    height, width, *rest = given
    channels = rest[0] if rest else 3
    if min(height, width) < 1 or channels not in (1, 3):
        raise ConfigurationError(f"pictures need (height, width, channels) with 1 or 3 channels, got {tuple(given)}")
    return channels, height, width


class LFWDataSetIterator(_Photos):
    """Labeled Faces in the Wild: photographs of faces and the names of the persons.

    Shapes: features (batch, channels, height, width), values 0 to 255, channels blue, green, red; labels (batch,
    persons). Fetched at the first use (180 MB); needs Pillow.

    Parameters
    ----------
    num_examples : int, optional
        Of the chosen part, after shuffling.
    img_dim : tuple of int, default (250, 250, 3)
        Height, width, channels.
    num_labels : int, optional
        Only the persons with the most photographs; by default all 5,749.
    train : bool, default True
        The training part, or the rest.
    split_train_test : float, default 1.0
        Share of the training part.
    rng_seed : int, default 42
        Of the division and of the order.
    image_transform : function of (picture, random), optional
        Changes every picture; see `ImageTransform`.
    file : path, optional
        Take ``lfw.tgz`` from here instead of fetching it.

    Notes
    -----
    Source: DL4J's ``LFWDataSetIterator``; its random division depends on its disk and cannot be repeated.
    """

    def __init__(self, batch: int, num_examples: int | None = None, img_dim: Sequence[int] = (250, 250, 3),
                 num_labels: int | None = None, train: bool = True, split_train_test: float = 1.0, rng_seed: int = 42, *,
                 image_transform: Transform | None = None, file: str | os.PathLike[str] | None = None) -> None:
        if not 0 < split_train_test <= 1:
            raise ConfigurationError(f"split_train_test must be above 0 and at most 1, got {split_train_test}")
        path = fetch("lfw") if file is None else Path(file)
        persons = _people(path)
        names = sorted(sorted(persons), key=lambda name: -len(persons[name]))[:num_labels]
        names.sort()
        found = [(photo, number) for number, name in enumerate(names) for photo in persons[name]]
        JavaRandom(rng_seed).shuffle(found)
        cut = round(len(found) * split_train_test)
        found = found[:cut] if train else found[cut:]
        self._files, self._size, self._where = [photo for photo, _ in found], _size(img_dim), str(path)
        super().__init__(np.array([number for _, number in found], np.int64), len(names), batch, names,
                         num_examples=num_examples, seed=rng_seed, image_transform=image_transform)


def _people(path: Path) -> dict[str, list[bytes]]:
    """The photographs of every person: the folder of a file in the archive is the person's name."""
    persons: dict[str, list[bytes]] = {}
    try:
        with open_regular(path) as file, tarfile.open(fileobj=file, mode="r:gz") as archive:
            for member in archive:
                folder, _, name = member.name.rpartition("/")
                if member.isfile() and name.lower().endswith(".jpg") and member.size <= _LARGEST:
                    stream = archive.extractfile(member)
                    if stream is not None:
                        persons.setdefault(folder.rpartition("/")[2], []).append(stream.read())
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise FileFormatError(f"{path}: damaged archive ({error})") from None
    if not persons:
        raise FileFormatError(f"{path}: no photographs in the archive")
    return persons


class TinyImageNetDataSetIterator(_Photos):
    """Tiny ImageNet: 100,000 training and 10,000 test photographs of 64 x 64 pixels in 200 classes.

    Shapes: features (batch, 3, height, width), values 0 to 255, channels blue, green, red; labels (batch, 200). The
    classes are WordNet numbers in the order of the alphabet. Fetched at the first use (250 MB); needs Pillow.

    Parameters
    ----------
    *form : sequence of int, DataSetType or str, function, int
        DL4J's arguments, which may be missing: ``img_dim``, ``data_set``, ``image_transform``, ``rng_seed``.
    img_dim : tuple of int, optional
        Height and width; by default 64 x 64.
    data_set : DataSetType or str, default TRAIN
        TRAIN, or TEST: the part that the archive calls ``val``; its own test part has no labels.
    rng_seed : int, default 123
        Of the order.
    image_transform : function of (picture, random), optional
        Changes every picture; see `ImageTransform`.
    file : path, optional
        Take ``tiny-imagenet-200.zip`` from here instead of fetching it.

    Notes
    -----
    Source: DL4J's ``TinyImageNetDataSetIterator``.
    """

    def __init__(self, batch: int, *form: Any, img_dim: Sequence[int] | None = None, data_set: DataSetType | str = DataSetType.TRAIN,
                 rng_seed: int = 123, image_transform: Transform | None = None, file: str | os.PathLike[str] | None = None) -> None:
        asked = Asked(img_dim, data_set, image_transform, rng_seed).or_in(form)
        kind = DataSetType.of(asked.data_set)
        if kind is DataSetType.VALIDATION:
            raise ConfigurationError("the labelled parts of Tiny ImageNet are TRAIN and TEST")
        path = fetch("tiny-imagenet") if file is None else Path(file)
        with SafeZip(path, 200_000) as archive:
            names = sorted(archive.read("tiny-imagenet-200/wnids.txt", _LARGEST).decode("ascii").split())
            listed = _training(list(archive.entries)) if kind is DataSetType.TRAIN else _testing(
                archive.read("tiny-imagenet-200/val/val_annotations.txt", _LARGEST).decode("ascii"))
            unknown = next((name for _, name in listed if name not in names), None)
            if unknown is not None or not listed:
                raise FileFormatError(f"{path}: class {unknown} is not in wnids.txt" if listed else f"{path}: no pictures")
            missing = next((entry for entry, _ in listed if entry not in archive), None)
            if missing is not None:
                raise FileFormatError(f"{path}: no entry {missing}")
            self._files = [archive.read(entry, _LARGEST) for entry, _ in listed]
        self._size, self._where = _size((*((64, 64) if asked.img_dim is None else asked.img_dim), 3)), str(path)
        number = {name: i for i, name in enumerate(names)}
        super().__init__(np.array([number[name] for _, name in listed], np.int64), len(names), batch, names, seed=asked.rng_seed,
                         image_transform=asked.image_transform)


def _training(entries: list[str]) -> list[tuple[str, str]]:
    """Entry and class: ``tiny-imagenet-200/train/CLASS/images/NAME.JPEG``."""
    parts = [(entry, entry.split("/")) for entry in sorted(entries)]
    return [(entry, p[2]) for entry, p in parts if len(p) == 5 and p[1] == "train" and p[4].endswith(".JPEG")]


def _testing(annotations: str) -> list[tuple[str, str]]:
    rows = [line.split("\t") for line in annotations.splitlines() if line.strip()]
    return [(f"tiny-imagenet-200/val/images/{row[0]}", row[1]) for row in rows if len(row) > 1]
