"""Processors, and on how many of them NumPy's matrix products work: on one where a product is too small to share.

A BLAS library shares products from about 64 cubed on; its threads spin while they wait for each other, which costs small products
more than it gains, and a hundred times more when other processes want the processors. threadpoolctl finds OpenBLAS, MKL and BLIS,
wherever they come from; products of others, such as Accelerate, are left alone.
"""
from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np  # noqa: F401  loads its library, which is looked for then

from ...base.locks import in_child

#: Multiplications from which a single product is worth two threads.
WORTH_SHARING = 2 << 20

#: Multiplications below which the library uses one thread anyway.
SHARED = 1 << 16

_OPENBLAS = [(f"{p}openblas_get_num_threads{s}", f"{p}openblas_set_num_threads{s}") for p in ("scipy_", "") for s in ("64_", "", "_64")]
#: Functions that get and set the number of threads of a library of each kind, by the names that it may have for them. They are called as
#: they are: threadpoolctl lets one thread at a time change numbers, and takes a hundred times as long.
_NAMES = {"openblas": _OPENBLAS, "mkl": [("MKL_Get_Max_Threads", "MKL_Set_Num_Threads")],
          "blis": [("bli_thread_get_num_threads", "bli_thread_set_num_threads")],
          "openmp": [("omp_get_max_threads", "omp_set_num_threads")]}

_reduced: list[int] = []        # thread counts to be restored by the calls in progress


def is_small(rows: int, columns: int, depth: int) -> bool:
    """Whether a product of that size should run on one thread although BLAS would share it."""
    return SHARED <= rows * columns * depth < WORTH_SHARING


@functools.cache
def _controllers(owner: str = "numpy") -> tuple[Any, ...]:
    """The BLAS libraries in this process by threadpoolctl, that of a package first; looked up once, after the package was loaded."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return ()
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return tuple(sorted(found, key=lambda c: owner not in c.filepath))


def libraries() -> tuple[Any, ...]:
    """The BLAS libraries in this process."""
    return tuple(c.dynlib for c in _controllers())


@functools.cache
def functions(owner: str = "numpy") -> tuple[Any, Any] | None:
    """The functions that get and set the number of threads, None where NumPy (or SciPy) uses a library that nobody knows."""
    for c in _controllers(owner):
        kind = "openmp" if getattr(c, "threading_layer", "") == "openmp" and c.internal_api == "openblas" else c.internal_api
        for get, put in _NAMES.get(kind, ()):
            if hasattr(c.dynlib, put):
                in_child(_restore_thread_count)
                return getattr(c.dynlib, get), getattr(c.dynlib, put)
    return None


def _restore_thread_count() -> None:
    """In a forked process, restore the thread count that calls of other threads had reduced: they never return here."""
    found = functions()
    if _reduced and found is not None:
        found[1](_reduced[0])
        _reduced.clear()


@functools.cache
def thread_count() -> int:
    """Among how many threads work is divided, read once: as many as this process has processors, or fewer where the BLAS library was told
    to use fewer."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found = functions()
    return here if found is None else max(1, min(here, int(found[0]())))


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
        _reduced.append(before)
        put(1)
        try:
            call(*arrays)
        finally:
            put(before)
            if _reduced:            # nothing is, where this thread has forked
                _reduced.pop()

    return alone
