"""Handwritten digits and letters: MNIST and EMNIST."""
from __future__ import annotations

import os
import string
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.java.java_enum import JavaEnum
from ...base.java_names import EmnistDataSetIteratorNames
from ...codecs.regular_files import open_regular
from ...codecs.safe_zip import SafeZip  # files imports data
from ...errors import ConfigurationError, FileFormatError
from .fetcher import fetch
from .idx_files import read_idx
from .labelled_examples import LabelledExamples

__all__ = ["EMnistSet", "EmnistDataSetIterator", "MnistDataSetIterator"]

_BINARY_ABOVE = 30      # of 255, as in DL4J


class _Digits(LabelledExamples):
    """Images as rows of 784 numbers: from 0 to 1, or 0 and 1."""

    _images: NDArray[np.uint8]
    _binarize: bool

    def features_of(self, examples: NDArray[np.int64]) -> NDArray[np.float32]:
        rows = self._images[examples].reshape(len(examples), -1)
        if self._binarize:
            return (rows > _BINARY_ABOVE).astype(np.float32)
        return rows.astype(np.float32) / np.float32(255)


def _checked(images: NDArray[np.uint8], labels: NDArray[np.uint8], where: str) -> NDArray[np.int64]:
    if len(images) != len(labels) or not len(images):
        raise FileFormatError(f"{where}: {len(images)} images and {len(labels)} labels")
    return labels.astype(np.int64)


class MnistDataSetIterator(_Digits):
    """MNIST: 60,000 training and 10,000 test images of handwritten digits.

    Shapes: features (batch, 784), labels (batch, 10). Fetched at the first use; see `data_folder`.

    Two forms, with DL4J's order of arguments::

        (batch, num_examples, binarize=False, train=True, shuffle=False, rng_seed=0, top_level_dir=None)
        (batch, train, seed)                         all examples, shuffled

    Parameters
    ----------
    num_examples : int or bool
        Number of examples, or whether to take the training part.
    binarize : bool or int, default False
        1 where a pixel is above 30 of 255, else 0; in the second form the seed.
    train : bool, default True
        The training part, or the test part.
    shuffle : bool, default False
        Shuffle now and after every pass.
    rng_seed : int, default 0
        Equal seeds give the order that DL4J gives.
    top_level_dir : path, optional
        Take the four idx files (with or without .gz) from this folder instead.

    Notes
    -----
    Source: DL4J's ``MnistDataSetIterator``. Y. LeCun, C. Cortes, C. J. C. Burges, *The MNIST database of handwritten
    digits*.
    """

    def __init__(self, batch: int, num_examples: int | bool, binarize: bool | int = False, train: bool = True,
                 shuffle: bool = False, rng_seed: int = 0, top_level_dir: str | os.PathLike[str] | None = None) -> None:
        count: int | None = num_examples
        if isinstance(num_examples, bool):      # (batch, train, seed)
            train, rng_seed, shuffle, binarize, count = num_examples, int(binarize), True, False, None
        part = "train" if train else "test"
        prefix = "train" if train else "t10k"
        files = [_mnist_file(f"mnist-{part}-{kind}s", f"{prefix}-{kind}s-idx{rank}-ubyte", top_level_dir)
                 for kind, rank in (("image", 3), ("label", 1))]
        with open_regular(files[0]) as images, open_regular(files[1]) as labels:
            self._images = read_idx(images, 3, str(files[0]))
            classes = _checked(self._images, read_idx(labels, 1, str(files[1])), str(files[0]))
        self._binarize = bool(binarize)
        super().__init__(classes, 10, batch, num_examples=count, seed=rng_seed if shuffle else None)

    def close(self) -> None:
        """Nothing to close: the files were read whole (DL4J's method of that name)."""


def _mnist_file(resource: str, name: str, folder: str | os.PathLike[str] | None) -> Path:
    if folder is None:
        return fetch(resource)
    for path in (Path(folder) / name, Path(folder) / f"{name}.gz"):
        if path.exists():
            return path
    raise FileNotFoundError(f"no such file: {Path(folder) / name} (or {name}.gz)")


