"""Functions of the system and of the BLAS library that compiled code calls.

They have to be known before machine code that names them is loaded: what calls them imports this module.
"""
from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as llvm

from ..blas.blas import owner
from ..blas.blas_threads import functions

#: Takes the place of a function that is missing; what needs that one is never used then.
_STAND_IN = ctypes.pythonapi.PyThread_get_thread_ident


def _tell(name: str, function: Any) -> None:
    llvm.add_symbol(f"dl4py_{name}", ctypes.cast(function, ctypes.c_void_p).value)


def _bound_waiting() -> bool:
    """Make the functions known; False where one is missing."""
    try:
        library: Any = ctypes.CDLL(None)
    except (OSError, TypeError):
        library = None
    names = {"yield": "sched_yield", "sem_post": "sem_post", "sem_wait": "sem_wait"}
    found = all(hasattr(library, name) for name in (*names.values(), "sem_init"))
    for ours, name in names.items():
        _tell(ours, getattr(library, name) if found else _STAND_IN)
    return found


def _bound_blas() -> bool:
    found = functions(owner())
    for ours, function in zip(("blas_thread_count", "blas_threads"), found or (_STAND_IN, _STAND_IN)):
        _tell(ours, function)
    return found is not None


#: Whether threads can help, and whether the number of BLAS threads can be set.
CAN_HELP, CAN_SET_BLAS = _bound_waiting(), _bound_blas()
