"""Axes that NumPy's functions do not take."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

#: Reductions over an axis or a tuple of axes, but no list of them; with ``nan`` in front too.
_OF_TUPLES = frozenset(("sum", "prod", "max", "min", "amax", "amin", "any", "all", "mean", "std", "var", "argmax", "argmin", "ptp",
                        "count_nonzero"))


def check_axes(name: str, axis: Any) -> None:
    """TypeError for an axis of a function that is no whole number, nor several of them where it takes such."""
    if isinstance(axis, list) and name.removeprefix("nan") in _OF_TUPLES:
        raise TypeError("the axis is an integer or a tuple of them")
    for a in axis if isinstance(axis, (tuple, list)) else [] if axis is None else [axis]:
        if isinstance(a, (bool, np.bool_)):
            raise TypeError("an integer is required for the axis")
        operator.index(a)
