"""Threads that help to run programs: they wait for a run in compiled code, first turning, then asleep."""
from __future__ import annotations

import ctypes
import functools
import os
import threading

import numpy as np

from ..blas_threads import thread_count
from .system import CAN_HELP

_SEMAPHORE_WORDS = 8


class Pool:
    """Helpers of one process."""

    def __init__(self, helpers: int) -> None:
        from . import runner
        raw = np.zeros(runner.POOL_WORDS + _SEMAPHORE_WORDS + 8, np.int64)
        self._memory = raw
        self.address = (raw.ctypes.data + 63) // 64 * 64
        ctypes.CDLL(None).sem_init(ctypes.c_void_p(self.address + 8 * runner.POOL_WORDS), 0, 0)
        for k in range(helpers):
            threading.Thread(target=runner.help_out, args=(self.address, k + 1), name=f"dl4py-{k + 1}", daemon=True).start()

    def forget_waiting(self) -> None:
        """Ask helpers again, whatever they kept waiting."""
        from . import runner
        ctypes.c_int64.from_address(self.address + runner.REST).value = 0


@functools.cache
def _pool(process: int) -> Pool | None:
    return Pool(parts() - 1) if CAN_HELP and parts() > 1 else None


def pool() -> Pool | None:
    """The helpers of this process; None where there is one processor, or none can be had."""
    return _pool(os.getpid())


@functools.cache
def parts() -> int:
    """Into how many parts long instructions are divided."""
    from .runner import MOST_PARTS
    return max(1, min(thread_count(), MOST_PARTS))
