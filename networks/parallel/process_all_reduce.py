"""Exchange of arrays between processes of one machine, through shared memory."""
from __future__ import annotations

from collections.abc import Sequence
from multiprocessing.context import SpawnContext
from typing import Any

import numpy as np

from ...samediff.errors import GraphError
from .all_reduce import SharedMemoryAllReduce
from .process_barrier import ProcessBarrier

_ALIGN = 64


class ProcessAllReduce(SharedMemoryAllReduce):
    """Ranks that are processes. Each has a region of a shared memory, into which it copies what it lends.

    An end can be given to a process that is being started, as one of its arguments. The memory has no name: it goes with the last
    process that has it, however that ends.

    Parameters
    ----------
    rank, size : int
    barrier : ProcessBarrier
    memory : array of bytes that the processes share
    region : int
        Bytes for each rank: no larger array can be exchanged.
    """

    def __init__(self, rank: int, size: int, barrier: ProcessBarrier, memory: Any, region: int) -> None:
        self.rank, self.size, self.barrier, self._memory, self._region = rank, size, barrier, memory, region

    @classmethod
    def group(cls, size: int, region: int, context: SpawnContext) -> list[ProcessAllReduce]:
        """The ends of a group of processes; that of rank 0 stays in this one."""
        region = -(-region // _ALIGN) * _ALIGN
        memory = context.RawArray("B", size * region)
        return [cls(rank, size, barrier, memory, region) for rank, barrier in enumerate(ProcessBarrier.group(size))]

    def _view(self, rank: int, dtype: Any, size: int) -> Any:
        return np.frombuffer(self._memory, np.uint8, size * dtype.itemsize, rank * self._region).view(dtype)

    def _lend(self, flat: Any) -> None:
        if flat.nbytes > self._region:
            raise GraphError(f"the group exchanges arrays of at most {self._region} bytes, got {flat.nbytes}")
        self._view(self.rank, flat.dtype, flat.size)[...] = flat

    def _lent(self, flat: Any) -> Sequence[Any]:
        return [self._view(rank, flat.dtype, flat.size) for rank in range(self.size)]

    def _take_back(self, flat: Any) -> None:
        flat[...] = self._view(self.rank, flat.dtype, flat.size)

    def close(self) -> None:
        self.barrier.close()
        self._memory = None
