"""Division of work into parts, and the threads that do these where Python calls kernels.

The number of parts depends on sizes and processors alone, never on who is free, so results have equal bits. Parts never wait for each
other: a busy machine makes them late but not slow, unlike the threads of a BLAS library. Native programs have threads of their own
(:mod:`.native.thread_pool`), which wait in machine code; from which length on they help is measured (:mod:`.native.thresholds`).
"""
from __future__ import annotations

import functools
import os
import queue
import threading
from collections.abc import Callable

from ..base.locks import rlock
from .blas.blas_threads import thread_count

#: Parts of one piece of work at most: as many as an instruction of a native program has words for.
MOST_PARTS = 7

#: Nanoseconds that a part should take at least where Python gives it to a thread.
LEAST = 1e5

#: Rows of a batch that a part should have at least, and multiplications from which there is more than one.
ROWS, WORTH_PARTS = 5, 1 << 20

_starting = rlock()

Call = Callable[[int, int, int], object]


class _ThreadGroup:
    """Threads that wait for parts: as many as could be started."""

    def __init__(self) -> None:
        self.parts: queue.SimpleQueue[tuple[Call, tuple[int, int, int], queue.SimpleQueue[BaseException | None]]] = queue.SimpleQueue()
        self.size = 0
        for k in range(1, parts()):
            try:
                threading.Thread(target=self._work, name=f"dl4py-part-{k}", daemon=True).start()
            except RuntimeError:            # the system gives no further thread: the others do the work
                break
            self.size += 1

    def _work(self) -> None:
        while True:
            call, part, answers = self.parts.get()
            error: BaseException | None = None
            try:
                call(*part)
            except BaseException as found:  # raised again by whoever waits
                error = found
            answers.put(error)
            del call, part, answers, error  # a thread that waits holds no arrays


@functools.cache
def _thread_group(process: int) -> _ThreadGroup:
    return _ThreadGroup()


def parts() -> int:
    """Into how many parts work is divided at most: as many as there are processors, or threads of the BLAS library where it was told."""
    return max(1, min(thread_count(), MOST_PARTS))


def parts_for(nanoseconds: float) -> int:
    """Into how many parts to divide that much work."""
    return min(parts(), max(1, int(nanoseconds / LEAST)))


def parts_of_rows(rows: int, multiplications: int) -> list[tuple[int, int]]:
    """Ranges of the rows of a batch to work on side by side."""
    return ranges(rows, min(parts(), rows // ROWS) if multiplications >= WORTH_PARTS else 1)


def ranges(size: int, count: int) -> list[tuple[int, int]]:
    """``count`` ranges of nearly equal length, at least one."""
    count = max(1, count)
    return [(size * k // count, size * (k + 1) // count) for k in range(count)]


def run_parts(call: Call, parts: list[tuple[int, int]]) -> None:
    """``call(part, low, high)`` for all parts; the first runs here. ``call`` must release the GIL to gain anything."""
    with _starting:
        crew = _thread_group(os.getpid())
    if not crew.size or len(parts) < 2:
        for k, part in enumerate(parts):
            call(k, *part)
        return
    answers: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
    for k, part in enumerate(parts[1:], 1):
        crew.parts.put((call, (k, *part), answers))
    try:
        call(0, *parts[0])
    finally:                            # nobody writes any more once this is left
        errors = [answers.get() for _ in parts[1:]]
    for error in errors:
        if error is not None:
            raise error
