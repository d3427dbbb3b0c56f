"""Memory that the code of users keeps from call to call."""
from __future__ import annotations

import gc
import inspect
import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

from .check_report import CheckFailure

_CALLS, _BYTES = 20, 50


def keeps_no_memory(call: Callable[[], Any], owner: Any) -> str:
    """CheckFailure where each call leaves memory behind that lines of the file of ``owner`` asked for."""
    try:
        file = inspect.getfile(owner)
    except (TypeError, OSError):
        return "not run: the code has no file"
    ours, frozen = tracemalloc.is_tracing(), gc.get_freeze_count()
    if not ours:
        tracemalloc.start()
    if not frozen:
        gc.freeze()         # a collection need not look through all that a large process holds
    try:
        held = [_held(call, file) for _ in range(3)]
    finally:
        if not frozen:
            gc.unfreeze()
        if not ours:
            tracemalloc.stop()
    growth = min(b - a for (a, _), (b, _) in itertools.pairwise(held))
    if growth > _CALLS * _BYTES:
        raise CheckFailure(f"each call keeps about {growth // _CALLS} bytes, asked for in line {held[-1][1]} of {file}: code that runs "
                           "again and again adds nothing to lists, dicts or caches of its module or class")
    return f"{3 * _CALLS} calls"


def _held(call: Callable[[], Any], file: str) -> tuple[int, int]:
    """The bytes that lines of a file hold after some calls, and the line that holds most."""
    for _ in range(_CALLS):
        call()
    gc.collect()
    lines = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, file)]).statistics("lineno")
    return sum(line.size for line in lines), lines[0].traceback[0].lineno if lines else 0
