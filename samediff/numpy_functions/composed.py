"""NumPy's functions that are made of others: elementwise ones, grids, comparisons of whole arrays."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.spec import normalize_axis
from ..families.array_code.symbolic_size import NotInGraphError, may_be_equal

#: Functions that give as many elements as the values say, which no graph can know before it runs.
SHAPES_OF_VALUES = frozenset((
    "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "nonzero", "argwhere", "flatnonzero", "extract", "compress",
    "bincount", "trim_zeros", "intersect1d", "union1d", "setdiff1d", "setxor1d"))


# Elementwise

def clip(xp: Any, x: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    """Elements between limits."""
    low, high = (min if a_min is None else a_min), (max if a_max is None else a_max)
    return xp.positive(x) if low is None and high is None else xp.elementwise("clip", x, low, high)


def divmod_(xp: Any, x: Any, y: Any) -> Any:
    """Quotient rounded down, and remainder."""
    return xp.floor_divide(x, y), xp.remainder(x, y)


def modf(xp: Any, x: Any) -> Any:
    """The fractional and the integral part."""
    x = xp.floating(x)
    whole = xp.trunc(x)
    return xp.where(xp.isinf(x), xp.copysign(xp.zeros_like(x), x), xp.copysign(x - whole, x)), whole


def sinc(xp: Any, x: Any) -> Any:
    """sin(pi x) / (pi x)."""
    x = xp.floating(x)
    y = xp.where(x == 0, x.dtype.type(1e-20), x) * np.pi
    return xp.sin(y) / y


def angle(xp: Any, x: Any, deg: bool = False) -> Any:
    """The angle of real numbers: 0, or half a turn below 0."""
    found = xp.call(np.arctan2, (0, xp.array_of(x)), {})
    return found * (180 / np.pi) if deg else found


def isclose(xp: Any, x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether elements are equal but for tolerances."""
    x, y = xp.array_of(x), xp.floating(xp.array_of(y))
    x = xp.floating(x) if x.dtype.kind == "b" else x
    near = xp.where(xp.isfinite(y), abs(x - y) <= atol + rtol * abs(y), x == y)
    return near | (xp.isnan(x) & xp.isnan(y)) if equal_nan else near


def allclose(xp: Any, x: Any, y: Any, **options: Any) -> Any:
    """Whether all of them are."""
    return xp.all(isclose(xp, x, y, **options))


def array_equal(xp: Any, x: Any, y: Any, equal_nan: bool = False) -> Any:
    """Whether two arrays have one shape and the same elements."""
    x, y = _in_one_type(xp, x, y)
    return xp.node("array_equal", [x, y], equal_nan=equal_nan) if may_be_equal(x.shape, y.shape) else np.False_


def array_equiv(xp: Any, x: Any, y: Any) -> Any:
    """The same of arrays that are stretched to one shape."""
    return xp.node("array_equal", _in_one_type(xp, x, y), stretched=True)


def _in_one_type(xp: Any, x: Any, y: Any) -> list[Any]:
    x, y = xp.array_of(x), xp.array_of(y)
    return [xp.astype(a, np.result_type(x.dtype, y.dtype)) for a in (x, y)]


# Shapes

def broadcast_arrays(xp: Any, *arrays: Any) -> Any:
    """All arrays in one shape."""
    arrays = tuple(map(xp.array_of, arrays))
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    return tuple(xp.broadcast_to(a, shape) for a in arrays)


def meshgrid(xp: Any, *arrays: Any, indexing: str = "xy", sparse: bool = False, copy: bool = True) -> Any:
    """Coordinates of a grid."""
    rank = len(arrays)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[:2] = 1, 0
    lines = [xp.reshape(xp.array_of(a), tuple(-1 if i == order[k] else 1 for i in range(rank))) for k, a in enumerate(arrays)]
    return tuple(lines) if sparse else broadcast_arrays(xp, *lines)


def unstack(xp: Any, x: Any, axis: int = 0) -> Any:
    """The slices along an axis."""
    x = xp.array_of(x)
    before = (slice(None),) * normalize_axis(axis, x.ndim)
    return tuple(x[(*before, i)] for i in range(x.shape[axis]))


def atleast(rank: int) -> Callable[..., Any]:
    """The function for so many axes at least."""
    def one(xp: Any, x: Any) -> Any:
        x = xp.array_of(x)
        if rank == 3:
            return x if x.ndim > 2 else xp.expand_dims(x, 2) if x.ndim == 2 else xp.reshape(x, (1, -1, 1))
        return x if x.ndim >= rank else xp.expand_dims(x, 0) if x.ndim == rank - 1 else xp.reshape(x, (1,) * rank)

    def function(xp: Any, *arrays: Any) -> Any:
        return one(xp, *arrays) if len(arrays) == 1 else tuple(one(xp, a) for a in arrays)
    return function


def size(xp: Any, x: Any, axis: int | None = None) -> Any:
    """Number of elements, or size of an axis."""
    return x.size if axis is None else x.shape[axis]


def linspace(xp: Any, start: Any, stop: Any, num: int = 50, endpoint: bool = True, axis: int = 0) -> Any:
    """Numbers of equal distance from one to another."""
    start, stop = xp.alike([v if isinstance(v, (int, float)) else xp.floating(v) for v in (start, stop)])
    start, stop = xp.floating(start), xp.floating(stop)
    rank = max(start.ndim, stop.ndim)
    steps = max(num - 1 if endpoint else num, 1)
    made = np.arange(num, dtype=np.result_type(start.dtype, stop.dtype)).reshape((num,) + (1,) * rank) * ((stop - start) / steps) + start
    if endpoint and num > 1:
        made = xp.concatenate([made[:-1], xp.broadcast_to(xp.expand_dims(stop, 0), (1, *made.shape[1:]))])
    return xp.moveaxis(made, 0, axis) if axis else made


