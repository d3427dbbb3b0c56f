"""Exceptions that come out of nothing, as those of signal handlers do."""
from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class Stop(BaseException):
    """What interrupts."""


@functools.cache
def _is_ours(file: str) -> bool:
    places = "/networks/", "/training/", "/cuda/frame.py", "/cuda/graph.py", "/cuda/emulator.py"
    return "/.dl4py" not in file and "/tests/" not in file and any(p in file for p in places)


def interrupted(call: Callable[[], object], after: int) -> bool:
    """Run ``call``; an exception comes at that line of what trains, counted from 0. Whether it did."""
    left = [after]

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if not _is_ours(frame.f_code.co_filename):
            return None
        if event == "line":
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
