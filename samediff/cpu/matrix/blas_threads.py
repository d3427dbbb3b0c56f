"""How many threads NumPy's matrix products use: one where a product is too small to share.

OpenBLAS shares products from about 64 cubed on; its threads spin while they wait for each other, which costs small products
more than it gains, and a hundred times more when other processes want the processors.
"""
from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

#: Multiplications from which a single product is worth two threads.
WORTH_SHARING = 2 << 20

#: Multiplications below which the library uses one thread anyway.
SHARED = 1 << 16

_PATTERNS = ("numpy.libs/*openblas*.so*", "numpy.libs/*openblas*.dll", "numpy/.dylibs/*openblas*.dylib")
_NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads64_", "openblas_{}_num_threads")


def is_small(rows: int, columns: int, depth: int) -> bool:
    """Whether a product of that size would be shared and should not be."""
    return SHARED <= rows * columns * depth < WORTH_SHARING


@functools.cache
def libraries() -> tuple[Any, ...]:
    """The BLAS libraries that come with NumPy."""
    folder, found = Path(np.__file__).resolve().parent.parent, []
    for file in (f for pattern in _PATTERNS for f in sorted(folder.glob(pattern))):
        try:
            found.append(ctypes.CDLL(str(file)))
        except OSError:
            continue
    return tuple(found)


@functools.cache
def functions() -> tuple[Any, Any] | None:
    """The functions that get and set the number of threads, None where NumPy uses another library."""
    for library in libraries():
        for name in _NAMES:
            if hasattr(library, name.format("set")):
                return library[name.format("get")], library[name.format("set")]
    return None


@functools.cache
def thread_count() -> int:
    """How many threads the library uses unless told otherwise, read once; 1 where that is not known."""
    found = functions()
    return 1 if found is None else int(found[0]())


def one_thread(call: Callable[..., Any]) -> Callable[..., Any]:
    """``call`` with its matrix products on one thread; the number is that of the process and is put back afterwards."""
    found = functions()
    if found is None:
        return call
    get, put = found

    def alone(*arrays: Any) -> None:
        before = get()
        if before == 1:
            call(*arrays)
            return
        put(1)
        try:
            call(*arrays)
        finally:
            put(before)

    return alone
