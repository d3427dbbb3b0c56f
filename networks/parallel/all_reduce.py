"""Exchange of arrays between the ranks of a group: each rank calls the same functions in the same order."""
from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ...samediff.device.device_memory import to_host
from ...samediff.errors import GraphError, WorkerError
from ...samediff.training.steps.transaction import Transaction
from .averaging import added, divide


class BrokenGroupError(WorkerError):
    """Another rank of the group ended, so that nothing can be exchanged any more."""


class AllReduce(ABC):
    """One rank's end of a group. What another device needs is :meth:`reduce` and :meth:`broadcast`.

    Every rank calls the same methods in the same order with arrays of the same size and type. Arrays are changed in place; they are
    contiguous in memory, in any order of axes. Results have the same bits on all ranks. Where a device has newer values than the host,
    these count.
    """

    rank: int
    size: int

    @abstractmethod
    def reduce(self, array: Any, divisor: float = 1.0) -> None:
        """Replace the array of every rank by the sum over all ranks, divided by ``divisor``."""

    @abstractmethod
    def broadcast(self, array: Any) -> None:
        """Replace the array of every rank by that of rank 0."""

    def copied(self, array: Any) -> Any:
        """A copy of an array, where it is exchanged."""
        return to_host(array).copy()

    def replace(self, arrays: Sequence[Any], values: Sequence[Any]) -> None:
        """Give arrays of this rank other values: all of them or, after an error or an interrupt, none."""
        with Transaction(arrays):
            for array, value in zip(arrays, values):
                array[...] = value

    @abstractmethod
    def abort(self) -> None:
        """Let every rank that waits, now or later, fail with :class:`BrokenGroupError`."""

    def close(self) -> None:  # noqa: B027 - most have nothing to give back
        """Give back what the group holds outside of this process."""


class Alone(AllReduce):
    """A group of one: the sum over all ranks is the array itself."""

    rank, size = 0, 1

    def reduce(self, array: Any, divisor: float = 1.0) -> None:
        divide(to_host(array), divisor)

    def broadcast(self, array: Any) -> None:
        pass

    def abort(self) -> None:
        pass


class SharedMemoryAllReduce(AllReduce):
    """Ranks that see one memory: each sums its share of the array over all ranks, in the order of the ranks."""

    barrier: Any

    @abstractmethod
    def _lend(self, flat: Any) -> None:
        """Make a flat array visible to the others."""

    @abstractmethod
    def _lent(self, flat: Any) -> Sequence[Any]:
        """The arrays of all ranks."""

    def _take_back(self, flat: Any) -> None:
        """Put what the others have written into the array of this rank."""

    def reduce(self, array: Any, divisor: float = 1.0) -> None:
        flat, arrays = self._exchanged(array)
        share = slice(flat.size * self.rank // self.size, flat.size * (self.rank + 1) // self.size)
        total = added([each[share] for each in arrays])
        divide(total, divisor)
        for each in arrays:
            each[share] = total
        self._wait()
        self._take_back(flat)

    def broadcast(self, array: Any) -> None:
        flat, arrays = self._exchanged(array)
        if self.rank:
            arrays[self.rank][...] = arrays[0]
        self._wait()
        self._take_back(flat)

    def abort(self) -> None:
        self.barrier.abort()

    def _exchanged(self, array: Any) -> tuple[Any, Sequence[Any]]:
        flat = to_host(array).reshape(-1, order="A")
        self._lend(flat)
        self._wait()
        arrays = self._lent(flat)
        if any(a.size != flat.size or a.dtype != flat.dtype for a in arrays):
            raise GraphError(f"ranks exchange arrays of one size and type; got {', '.join(f'{a.dtype} {a.size}' for a in arrays)}")
        return flat, arrays

    def _wait(self) -> None:
        try:
            self.barrier.wait()
        except threading.BrokenBarrierError as error:
            raise BrokenGroupError(f"another worker than {self.rank} ended: nothing can be exchanged any more") from error


class ThreadAllReduce(SharedMemoryAllReduce):
    """Ranks that are threads of one process: the arrays themselves are lent."""

    def __init__(self, rank: int, size: int, barrier: threading.Barrier, lent: list[Any]) -> None:
        self.rank, self.size, self.barrier, self._all = rank, size, barrier, lent

    @classmethod
    def group(cls, size: int) -> list[AllReduce]:
        """The ends of a group of threads.

        Examples
        --------
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> import numpy as np
        >>> group, arrays = ThreadAllReduce.group(3), [np.full(4, rank) for rank in range(3)]
        >>> with ThreadPoolExecutor(3) as pool:
        ...     done = list(pool.map(lambda end, array: end.reduce(array), group, arrays))
        >>> arrays[0].tolist(), arrays[2].tolist()
        ([3, 3, 3, 3], [3, 3, 3, 3])
        """
        if size == 1:
            return [Alone()]
        barrier, lent = threading.Barrier(size), [None] * size
        return [cls(rank, size, barrier, lent) for rank in range(size)]

    def _lend(self, flat: Any) -> None:
        self._all[self.rank] = flat

    def _lent(self, flat: Any) -> Sequence[Any]:
        return list(self._all)
