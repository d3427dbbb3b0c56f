"""Data sets from files, one after the other."""
from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...errors import ConfigurationError
from ..sets.dataset import DataSet
from ..sets.multi_dataset import MultiDataSet
from ..splits.file_split import FileSplit
from .iterator import BatchIterator, D, DataSetIterator, MultiDataSetIterator

__all__ = ["FileDataSetIterator", "FileMultiDataSetIterator"]


class _Files(BatchIterator[D]):
    """One batch for every file.

    Parameters
    ----------
    paths : path, or list of paths
        Files, or folders whose files are taken in the order of their names.
    """

    _kind: type[D]

    def __init__(self, paths: str | Path | Iterable[str | Path]) -> None:
        given = [paths] if isinstance(paths, (str, Path)) else list(paths)
        self._paths = [p for path in given for p in FileSplit(path).regular()]
        if not self._paths:
            raise ConfigurationError(f"{type(self).__name__}: no files in {', '.join(map(str, given))}")
        self._at = 0

    def has_next(self) -> bool:
        return self._at < len(self._paths)

    def take(self, num: int | None) -> D:
        self._no_part(num)
        batch = self._kind()
        batch.load(self._paths[self._at])
        self._at += 1
        return batch

    def reset(self) -> None:
        self._at = 0


class FileDataSetIterator(_Files[DataSet], DataSetIterator):
    """One batch for every file that `DataSet.save` wrote."""

    _kind = DataSet


class FileMultiDataSetIterator(_Files[MultiDataSet], MultiDataSetIterator):
    """One batch for every file that `MultiDataSet.save` wrote."""

    _kind = MultiDataSet
