"""Independent parts of one kernel call on several threads.

Parts never wait for each other, so a busy machine makes them late but not slow, unlike the threads of a BLAS library.
"""
from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from .blas_threads import thread_count

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

#: Rows of a batch that a part should have at least, and multiplications from which there is more than one.
ROWS, WORTH_PARTS = 5, 1 << 20

_MOST = 4


@functools.cache
def _pool(process: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # brings logging with it
    return ThreadPoolExecutor(_MOST - 1, f"dl4py-{process}")


def parts_of(rows: int, multiplications: int) -> list[tuple[int, int]]:
    """Ranges of rows to work on side by side, at most as many as the BLAS library uses threads."""
    count = max(1, min(thread_count(), rows // ROWS, _MOST)) if multiplications >= WORTH_PARTS else 1
    return [(rows * k // count, rows * (k + 1) // count) for k in range(count)]


def run_parts(call: Callable[[int, int, int], object], parts: list[tuple[int, int]]) -> None:
    """``call(part, low, high)`` for all parts; the first runs here. ``call`` must let go of the Python lock to gain anything."""
    others = [_pool(os.getpid()).submit(call, k, *part) for k, part in enumerate(parts) if k]
    call(0, *parts[0])
    for other in others:
        other.result()
