"""NumPy's functions of neighbours along an axis, as nodes: differences, running values, integrals, convolutions, polynomials."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.spec import normalize_axis
from ..errors import ShapeError
from ..families.array_code.symbolic_size import NotInGraphError


def part(x: Any, axis: int, *bounds: int | None) -> Any:
    """``x`` with a slice of one axis."""
    return x[(slice(None),) * normalize_axis(axis, x.ndim) + (slice(*bounds),)]


def diff(xp: Any, x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours."""
    x = xp.array_of(x)
    axis = normalize_axis(axis, x.ndim)

    def end(value: Any) -> Any:
        value = xp.array_of(value)
        return value if value.ndim else xp.broadcast_to(value, tuple(1 if i == axis else s for i, s in enumerate(x.shape)))
    parts = [*([] if prepend is None else [end(prepend)]), x, *([] if append is None else [end(append)])]
    x = xp.concatenate(parts, axis) if len(parts) > 1 else x
    for _ in range(n):
        after, before = part(x, axis, 1, None), part(x, axis, None, -1)
        x = after != before if x.dtype == np.bool_ else after - before
    return x


def ediff1d(xp: Any, x: Any) -> Any:
    """Differences of neighbours among all elements."""
    return diff(xp, xp.ravel(x))


def gradient(xp: Any, x: Any, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Derivatives by central differences of equally spaced values."""
    x = xp.floating(x)
    axes = range(x.ndim) if axis is None else [normalize_axis(a, x.ndim) for a in (axis if isinstance(axis, tuple) else (axis,))]
    steps = spacing * len(axes) if len(spacing) == 1 else spacing or (1.0,) * len(axes)
    if edge_order != 1 or any(np.ndim(s) for s in steps):
        raise NotInGraphError("np.gradient with coordinates or edges of second order has no graph node")
    found = []
    for a, h in zip(axes, steps):
        inside = (part(x, a, 2, None) - part(x, a, None, -2)) / (2 * h)
        first, last = part(x, a, 1, 2) - part(x, a, 0, 1), part(x, a, -1, None) - part(x, a, -2, -1)
        found.append(xp.concatenate([first / h, inside, last / h], a))
    return found[0] if len(found) == 1 else tuple(found)


def trapezoid(xp: Any, y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Integral by trapezoids."""
    y = xp.array_of(y)
    width: Any = dx
    if x is not None:
        width = diff(xp, x, axis=-1 if np.ndim(x) == 1 else axis)
        if width.ndim == 1:
            width = xp.reshape(width, tuple(-1 if i == normalize_axis(axis, y.ndim) else 1 for i in range(y.ndim)))
    return xp.sum(width * (part(y, axis, 1, None) + part(y, axis, None, -1)) / 2.0, axis=axis)


def unwrap(xp: Any, p: Any, discont: Any = None, axis: int = -1, period: float = 2 * np.pi) -> Any:
    """Angles without jumps of more than half a period."""
    p = xp.floating(p)
    steps, half = diff(xp, p, axis=axis), period / 2
    small = (steps + half) % period - half
    small = xp.where((small == -half) & (steps > 0), half, small)
    change = xp.where(abs(steps) < (half if discont is None else discont), 0.0, small - steps)
    return xp.concatenate([part(p, axis, 0, 1), part(p, axis, 1, None) + xp.cumsum(change, axis=axis)], axis)


# Running values

def _cumulative(of: str) -> Callable[..., Any]:
    def running(xp: Any, x: Any, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
        x = xp.array_of(x)
        axis = 0 if axis is None and x.ndim == 1 else axis
        made = getattr(xp, of)(x, axis, dtype)
        if include_initial:
            first = (xp.zeros_like if of == "cumsum" else xp.ones_like)(part(made, axis or 0, 0, 1))
            made = xp.concatenate([first, made], axis or 0)
        return made
    return running


def accumulate(xp: Any, ufunc: np.ufunc, x: Any, axis: int = 0) -> Any:
    """``ufunc.accumulate``: of all elements up to each place, in steps that double what is seen."""
    x = xp.array_of(x)
    if ufunc in (np.add, np.multiply):
        return (xp.cumsum if ufunc is np.add else xp.cumprod)(x, axis=axis)
    if ufunc not in (np.maximum, np.minimum, np.logical_and, np.logical_or):
        raise NotInGraphError(f"np.{ufunc.__name__}.accumulate has no graph node")
    x = x != 0 if ufunc in (np.logical_and, np.logical_or) and x.dtype != np.bool_ else x
    seen = 1
    while seen < x.shape[axis]:
        x = xp.concatenate([part(x, axis, None, seen), xp.call(ufunc, (part(x, axis, seen, None), part(x, axis, None, -seen)), {})], axis)
        seen *= 2
    return x


# Products with shifted values

def convolve(xp: Any, a: Any, v: Any, mode: str = "full") -> Any:
    """Discrete convolution of two vectors."""
    a, v = xp.alike([xp.of_rank_1(xp.array_of(a)), xp.of_rank_1(xp.array_of(v))])
    if a.ndim != 1 or v.ndim != 1:
        raise ShapeError(f"np.convolve takes two vectors; got shapes {a.variable.spec.shape} and {v.variable.spec.shape}")
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    n, m = a.shape[0], v.shape[0]
    start, count = {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}[mode]
    ends = xp.zeros_like(v[:1])
    padded = xp.concatenate([xp.repeat(ends, m - 1), a, xp.repeat(ends, m - 1)]) if m > 1 else a
    windows = xp.take(padded, np.arange(start, start + count)[:, None] + np.arange(m), axis=0)
    return xp.matmul(windows, v[::-1])


def correlate(xp: Any, a: Any, v: Any, mode: str = "valid") -> Any:
    """Correlation of two vectors."""
    a, v = xp.of_rank_1(xp.array_of(a)), xp.of_rank_1(xp.array_of(v))
    found = convolve(xp, a, v[::-1], mode)
    return found if a.shape[0] >= v.shape[0] or mode == "full" else convolve(xp, v, a[::-1], mode)[::-1]


def polyval(xp: Any, p: Any, x: Any) -> Any:
    """The polynomial with these coefficients, the highest power first."""
    p, found = xp.array_of(p), xp.zeros_like(xp.array_of(x))
    for i in range(p.shape[0]):
        found = found * x + p[i]
    return found


def vander(xp: Any, x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Powers of the elements of a vector, a row for each."""
    x = xp.astype(xp.array_of(x), np.promote_types(x.dtype, np.int64))
    n = x.shape[0] if N is None else N
    columns = [xp.ones_like(x)]
    for _ in range(n - 1):
        columns.append(columns[-1] * x)
    return xp.stack(columns[:n] if increasing else columns[:n][::-1], axis=-1)


#: Functions of this module by the names that they have in NumPy.
DIFFERENCES: dict[str, Callable[..., Any]] = {
    "diff": diff, "ediff1d": ediff1d, "gradient": gradient, "trapezoid": trapezoid, "trapz": trapezoid, "unwrap": unwrap,
    "convolve": convolve, "correlate": correlate, "polyval": polyval, "vander": vander,
    "cumulative_sum": _cumulative("cumsum"), "cumulative_prod": _cumulative("cumprod")}
