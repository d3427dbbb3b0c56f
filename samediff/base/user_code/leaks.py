"""Memory that the code of users keeps from call to call."""
from __future__ import annotations

import gc
import glob
import inspect
import itertools
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

from ..home import is_ours, written_in
from .check_report import CheckFailure

#: So many calls, and the bytes that each may keep before more are made: tables grow by chance, and Python keeps some freed objects.
_CALLS = (5, 0), (20, 50), (100, 50)
_GENERATED = "<string>"         # dataclasses write methods


def keeps_no_memory(call: Callable[[], Any], owner: Any) -> str:
    """CheckFailure where each call leaves memory behind that lines of the files of ``owner`` asked for."""
    files = _files(owner)
    if not files:
        return "not run: there is no code in Python"
    ours, frozen = tracemalloc.is_tracing(), gc.get_freeze_count()
    if not ours:
        tracemalloc.start()
    if not frozen:
        gc.freeze()         # a collection need not look through all that a large process holds
    try:
        for calls, most in _CALLS:
            growth, line = _growth(call, files, calls)
            if growth <= most:
                return f"{3 * calls} calls"
    finally:
        if not frozen:
            gc.unfreeze()
        if not ours:
            tracemalloc.stop()
    raise CheckFailure(f"each call keeps about {growth:.0f} bytes, asked for in {line}: code that runs again and again adds nothing to "
                       "lists, dicts or caches of its module or class")


def _files(owner: Any) -> set[str]:
    """The files that the code of a function or class names as its own: wherever it was compiled, and whether or not they are there."""
    bases = owner.__mro__ if isinstance(owner, type) else ()
    classes = [c for c in bases if not is_ours(c) and written_in(c).partition(".")[0] not in sys.stdlib_module_names]
    parts = [value for c in classes for value in vars(c).values()] or [owner]
    functions = [inspect.unwrap(f) for part in parts if callable(f := getattr(part, "__func__", part))]
    found = {f.__code__.co_filename for f in functions if inspect.isfunction(f) and not is_ours(f)}
    return found - {_GENERATED} or found


def _growth(call: Callable[[], Any], files: set[str], calls: int) -> tuple[float, str]:
    """The bytes that each call adds to what lines of files hold, in the best of two times so many calls; the line that holds most."""
    held = [_held(call, files, calls) for _ in range(3)]
    return min(b - a for (a, _), (b, _) in itertools.pairwise(held)) / calls, held[-1][1]


def _held(call: Callable[[], Any], files: set[str], calls: int) -> tuple[int, str]:
    """The bytes that lines of files hold after so many calls, and the line that holds most."""
    for _ in range(calls):
        call()
    gc.collect()
    filters = [tracemalloc.Filter(True, glob.escape(file)) for file in files]
    lines = tracemalloc.take_snapshot().filter_traces(filters).statistics("lineno")
    most = lines[0].traceback[0] if lines else None
    return sum(line.size for line in lines), f"line {most.lineno} of {most.filename}" if most else ""
