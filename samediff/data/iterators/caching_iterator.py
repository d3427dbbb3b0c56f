"""Batches that are kept, so that the second pass need not make them again."""
from __future__ import annotations

import hashlib
import os
from abc import abstractmethod
from io import BytesIO
from pathlib import Path

from ...base.java_names import DataSetCacheNames
from ...errors import ConfigurationError
from ..sets.dataset import DataSet
from .iterator import DataSetIterator, copy_of
from .loader_iterators import load_data_set
from .wrapper_iterators import DataSetWrapper

__all__ = ["CachingDataSetIterator", "DataSetCache", "InFileAndMemoryDataSetCache", "InFileDataSetCache", "InMemoryDataSetCache"]


class DataSetCache(DataSetCacheNames):
    """A store of batches by keys, for `CachingDataSetIterator`; a namespace is complete after one whole pass."""

    @abstractmethod
    def is_complete(self, namespace: str) -> bool:
        """Whether all batches of the namespace are there."""

    @abstractmethod
    def set_complete(self, namespace: str, value: bool) -> None:
        """Say so."""

    @abstractmethod
    def get(self, key: str) -> DataSet:
        """The batch of a key."""

    @abstractmethod
    def put(self, key: str, data: DataSet) -> None:
        """Keep a batch."""

    @abstractmethod
    def contains(self, key: str) -> bool:
        """Whether there is a batch of that key."""


class InMemoryDataSetCache(DataSetCache):
    """Keeps the batches in memory, as bytes."""

    def __init__(self) -> None:
        self._complete: set[str] = set()
        self._data: dict[str, bytes] = {}

    def is_complete(self, namespace: str) -> bool:
        return namespace in self._complete

    def set_complete(self, namespace: str, value: bool) -> None:
        (self._complete.add if value else self._complete.discard)(namespace)

    def get(self, key: str) -> DataSet:
        data = DataSet()
        data.load(BytesIO(self._data[key]))
        return data

    def put(self, key: str, data: DataSet) -> None:
        stream = BytesIO()
        data.save(stream)
        self._data[key] = stream.getvalue()

    def contains(self, key: str) -> bool:
        return key in self._data


class InFileDataSetCache(DataSetCache):
    """Keeps the batches in files of a folder, also for the next program.

    Parameters
    ----------
    cache_dir : path
        Made when it does not exist.
    """

    def __init__(self, cache_dir: str | os.PathLike[str]) -> None:
        self._folder = Path(cache_dir)
        self._folder.mkdir(parents=True, exist_ok=True)

    def _file(self, key: str, ending: str) -> Path:
        return self._folder / (hashlib.sha256(key.encode()).hexdigest() + ending)     # a key may hold any characters

    def is_complete(self, namespace: str) -> bool:
        return self._file(namespace, ".complete").exists()

    def set_complete(self, namespace: str, value: bool) -> None:
        file = self._file(namespace, ".complete")
        if value:
            file.touch()
        else:
            file.unlink(missing_ok=True)

    def get(self, key: str) -> DataSet:
        return load_data_set(self._file(key, ".bin"))

    def put(self, key: str, data: DataSet) -> None:
        data.save(self._file(key, ".bin"))

    def contains(self, key: str) -> bool:
        return self._file(key, ".bin").exists()


class InFileAndMemoryDataSetCache(InFileDataSetCache):
    """Keeps the batches in files, and in memory those that were used in this program."""

    def __init__(self, cache_dir: str | os.PathLike[str]) -> None:
        super().__init__(cache_dir)
        self._memory = InMemoryDataSetCache()

    def get(self, key: str) -> DataSet:
        if not self._memory.contains(key):
            self._memory.put(key, super().get(key))
        return self._memory.get(key)

    def put(self, key: str, data: DataSet) -> None:
        super().put(key, data)
        self._memory.put(key, data)


class CachingDataSetIterator(DataSetWrapper):
    """The batches of another iterator, from the cache once it has gone through all of them.

    Parameters
    ----------
    cache : DataSetCache
        Where batches are kept: in memory, in files, or both.
    namespace : str, default ""
        Tells the batches of several iterators in one cache apart.
    allow_prefetching : bool, default False
        Whether a background thread may read ahead.

    Notes
    -----
    Source: ND4J's ``CachingDataSetIterator``. Batches are kept before preprocessing of this iterator, after that of ``base``.

    Examples
    --------
    >>> from dl4py.samediff.data import ListDataSetIterator
    >>> data = DataSet([[float(i)] for i in range(3)], [[0.0]] * 3)
    >>> cached = CachingDataSetIterator(ListDataSetIterator(data.as_list(), 2), InMemoryDataSetCache())
    >>> [len(b) for b in cached], [len(b) for b in cached]
    ([2, 1], [2, 1])
    """

    def __init__(self, base: DataSetIterator, cache: DataSetCache, namespace: str = "", allow_prefetching: bool = False) -> None:
        super().__init__(base)
        self._cache, self._namespace, self._prefetch = cache, namespace, allow_prefetching
        self._at = 0
        self._from_cache = cache.is_complete(namespace)

    def _key(self) -> str:
        return f"{self._namespace}-{self._at}"

    def has_next(self) -> bool:
        if self._from_cache:
            return self._cache.contains(self._key())
        if self._base.has_next():
            return True
        self._cache.set_complete(self._namespace, True)
        return False

    def take(self, num: int | None) -> DataSet:
        self._no_part(num)
        if self._from_cache:
            batch = self._cache.get(self._key())
        else:
            batch = self._base.next()
            self._cache.put(self._key(), batch)
            batch = copy_of(batch)
        self._at += 1
        return batch

    def reset(self) -> None:
        if self._cache.is_complete(self._namespace):
            self._from_cache = True
        elif self._base.reset_supported():
            self._base.reset()
        else:
            raise ConfigurationError("CachingDataSetIterator: the other iterator cannot be reset and has not been read to its end")
        self._at = 0

    def reset_supported(self) -> bool:
        return self._cache.is_complete(self._namespace) or self._base.reset_supported()

    def async_supported(self) -> bool:
        return self._prefetch
