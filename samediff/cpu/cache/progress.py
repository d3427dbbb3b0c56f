"""Surroundings of the compilation of a kernel: the garbage collector waits, and one line on stderr says why it takes long.

A terminal gets the line, once in a process. ``DL4PY_PROGRESS`` set to 0 keeps it away, set to 1 writes it elsewhere, too. A compiler makes
many objects that live until it is done; looking through all of them again and again is a tenth of the time of a first step.
"""
from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
from collections.abc import Iterator

from ...base.locks import in_child, rlock
from .store import opened

#: Seconds of compiling that pass in silence.
PATIENCE = 1.0

_lock = rlock()
_spent = 0.0
_left = iter([True])
_under_way: list[bool] = []         # for each compilation whether the garbage collector was on before


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Context manager around the compilation of one kernel."""
    global _spent
    with _lock:
        if _spent > PATIENCE and _wanted() and next(_left, False):
            _say()
        _under_way.append(gc.isenabled() or any(_under_way))
        gc.disable()
    began = time.perf_counter()
    try:
        yield
    finally:
        with _lock:
            _spent += time.perf_counter() - began
            if _under_way and _under_way.pop() and not _under_way:      # there is none in a child of this thread
                gc.enable()


def _given_up() -> None:
    """In a forked process, forget the compilations of other threads: they never end here."""
    if any(_under_way):
        gc.enable()
    _under_way.clear()


in_child(_given_up)


def _wanted() -> bool:
    given = os.environ.get("DL4PY_PROGRESS", "")
    return given == "1" if given in ("0", "1") else sys.stderr is not None and sys.stderr.isatty()


def _say() -> None:
    folder = opened()
    often = "in each process, as there is no folder to keep them in" if folder is None else f"once, and keeps them in {folder.path}"
    with contextlib.suppress(OSError, ValueError, AttributeError):       # a stream that is gone
        print(f"dl4py compiles kernels for this machine {often} (DL4PY_PROGRESS=0: no such line)", file=sys.stderr, flush=True)