def apply_over_axes(xp: Any, function: Callable[..., Any], x: Any, axes: Any) -> Any:
    """A function that is applied along one axis after the other, which stay with size 1."""
    x = xp.array_of(x)
    for axis in np.atleast_1d(axes).tolist():
        made = xp.recorded(lambda a, axis=axis: function(a, axis), x)
        x = made if made.ndim == x.ndim else xp.expand_dims(made, axis)
    return x


def _like(name: str) -> Callable[..., Any]:
    def function(xp: Any, x: Any, dtype: Any = None, shape: Any = None) -> Any:
        if shape is not None:
            return xp.array_of(getattr(np, name)(shape, xp.array_of(x).dtype if dtype is None else dtype))
        return xp.elementwise(f"{name}_like", xp.array_of(x) if dtype is None else xp.astype(xp.array_of(x), dtype))
    return function


def full_like(xp: Any, x: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """An array of the shape of another one, or a given one, that holds one value."""
    zeros = _like("zeros")(xp, x, dtype, shape)
    return xp.astype(zeros + fill_value, zeros.dtype)


def apply_along_axis(xp: Any, function: Callable[..., Any], axis: int, x: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of vectors for each one along an axis."""
    x = xp.array_of(x)
    axis = normalize_axis(axis, x.ndim)
    last = xp.moveaxis(x, axis, -1)
    rows = xp.reshape(last, (-1, last.shape[-1]))
    found = xp.stack([xp.array_of(xp.recorded(function, rows[i], *args, **kwargs)) for i in range(rows.shape[0])])
    made = xp.reshape(found, (*last.shape[:-1], *found.shape[1:]))
    return xp.moveaxis(made, tuple(range(last.ndim - 1, made.ndim)), tuple(range(axis, axis + made.ndim - last.ndim + 1)))


def sliding_window_view(xp: Any, x: Any, window_shape: Any, axis: Any = None) -> Any:
    """All windows of a size, along new axes at the end."""
    x = xp.array_of(x)
    sizes = window_shape if isinstance(window_shape, (tuple, list)) else (window_shape,)
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    if len(sizes) != len(axes):
        raise ValueError(f"sliding_window_view: {len(sizes)} sizes of windows for {len(axes)} axes")
    for n, a in zip(sizes, axes):
        a = normalize_axis(a, x.ndim)
        places = np.arange(x.shape[a] - n + 1)[:, None] + np.arange(n)
        x = xp.moveaxis(xp.take(x, places, axis=a), a + 1, -1)
    return x


def _known_sizes(name: str, sizes: Any) -> tuple[int, ...]:
    if not all(isinstance(n, (int, np.integer)) for n in (sizes if isinstance(sizes, (tuple, list)) else (sizes,))):
        raise NotInGraphError(f"its {name} must be known while the graph is built: expected whole numbers; got {sizes!r}")
    return tuple(map(int, np.atleast_1d(sizes)))


def unravel_index(xp: Any, indices: Any, shape: Any) -> Any:
    """The position along each axis that a place in row order means."""
    rest, found = xp.astype(xp.array_of(indices), np.int64), []
    for n in reversed(_known_sizes("shape", shape)):
        found.append(rest % n)
        rest = rest // n
    return tuple(found[::-1])


def ravel_multi_index(xp: Any, indices: Any, dims: Any) -> Any:
    """The place in row order of a position along each axis."""
    found: Any = 0
    for at, n in zip(indices, _known_sizes("dims", dims)):
        found = found * n + at
    return xp.astype(found, np.int64)


#: Functions of this module by the names that they have in NumPy.
COMPOSED: dict[str, Callable[..., Any]] = {
    "clip": clip, "divmod": divmod_, "modf": modf, "sinc": sinc, "isclose": isclose, "allclose": allclose, "array_equal": array_equal,
    "array_equiv": array_equiv, "broadcast_arrays": broadcast_arrays, "meshgrid": meshgrid, "unstack": unstack, "size": size,
    "atleast_1d": atleast(1), "atleast_2d": atleast(2), "atleast_3d": atleast(3), "linspace": linspace,
    "angle": angle, "fabs": lambda xp, x: abs(xp.floating(x)),
    "degrees": lambda xp, x: xp.rad2deg(xp.floating(x)), "radians": lambda xp, x: xp.deg2rad(xp.floating(x)),
    "apply_along_axis": apply_along_axis, "lib.stride_tricks.sliding_window_view": sliding_window_view,
    "apply_over_axes": apply_over_axes, "unravel_index": unravel_index, "ravel_multi_index": ravel_multi_index,
    "empty_like": _like("zeros"), "zeros_like": _like("zeros"), "ones_like": _like("ones"), "full_like": full_like,
    "isreal": lambda xp, x: xp.ones_like(x, dtype=np.bool_), "iscomplex": lambda xp, x: xp.zeros_like(x, dtype=np.bool_),
    "conjugate": lambda xp, x: xp.positive(x), "real": lambda xp, x: xp.array_of(x), "imag": lambda xp, x: xp.zeros_like(x),
    "real_if_close": lambda xp, x: xp.array_of(x),
    "isposinf": lambda xp, x: xp.array_of(x) == np.inf, "isneginf": lambda xp, x: xp.array_of(x) == -np.inf,
    "ldexp": lambda xp, x, i: x * xp.exp2(xp.astype(xp.array_of(i), xp.floating(x).dtype)),
    "count_nonzero": lambda xp, x, **options: xp.sum(xp.array_of(x) != 0, **options)}
