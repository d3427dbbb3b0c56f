"""Native calls in words, and their steps by themselves, to be timed."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..plans.frame import Frame
from .native.program import Program, in_parts, is_helped, thresholds
from .threads import parts

#: Nanoseconds of work that are timed at once, so that the call itself does not count, and repetitions of an instruction at most.
_WORTH_TIMING, _MOST = 2e4, 64


def call_text(frame: Frame, steps: Sequence[int]) -> str:
    """One line that describes a native call: number of instructions and threads."""
    made = [i for k in steps for i in frame.natives[k]]
    shared = sum(map(in_parts, made))
    text = f"native call of {len(made)} instruction{'s' * (len(made) > 1)}"
    if not shared or not is_helped(made):
        return f"{text}, by one thread:"
    return f"{text}, {shared} of them in {parts()} parts on as many threads:"


def shared_steps(frame: Frame) -> set[int]:
    """Native steps whose work other threads share."""
    helped = [i for steps in frame.runs.values() if is_helped([made for k in steps for made in frame.natives[k]]) for i in steps]
    return {i for i in helped if any(map(in_parts, frame.natives[i]))}


def repeated_step(frame: Frame, step: int, is_shared: bool) -> tuple[Callable[[], Any], int]:
    """The instructions of a step several times in one call, and how often, with the help of other threads just where the plan has it."""
    instructions = frame.natives[step]
    work = max(sum(i.work for i in instructions), 1.0)
    count = min(_MOST, math.ceil(_WORTH_TIMING / work))
    if any(map(in_parts, instructions)):
        enough = math.ceil(thresholds().help / work)
        count = max(count, enough) if is_shared else min(count, enough - 1)
    count = max(count, 1)
    return Program([i for _ in range(count) for i in instructions]), count
