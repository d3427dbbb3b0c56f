"""Keys that tell values apart which Python calls equal."""
from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np


class Exact:
    """A value as a key: ``1``, ``1.0`` and ``True`` are three, and so are ``0.0`` and ``-0.0``; NaN is itself.

    Examples
    --------
    >>> Exact(1) == Exact(1.0), Exact(float("nan")) == Exact(float("nan")), Exact((1, 2)) == Exact((1, 2))
    (False, True, True)
    """

    __slots__ = ("key", "value")

    def __init__(self, value: Any) -> None:
        self.value, self.key = value, exact(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exact) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return repr(self.value)


def exact(value: Any) -> Hashable:
    """What two values share only where they are of one type and the same; TypeError for what cannot be a key."""
    kind = type(value)
    if kind in (tuple, list):
        return kind, tuple(map(exact, value))
    if kind is dict:
        return kind, tuple((exact(k), exact(v)) for k, v in value.items())
    if kind in (set, frozenset):
        return kind, frozenset(map(exact, value))
    if kind is slice:
        return kind, exact((value.start, value.stop, value.step))
    if isinstance(value, (float, np.floating)):
        return kind, float(value).hex(), math.copysign(1.0, value)
    if isinstance(value, np.ndarray):
        return kind, value.dtype, value.shape, value.tobytes()
    hash(value)
    return kind, value
