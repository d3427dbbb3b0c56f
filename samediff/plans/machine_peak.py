"""Peak performance of this machine, measured once in a process."""
from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_ROWS, _BYTES, _REPEATS = 512, 32 << 20, 8


@dataclass(frozen=True)
class MachinePeak:
    """Floating point operations and bytes in a second, on all threads and of the main memory."""

    flops: float
    bytes: float


@functools.cache
def limits(dtype: Any = np.float32) -> MachinePeak:
    """By a matrix product of NumPy that fits into the caches, and a copy that does not."""
    return MachinePeak(of_products(dtype, np.matmul), of_copies())


def of_products(dtype: Any, product: Callable[..., object]) -> float:
    """Floating point operations in a second of ``product(a, b, out)``."""
    a = np.ones((_ROWS, _ROWS), dtype)
    out = np.empty_like(a)
    return 2 * _ROWS ** 3 / shortest(lambda: product(a, a, out), _REPEATS)


def of_copies() -> float:
    """Bytes in a second that a copy reads and writes."""
    source = np.ones(_BYTES, np.uint8)
    target = np.empty_like(source)
    return 2 * _BYTES / shortest(lambda: np.copyto(target, source), _REPEATS)


def shortest(call: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest of some calls: other programs can only make it longer."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)
