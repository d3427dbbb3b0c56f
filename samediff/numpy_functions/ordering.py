"""NumPy's functions that put elements in order, as nodes: all of them are the op ``top_k`` of as many elements as there are."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.spec import normalize_axes, normalize_axis
from ..families.array_code.graph_array import GraphArray
from ..families.array_code.symbolic_size import NotInGraphError
from .rearranging import rearranged


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes as NumPy names them: one, several, or None for all."""
    return tuple(range(rank)) if axis is None else normalize_axes(axis if isinstance(axis, (tuple, list)) else (axis,), rank)


def sort(xp: Any, x: Any, axis: int | None = -1, kind: Any = None, stable: Any = None) -> Any:
    """The elements along an axis from the smallest to the largest, NaN last."""
    return _ascending(xp, x, axis)[0]


def argsort(xp: Any, x: Any, axis: int | None = -1, kind: Any = None, stable: Any = None) -> Any:
    """Positions of the elements of :func:`sort`; equal ones in their order, which NumPy promises for ``kind="stable"`` alone."""
    return _ascending(xp, x, axis)[1]


def median(xp: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The middle element, or the mean of the two in the middle; NaN where there is one."""
    x = xp.floating(x)
    axes = axes_of(axis, x.ndim)
    kept = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    if 0 in kept:                               # nothing is asked for
        return xp.sum(x, axis=axes, keepdims=keepdims)
    last = xp.transpose(x, (*(i for i in range(x.ndim) if i not in axes), *axes)) if x.ndim else x
    ordered = sort(xp, xp.reshape(last, (*kept, -1)))
    n = ordered.shape[-1]
    if n == 0:
        raise NotInGraphError("the median of no elements has no graph node")
    middle = xp.mean(ordered[..., (n - 1) // 2:n // 2 + 1], axis=-1)
    found = xp.where(xp.isnan(ordered[..., -1]), x.dtype.type(np.nan), middle)
    return xp.expand_dims(found, tuple(sorted(axes))) if keepdims and axes else found


def _ascending(xp: Any, x: GraphArray, axis: int | None) -> tuple[Any, Any]:
    """Elements in order, and where they stood: the largest of the reversed elements, reversed, so that equal ones keep their order."""
    x = xp.ravel(x) if axis is None or not x.ndim else x
    axis = normalize_axis(-1 if axis is None else axis, x.ndim)
    n = x.shape[axis]
    if not isinstance(n, int):
        raise NotInGraphError("the order of an open number of elements has no graph node")
    if n == 0:
        return xp.call(np.copy, (x,), {}), xp.zeros_like(x, dtype=np.int64)
    last = (*(i for i in range(x.ndim) if i != axis), axis)
    back = tuple(int(i) for i in np.argsort(last))
    values, places = xp.node("top_k", [_reversed(xp, xp.transpose(x, last))], k=float(n), sorted=True)
    return (xp.transpose(_reversed(xp, values), back),
            xp.transpose(xp.astype(n - 1 - _reversed(xp, places), np.int64), back))


def _reversed(xp: Any, x: GraphArray) -> Any:
    return rearranged(xp, np.flip, (x, -1), {})


#: Functions of this module by the names that they have in NumPy.
ORDERS: dict[str, Callable[..., Any]] = {"sort": sort, "argsort": argsort, "median": median}
