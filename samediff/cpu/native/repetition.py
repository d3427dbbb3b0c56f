"""Repetition of instructions as a single one: the arrays that they read and write move on from turn to turn."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .instruction import Instruction
from .interpreter import REPEAT
from .program import Program
from .thresholds import NEVER


@dataclass(frozen=True, eq=False)
class Moving:
    """Position of a local of the instructions in an array: ``start`` bytes from its beginning, and ``step`` further on each turn.

    ``last`` is the array that takes its place in the last turn, if one does.
    """

    array: Any
    start: int
    step: int
    last: Any = None


@dataclass
class Repetition(Instruction):
    """An :class:`.Instruction` that keeps the instructions that it repeats."""

    body: Program | None = None


def repetition(body: Sequence[Instruction], stand_ins: Mapping[Any, Any], moving: Mapping[Any, Moving], turns: int) -> Repetition:
    """The instruction that runs others so many times.

    Parameters
    ----------
    body : what is repeated, by one thread
    stand_ins : arrays laid out like the locals of it, as for :class:`.Program`
    moving : where these are in each turn
    turns : how many times
    """
    program = Program(body, stand_ins, NEVER)
    operands: list[Any] = [np.empty(0, np.int64)]           # the description, which tells the entry all that follows
    words = [2]                                             # words of the table before each operand; 2 for the description itself
    places: dict[int, int] = {}

    def place(array: Any) -> int:
        if array is None:
            return -1
        if id(array) not in places:
            places[id(array)] = 8 * words[-1]
            operands.append(array)
            words.append(words[-1] + 1 + array.ndim)
        return places[id(array)]

    about = [program.address, turns, len(program.locals)]
    for k, name in enumerate(program.locals):
        m = moving[name]
        about += [k, place(m.array), m.start, m.step, place(m.last)]
    operands[0] = np.array(about, np.int64)
    return Repetition(REPEAT, operands, [True] * len(operands), work=turns * sum(i.work for i in body),
                      products=any(i.products for i in body), body=program)
