"""Independent parts of one kernel call on several threads.

Parts never wait for each other, so a busy machine makes them late but not slow, unlike the threads of a BLAS library.
"""
from __future__ import annotations

import functools
import os
import queue
import threading
from collections.abc import Callable

from ..base.locks import rlock
from .matrix.blas_threads import thread_count

#: Rows of a batch that a part should have at least, and multiplications from which there is more than one.
ROWS, WORTH_PARTS = 5, 1 << 20

_MOST = 4
_starting = rlock()

Call = Callable[[int, int, int], object]


class _Crew:
    """Threads that wait for parts: as many as could be started."""

    def __init__(self) -> None:
        self.parts: queue.SimpleQueue[tuple[Call, tuple[int, int, int], queue.SimpleQueue[BaseException | None]]] = queue.SimpleQueue()
        self.size = 0
        for k in range(1, _MOST):
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
def _crew(process: int) -> _Crew:
    return _Crew()


def parts_of(rows: int, multiplications: int) -> list[tuple[int, int]]:
    """Ranges of rows to work on side by side, at most as many as the BLAS library uses threads."""
    count = max(1, min(thread_count(), rows // ROWS, _MOST)) if multiplications >= WORTH_PARTS else 1
    return [(rows * k // count, rows * (k + 1) // count) for k in range(count)]


def run_parts(call: Call, parts: list[tuple[int, int]]) -> None:
    """``call(part, low, high)`` for all parts; the first runs here. ``call`` must let go of the Python lock to gain anything."""
    with _starting:
        crew = _crew(os.getpid())
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
