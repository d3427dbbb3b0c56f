"""Batches in files that are numbered or written by the iterator itself."""
from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path

from ...base.java_names import MiniBatchFileDataSetIteratorNames
from ...errors import ConfigurationError
from ..sets.dataset import DataSet
from .iterator import DataSetIterator
from .list_iterators import check_batch
from .loader_iterators import load_data_set

__all__ = ["ExistingMiniBatchDataSetIterator", "MiniBatchFileDataSetIterator"]

DEFAULT_PATTERN = "dataset-%d.bin"


class ExistingMiniBatchDataSetIterator(DataSetIterator):
    """The batches of a folder in files with consecutive numbers from 0.

    Parameters
    ----------
    root_dir : path
        The folder, which exists.
    pattern : str, default "dataset-%d.bin"
        Name of a file, with %d for its number. The files are those of `DataSet.save`.

    Notes
    -----
    Source: ND4J's ``ExistingMiniBatchDataSetIterator``, which counts all files of the folder; here those of the pattern.
    """

    DEFAULT_PATTERN = DEFAULT_PATTERN

    def __init__(self, root_dir: str | os.PathLike[str], pattern: str = DEFAULT_PATTERN) -> None:
        self._root, self._pattern, self._at = Path(root_dir), pattern, 0
        if pattern.count("%d") != 1:
            raise ConfigurationError(f"the pattern needs %d once, for the number of the file; got {pattern!r}")
        if not self._root.is_dir():
            raise FileNotFoundError(f"no such folder: {self._root}")

    def _path(self) -> Path:
        return self._root / self._pattern.replace("%d", str(self._at))

    def has_next(self) -> bool:
        return self._path().is_file()

    def take(self, num: int | None) -> DataSet:
        self._no_part(num)
        batch = load_data_set(self._path())
        self._at += 1
        return batch

    def reset(self) -> None:
        self._at = 0


class MiniBatchFileDataSetIterator(DataSetIterator, MiniBatchFileDataSetIteratorNames):
    """The batches of a data set, written to files at first and read one by one, to save memory.

    Parameters
    ----------
    data : DataSet
        All examples, which need not be kept afterwards.
    batch : int
        Number of examples of a batch, at least 1; the last one may have fewer.
    delete : bool, default True
        Delete the files when the iterator goes.
    root_dir : path, optional
        Where the folder of the files is made; by default among the temporary files.

    Notes
    -----
    Source: ND4J's ``MiniBatchFileDataSetIterator``; DL4J leaves out a last batch that is smaller, here it is given.
    """

    def __init__(self, data: DataSet, batch: int, delete: bool = True, root_dir: str | os.PathLike[str] | None = None) -> None:
        self._batch, self._at = check_batch(batch), 0
        self._columns, self._outcomes, self._names = data.num_inputs(), data.num_outcomes(), list(data.label_names)
        self._folder = Path(tempfile.mkdtemp(prefix="dl4py-batches-", dir=root_dir))
        if delete:
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._count = 0
        for part in data.batch_by(self._batch):
            part.save(self._path(self._count))
            self._count += 1

    def _path(self, number: int) -> Path:
        return self._folder / f"dataset-{number}.bin"

    def get_root_dir(self) -> Path:
        """The folder of the files."""
        return self._folder

    def has_next(self) -> bool:
        return self._at < self._count

    def take(self, num: int | None) -> DataSet:
        self._no_part(num)
        batch = load_data_set(self._path(self._at))
        self._at += 1
        return batch

    def reset(self) -> None:
        self._at = 0

    def batch(self) -> int:
        return self._batch

    def input_columns(self) -> int:
        return self._columns

    def total_outcomes(self) -> int:
        return self._outcomes

    def get_labels(self) -> list[str] | None:
        return self._names or None
