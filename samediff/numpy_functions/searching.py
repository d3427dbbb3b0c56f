"""NumPy's functions that look values up in others, as nodes."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.spec import normalize_axis
from ..errors import DataTypeError, ShapeError
from ..families.array_code.graph_array import GraphArray
from ..families.array_code.symbolic_size import NotInGraphError
from .ordering import argsort, sort


def searchsorted(xp: Any, a: Any, v: Any, side: str = "left") -> Any:
    """Positions at which values belong among sorted ones, by bisection in as many steps as their number has bits."""
    a, v = xp.alike([xp.array_of(a), xp.array_of(v)])
    if a.ndim != 1:
        raise ShapeError(f"np.searchsorted takes sorted values of rank 1; got shape {a.variable.spec.shape}")
    n = a.shape[0]
    if not isinstance(n, int):
        raise NotInGraphError("np.searchsorted in an open number of values has no graph node")
    place = xp.astype(xp.zeros_like(v), np.int64)
    for step in (1 << k for k in reversed(range(n.bit_length()))):
        candidate = place + step
        before = xp.take(a, xp.minimum(candidate, n) - 1, axis=0)
        smaller = before < v if side == "left" else before <= v
        if v.dtype.kind == "f":                 # NaN is the largest
            smaller = smaller | (xp.isnan(v) & ~xp.isnan(before)) | ((side == "right") & xp.isnan(v))
        place = xp.where(smaller & (candidate <= n), candidate, place)
    return place


def digitize(xp: Any, x: Any, bins: Any, right: bool = False) -> Any:
    """The cell of each value, between limits that rise or fall."""
    bins = xp.array_of(bins)
    rising = searchsorted(xp, bins, x, "left" if right else "right")
    falling = bins.shape[0] - searchsorted(xp, bins[::-1], x, "left" if right else "right")
    return xp.where(bins[-1] >= bins[0], rising, falling)


def interp(xp: Any, x: Any, points: Any, values: Any, left: Any = None, right: Any = None) -> Any:
    """Straight lines between points."""
    x, points, values = (xp.astype(xp.array_of(a), np.float64) for a in (x, points, values))
    n = points.shape[0]
    if n == 1:
        raise NotInGraphError("np.interp with a single point has no graph node")
    after = xp.clip(searchsorted(xp, points, x, "right"), 1, n - 1)
    x0, x1, y0, y1 = (xp.take(a, i, axis=0) for a in (points, values) for i in (after - 1, after))
    found = xp.where(x == x1, y1, (y1 - y0) / (x1 - x0) * (x - x0) + y0)
    found = xp.where(x < points[0], values[0] if left is None else float(left), found)
    return xp.where(x > points[-1], values[-1] if right is None else float(right), found)


def isin(xp: Any, x: Any, among: Any, assume_unique: bool = False, invert: bool = False, kind: Any = None) -> Any:
    """Whether values occur among others."""
    x, among = xp.alike([xp.array_of(x), xp.ravel(xp.array_of(among))])
    if among.shape[0] == 0:
        return xp.full_like(x, bool(invert), dtype=np.bool_)
    ordered = sort(xp, among)
    place = xp.minimum(searchsorted(xp, ordered, x), ordered.shape[0] - 1)
    found = xp.take(ordered, place, axis=0) == x
    return ~found if invert else found


def take_along_axis(xp: Any, x: Any, indices: Any, axis: int | None = -1) -> Any:
    """Elements at positions along an axis, which each row has its own of."""
    x, indices = xp.array_of(x), xp.array_of(indices)
    if axis is None:
        return xp.take(x, indices)
    axis = normalize_axis(axis, x.ndim)
    if not isinstance(x.size, int):
        raise NotInGraphError("np.take_along_axis of an array with open sizes has no graph node")
    n, before, after = x.shape[axis], math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1:])
    starts = np.arange(before)[:, None] * (n * after) + np.arange(after)
    places = xp.where(indices < 0, indices + n, indices)
    return xp.take(xp.ravel(x), places * after + starts.reshape(*x.shape[:axis], 1, *x.shape[axis + 1:]), axis=0)


def lexsort(xp: Any, keys: Any, axis: int = -1) -> Any:
    """The order by several keys, of which the last counts most."""
    order = None
    if not np.ndim(keys[0]):
        return xp.zeros_like(xp.array_of(keys[0]), dtype=np.int64)
    for i in range(len(keys)):
        key = xp.array_of(keys[i])
        if order is None:
            order = argsort(xp, key, axis)
        else:
            order = take_along_axis(xp, order, argsort(xp, take_along_axis(xp, key, order, axis), axis), axis)
    return order


def partition(xp: Any, x: Any, kth: Any, axis: int | None = -1, kind: Any = None) -> Any:
    """Sorted wholly, which is one of the orders that NumPy may give."""
    return sort(xp, x, axis)


def argpartition(xp: Any, x: Any, kth: Any, axis: int | None = -1, kind: Any = None) -> Any:
    """Positions that sort an array, which partition it as well."""
    return argsort(xp, x, axis)


# Choices

def select(xp: Any, conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Any:
    """The first choice whose condition holds."""
    *choices, found = xp.alike([*choices, default])
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        found = xp.where(condition, choice, found)
    return found


def compress(xp: Any, condition: Any, x: Any, axis: int | None = None) -> Any:
    """The slices for which a condition holds that is known."""
    if isinstance(condition, GraphArray):
        raise xp.missing("compress")
    return xp.take(x, np.flatnonzero(condition), axis=axis)


def choose(xp: Any, number: Any, choices: Sequence[Any], mode: str = "raise") -> Any:
    """The choice of each number."""
    number = xp.array_of(number)
    if np.dtype(number.dtype).kind not in "iub":
        raise DataTypeError(f"choose takes whole numbers, which of the choices; got {number.dtype}")
    last = len(choices) - 1
    number = xp.clip(number, 0, last) if mode == "clip" else number % (last + 1) if mode == "wrap" else number
    return select(xp, [number == i for i in range(last)], [xp.array_of(choices[i]) for i in range(last)], xp.array_of(choices[last]))


def piecewise(xp: Any, x: Any, conditions: Any, functions: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
    """The function, or number, of the last condition that holds."""
    def of(function: Any) -> Any:
        return xp.astype(xp.array_of(xp.recorded(function, x, *args, **kwargs) if callable(function) else function), x.dtype)
    found = of(functions[len(conditions)]) if len(functions) > len(conditions) else xp.zeros_like(x)
    for i in range(len(conditions)):
        found = xp.where(conditions[i], of(functions[i]), found)
    return found


#: Functions of this module by the names that they have in NumPy.
SEARCHES: dict[str, Callable[..., Any]] = {
    "searchsorted": searchsorted, "digitize": digitize, "interp": interp, "isin": isin, "take_along_axis": take_along_axis,
    "lexsort": lexsort, "partition": partition, "argpartition": argpartition, "select": select, "choose": choose, "compress": compress,
    "extract": lambda xp, condition, x: compress(xp, condition, xp.ravel(xp.array_of(x))),
    "piecewise": piecewise}
