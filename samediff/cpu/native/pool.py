"""Threads that help to run programs: they wait for a run in compiled code, first turning, then asleep."""
from __future__ import annotations

import ctypes
import functools
import os
import threading

import numpy as np

from ...base.locks import in_child, rlock
from ..matrix.blas_threads import thread_count
from .system import CAN_HELP

_SEMAPHORE_WORDS = 8
_making = rlock()


class Pool:
    """Helpers of one process.

    Attributes
    ----------
    helpers : how many there are: as many as the system gives, none where it has no semaphores for them to sleep on
    """

    def __init__(self, helpers: int) -> None:
        from . import runner
        raw = np.zeros(runner.POOL_WORDS + _SEMAPHORE_WORDS + 8, np.int64)
        self._memory = raw
        self.address = (raw.ctypes.data + 63) // 64 * 64
        self.helpers = 0
        if not _can_sleep(self.address + 8 * runner.POOL_WORDS):
            return
        for k in range(helpers):
            try:
                threading.Thread(target=runner.help_out, args=(self.address, k + 1), name=f"dl4py-{k + 1}", daemon=True).start()
            except RuntimeError:            # no further thread can be had: the work is done without it
                break
            self.helpers += 1
        in_child(self.retire)

    def forget_waiting(self) -> None:
        """Ask helpers again, whatever they kept waiting."""
        from . import runner
        self._word(runner.REST).value = 0

    def retire(self) -> None:
        """Programs made so far run without help from now on: a forked process has no helpers, and may have been in the midst of a run."""
        from . import runner
        self._word(runner.BUSY).value = 1

    def _word(self, field: int) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self.address + field)


def _can_sleep(semaphore: int) -> bool:
    """Make a semaphore; whether it works. Some systems have the functions, but none without a name."""
    library, place = ctypes.CDLL(None), ctypes.c_void_p(semaphore)
    return bool(library.sem_init(place, 0, 0) == 0 and library.sem_post(place) == 0 and library.sem_wait(place) == 0)


@functools.cache
def _pool(process: int) -> Pool | None:
    made = Pool(parts() - 1) if CAN_HELP and parts() > 1 else None
    return made if made is not None and made.helpers else None


def pool() -> Pool | None:
    """The helpers of this process; None where there is one processor, or none can be had."""
    with _making:
        return _pool(os.getpid())


@functools.cache
def parts() -> int:
    """Into how many parts long instructions are divided."""
    from .runner import MOST_PARTS
    return max(1, min(thread_count(), MOST_PARTS))
