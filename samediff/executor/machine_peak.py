"""Peak performance of this machine, measured once in a process."""
from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..cpu.blas.blas_threads import one_thread, thread_count

_ROWS, _BYTES, _REPEATS = 512, 32 << 20, 8


@dataclass(frozen=True)
class MachinePeak:
    """Floating point operations and bytes in a second, on all threads and of the main memory."""

    flops: float
    bytes: float


@functools.cache
def limits(dtype: Any = np.float32) -> MachinePeak:
    """By a matrix product that fits into the caches, and a copy that does not.

    Threads of a product wait for each other where other programs run; one thread does not, so it is asked too and multiplied.
    """
    a = np.ones((_ROWS, _ROWS), dtype)
    out = np.empty_like(a)
    source = np.ones(_BYTES, np.uint8)
    target = np.empty_like(source)
    alone = one_thread(np.matmul)
    product = min(shortest(lambda: np.matmul(a, a, out=out), _REPEATS), shortest(lambda: alone(a, a, out), _REPEATS) / thread_count())
    copy = shortest(lambda: np.copyto(target, source), _REPEATS)
    return MachinePeak(2 * _ROWS ** 3 / product, 2 * _BYTES / copy)


def shortest(call: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest of some calls: other programs can only make it longer."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)
