"""The axes of arrays as the four loops of a sweep."""
from __future__ import annotations

import math
from collections.abc import Sequence

from ...base.spec import Shape


def loops(shape: Shape, axes: Sequence[int], others: Sequence[Shape] = ()) -> tuple[bool, list[Shape]] | None:
    """Whether to fold rows, and the shapes (a, b, c, d) of the operands; None where the axes do not fit into four loops.

    Parameters
    ----------
    shape : of the first operand
    axes : the folded ones
    others : shapes of the other operands, of the same rank, with 1 where they are repeated
    """
    every = [shape, *others]
    runs: list[tuple[tuple[bool, ...], list[int]]] = []
    for i, n in enumerate(shape):
        if n == 1:
            continue
        kind = (i in axes, *(s[i] != 1 for s in others))
        if runs and runs[-1][0] == kind:
            runs[-1][1].append(i)
        else:
            runs.append((kind, [i]))
    slots: list[list[int]] = [[], [], [], []]
    free = 4
    for kind, members in reversed(runs):
        free -= 1
        if kind[0] != (free % 2 == 1):
            free -= 1
        if free < 0:
            return None
        slots[free] = members
    return bool(slots[3]), [tuple(math.prod(s[i] for i in slot) for slot in slots) for s in every]
