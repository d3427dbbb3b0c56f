"""Exceptions that come out of nothing, as those of signal handlers do."""
from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any


class Stop(BaseException):
    """What interrupts."""


@functools.cache
def _is_ours(file: str) -> bool:
    places = "/networks/", "/training/", "/cuda/frame.py", "/cuda/captured_graph.py", "/drivers/emulator.py"
    return "/.dl4py" not in file and "/tests/" not in file and any(p in file for p in places)


@functools.cache
def _exits(code: CodeType) -> set[int]:
    """Where ``with`` calls ``__exit__(None, None, None)``: signals are not handled in front of that, and nothing would undo the entry."""
    found = list(dis.get_instructions(code))
    return {three[0].offset for three in zip(found, found[1:], found[2:])
            if all(i.opname == "LOAD_CONST" and i.argval is None for i in three)}


def interrupted(call: Callable[[], object], after: int) -> bool:
    """Run ``call``; an exception comes at that line of what trains, counted from 0. Whether it did."""
    left = [after]

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if not _is_ours(frame.f_code.co_filename):
            return None
        if event == "line" and frame.f_lasti not in _exits(frame.f_code):
            if not left[0]:
                left[0] = -1
                raise Stop
            left[0] -= 1
        return trace
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except Stop:
        return True
    finally:
        sys.settrace(before)
    return False
