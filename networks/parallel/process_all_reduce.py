"""Exchange of arrays between processes of one machine, through shared memory."""
from __future__ import annotations

import contextlib
from collections.abc import Sequence
from multiprocessing.context import SpawnContext
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

from ...samediff.errors import GraphError
from .all_reduce import SharedMemoryAllReduce

_ALIGN = 64


class ProcessAllReduce(SharedMemoryAllReduce):
    """Ranks that are processes. Each has a region of a shared memory, into which it copies what it lends.

    An end can be given to a process that is being started, as one of its arguments. Rank 0 makes the memory and removes it.

    Parameters
    ----------
    rank, size : int
    barrier : multiprocessing.Barrier
    name : str
        Name of the shared memory.
    region : int
        Bytes for each rank: no larger array can be exchanged.
    """

    def __init__(self, rank: int, size: int, barrier: Any, name: str, region: int) -> None:
        self.rank, self.size, self.barrier, self._name, self._region = rank, size, barrier, name, region
        self._memory: SharedMemory | None = None

    @classmethod
    def group(cls, size: int, region: int, context: SpawnContext) -> list[ProcessAllReduce]:
        """The ends of a group of processes; that of rank 0 stays in this one."""
        region = -(-region // _ALIGN) * _ALIGN
        memory, barrier = SharedMemory(create=True, size=size * region), context.Barrier(size)
        ends = [cls(rank, size, barrier, memory.name, region) for rank in range(size)]
        ends[0]._memory = memory
        return ends

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_memory": None}

    def _view(self, rank: int, dtype: Any, size: int) -> Any:
        if self._memory is None:
            self._memory = SharedMemory(self._name)
        buffer: Any = self._memory.buf
        return np.frombuffer(buffer, np.uint8, size * dtype.itemsize, rank * self._region).view(dtype)

    def _lend(self, flat: Any) -> None:
        if flat.nbytes > self._region:
            raise GraphError(f"the group exchanges arrays of at most {self._region} bytes, got {flat.nbytes}")
        self._view(self.rank, flat.dtype, flat.size)[...] = flat

    def _lent(self, flat: Any) -> Sequence[Any]:
        return [self._view(rank, flat.dtype, flat.size) for rank in range(self.size)]

    def _take_back(self, flat: Any) -> None:
        flat[...] = self._view(self.rank, flat.dtype, flat.size)

    def close(self) -> None:
        if self._memory is not None:
            with contextlib.suppress(BufferError):      # the traceback of a failure holds a view: the memory goes with it
                self._memory.close()
            if self.rank == 0:
                self._memory.unlink()
            self._memory = None