class EMnistSet(JavaEnum):
    """The six sets of EMNIST: name in file names, number of training and test examples, the characters.

    NIST counts 124,800 and 20,800 letters where DL4J counts 88,800 and 14,800 and reads no further: so does dl4py.
    """

    COMPLETE = ("byclass", 697_932, 116_323, string.digits + string.ascii_uppercase + string.ascii_lowercase)
    MERGE = ("bymerge", 697_932, 116_323, string.digits + string.ascii_uppercase + "abdefghnqrt")
    BALANCED = ("balanced", 112_800, 18_800, string.digits + string.ascii_uppercase + "abdefghnqrt")
    LETTERS = ("letters", 88_800, 14_800, string.ascii_uppercase)
    DIGITS = ("digits", 240_000, 40_000, string.digits)
    MNIST = ("mnist", 60_000, 10_000, string.digits)

    @classmethod
    def of(cls, value: EMnistSet | str) -> EMnistSet:
        """The member of that name."""
        if isinstance(value, EMnistSet):
            return value
        if value.upper() not in cls.__members__:
            raise ConfigurationError(f"unknown set of EMNIST {value!r}; one of {', '.join(cls.__members__)}")
        return cls[value.upper()]


class EmnistDataSetIterator(_Digits, EmnistDataSetIteratorNames):
    """EMNIST: handwritten digits and letters, upright as those of MNIST.

    Shapes: features (batch, 784), labels (batch, classes). Fetched at the first use (560 MB); see `data_folder`.

    Parameters
    ----------
    data_set : EMnistSet or str
        COMPLETE, MERGE, BALANCED, LETTERS, DIGITS or MNIST.
    train : bool
        The training part, or the test part.
    seed : int, default 0
        Of the order of the examples.
    binarize : bool, default False
        1 where a pixel is above 30 of 255, else 0.
    shuffle : bool, default True
        Shuffle now and after every pass.

    Notes
    -----
    Source: DL4J's ``EmnistDataSetIterator``. G. Cohen, S. Afshar, J. Tapson, A. van Schaik, *EMNIST: an extension of
    MNIST to handwritten letters* (2017).
    """

    Set = EMnistSet

    def __init__(self, data_set: EMnistSet | str, batch: int, train: bool, seed: int = 0, binarize: bool = False,
                 shuffle: bool = True) -> None:
        kind = EMnistSet.of(data_set)
        name, num_train, num_test, characters = kind.value
        count = num_train if train else num_test
        arrays = [_emnist_array(f"gzip/emnist-{name}-{'train' if train else 'test'}-{what}", rank)[:count]
                  for what, rank in (("images-idx3-ubyte.gz", 3), ("labels-idx1-ubyte.gz", 1))]
        classes = _checked(arrays[0], arrays[1], f"EMNIST {kind.name}") - (kind is EMnistSet.LETTERS)    # letters count from 1
        self._images = arrays[0].transpose(0, 2, 1)     # the files hold the images by columns
        self._binarize, self._set = binarize, kind
        super().__init__(classes, len(characters), batch, list(characters), seed=seed if shuffle else None)

    @staticmethod
    def num_examples_train(data_set: EMnistSet | str) -> int:
        """Number of training examples of a set."""
        return int(EMnistSet.of(data_set).value[1])

    @staticmethod
    def num_examples_test(data_set: EMnistSet | str) -> int:
        """Number of test examples of a set."""
        return int(EMnistSet.of(data_set).value[2])

    @staticmethod
    def num_labels(data_set: EMnistSet | str) -> int:
        """Number of classes of a set."""
        return len(EMnistSet.of(data_set).value[3])

    @staticmethod
    def get_labels_array(data_set: EMnistSet | str) -> list[str]:
        """The characters of a set, in the order of their classes."""
        return list(EMnistSet.of(data_set).value[3])

    def get_labels_arrays(self) -> list[str]:
        """The characters of this set, in the order of their classes."""
        return list(self._set.value[3])

    @staticmethod
    def is_balanced(data_set: EMnistSet | str) -> bool:
        """Whether DL4J calls the set balanced: BALANCED, DIGITS and MNIST."""
        return EMnistSet.of(data_set) in (EMnistSet.BALANCED, EMnistSet.DIGITS, EMnistSet.MNIST)


def _emnist_array(entry: str, rank: int) -> NDArray[Any]:
    path = fetch("emnist")
    with SafeZip(path) as archive:
        if entry not in archive:
            raise FileFormatError(f"{path} has no entry {entry}: expected NIST's archive of idx files")
        return read_idx(BytesIO(archive.read(entry, 1 << 28)), rank, f"{path}: {entry}")
