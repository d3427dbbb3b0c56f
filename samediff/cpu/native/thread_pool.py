"""Threads that help to run programs: they wait for a run in compiled code, first turning, then asleep."""
from __future__ import annotations

import ctypes
import functools
import os
import threading

import numpy as np

from ...base.locks import in_child, rlock
from ..threads import parts
from .system import CAN_HELP

_SEMAPHORE_WORDS = 8
_making = rlock()


class ThreadPool:
    """Helpers of one process.

    Attributes
    ----------
    helpers : how many there are: as many as the system gives, none where it has no semaphores for them to sleep on
    """

    def __init__(self, helpers: int) -> None:
        from . import interpreter
        raw = np.zeros(interpreter.POOL_WORDS + _SEMAPHORE_WORDS + 8, np.int64)
        self.address = (raw.ctypes.data + 63) // 64 * 64
        self._words = raw[(self.address - raw.ctypes.data) // 8:]
        self.helpers = 0
        if not _can_sleep(self.address + 8 * interpreter.POOL_WORDS):
            return
        for k in range(helpers):
            try:
                threading.Thread(target=interpreter.worker_loop, args=(self.address, k + 1), name=f"dl4py-{k + 1}", daemon=True).start()
            except RuntimeError:            # no further thread can be had: the work is done without it
                break
            self.helpers += 1
        in_child(self.retire)

    def reset_backoff(self) -> None:
        """End the pause in which programs run without helper threads because these had kept one waiting."""
        from . import interpreter
        self._words[interpreter.REST // 8] = 0

    def retire(self) -> None:
        """Have all programs run without helper threads from now on: a forked process has none, and may have been forked during a run."""
        from . import interpreter
        self._words[interpreter.BUSY // 8] = 1


def _can_sleep(semaphore: int) -> bool:
    """Make a semaphore; whether it works. Some systems have the functions, but none without a name."""
    library, place = ctypes.CDLL(None), ctypes.c_void_p(semaphore)
    return bool(library.sem_init(place, 0, 0) == 0 and library.sem_post(place) == 0 and library.sem_wait(place) == 0)


@functools.cache
def _pool(process: int) -> ThreadPool | None:
    made = ThreadPool(parts() - 1) if CAN_HELP and parts() > 1 else None
    return made if made is not None and made.helpers else None


def pool() -> ThreadPool | None:
    """The helpers of this process; None where there is one processor, or none can be had."""
    with _making:
        return _pool(os.getpid())
