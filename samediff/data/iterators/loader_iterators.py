"""Data sets that a function of the user makes, one for every path or file."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...codecs.regular_files import open_regular
from ...errors import ConfigurationError
from ..sets.dataset import DataSet
from ..sets.java_random import JavaRandom
from ..sets.multi_dataset import MultiDataSet
from .iterator import BatchIterator, D, DataSetIterator, MultiDataSetIterator

__all__ = ["DataSetLoaderIterator", "FileSplitDataSetIterator", "MultiDataSetLoaderIterator"]


class _Loaded(BatchIterator[D]):
    """One batch for every path, made by a function.

    Parameters
    ----------
    paths : iterable
        Whatever ``source_factory`` understands; a Python iterator is taken once.
    *functions : callable
        ``loader(source)``, which returns the data set, and perhaps ``source_factory(path)``, which returns what the loader reads; by
        default the path is opened as a binary file. The source is closed afterwards.
    random : JavaRandom, optional
        Take the paths in a random order, another one after every reset. Before the loader, as in DL4J, or by name.
    """

    def __init__(self, paths: Iterable[Any], *functions: Any, random: JavaRandom | None = None) -> None:
        given = list(functions)
        if given and isinstance(given[0], JavaRandom):      # DL4J's order: (paths, random, loader, source factory)
            random = given.pop(0)
        if not 1 <= len(given) <= 2 or not all(callable(f) for f in given):
            raise ConfigurationError(f"{type(self).__name__}: expected (paths, loader, source factory=open); give functions, got {given}")
        self._load, self._source = given[0], given[1] if len(given) > 1 else open_regular
        self._once = isinstance(paths, Iterator)
        self._paths, self._random, self._at = list(paths), random, 0
        self._mix()

    def _mix(self) -> None:
        self._before = None if self._random is None else self._random.get_state()
        self._order = list(range(len(self._paths)))
        if self._random is not None:
            self._random.shuffle(self._order)

    def get_order(self) -> dict[str, Any]:
        return {} if self._before is None else {"random": self._before}

    def set_order(self, order: Mapping[str, Any]) -> None:
        if self._random is not None:
            self._random.set_state(int(order["random"]))
            self._mix()

    def has_next(self) -> bool:
        return self._at < len(self._order)

    def take(self, num: int | None) -> D:
        self._no_part(num)
        source = self._source(self._paths[self._order[self._at]])
        try:
            batch: D = self._load(source)
        finally:
            close = getattr(source, "close", None)
            if close is not None:
                close()
        self._at += 1
        return batch

    def reset(self) -> None:
        if self._once:
            raise ConfigurationError(f"{type(self).__name__} over a Python iterator cannot be reset; give it a list of paths")
        if self._at:
            self._mix()
        self._at = 0

    def reset_supported(self) -> bool:
        return not self._once


class DataSetLoaderIterator(_Loaded[DataSet], DataSetIterator):
    """One batch for every path, made by a function.

    Examples
    --------
    >>> make = lambda number: DataSet([[float(number)]], [[1.0]])
    >>> [b.get_features().item() for b in DataSetLoaderIterator([3, 4], make, int)]
    [3.0, 4.0]
    """


class MultiDataSetLoaderIterator(_Loaded[MultiDataSet], MultiDataSetIterator):
    """One batch for every path, made by a function that returns a MultiDataSet."""


def load_data_set(file: str | os.PathLike[str]) -> DataSet:
    """The data set of a file that `DataSet.save` wrote."""
    data = DataSet()
    data.load(Path(file))
    return data


class FileSplitDataSetIterator(DataSetIterator):
    """One batch for every file, made by a function of the path (DL4J's ``FileSplitDataSetIterator``).

    Parameters
    ----------
    files : list of path
        In the order of the batches.
    callback : callable, optional
        ``callback(path)`` returns a DataSet; by default the file is one of `DataSet.save`.
    """

    def __init__(self, files: Iterable[str | os.PathLike[str]],
                 callback: Callable[[Path], DataSet] = load_data_set) -> None:
        self._files, self._callback, self._at = [Path(f) for f in files], callback, 0

    def has_next(self) -> bool:
        return self._at < len(self._files)

    def take(self, num: int | None) -> DataSet:
        self._no_part(num)
        self._at += 1
        return self._callback(self._files[self._at - 1])

    def reset(self) -> None:
        self._at = 0
