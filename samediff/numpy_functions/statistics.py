"""NumPy's statistics, as nodes: averages, quantiles, covariances, histograms, and what leaves NaN out."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.spec import normalize_axis
from ..families.array_code.symbolic_size import NotInGraphError
from .ordering import axes_of, sort
from .searching import searchsorted

#: How far a quantile of n elements stands from place q (n - 1): alpha and beta of each method.
#: Methods that give elements as they are, whole numbers too.
_PICKING = ("lower", "higher", "nearest")
_METHODS = {"linear": (1, 1), "weibull": (0, 0), "hazen": (0.5, 0.5), "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8)}


def average(xp: Any, x: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Any:
    """The mean, of elements that may weigh differently."""
    x = xp.array_of(x)
    if weights is None:
        found = xp.mean(x, axis=axis, keepdims=keepdims)
        return (found, found * 0 + x.size / found.size) if returned else found
    w = xp.array_of(weights)
    if w.ndim != x.ndim:
        if w.ndim != 1 or not isinstance(axis, int):
            raise NotInGraphError("np.average with weights of another shape has no graph node")
        w = xp.reshape(w, tuple(-1 if i == normalize_axis(axis, x.ndim) else 1 for i in range(x.ndim)))
    dtype = np.result_type(x.dtype, w.dtype, *([np.float64] if x.dtype.kind in "iub" else []))
    x, w = xp.astype(x, dtype), xp.astype(w, dtype)
    total = xp.sum(xp.broadcast_to(w, x.shape), axis=axis, keepdims=keepdims)
    found = xp.sum(x * w, axis=axis, keepdims=keepdims) / total
    return (found, xp.astype(total, found.dtype)) if returned else found


def ptp(xp: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest less the smallest."""
    return xp.max(x, axis=axis, keepdims=keepdims) - xp.min(x, axis=axis, keepdims=keepdims)


def quantile(xp: Any, x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    """The values below which the parts ``q`` of the elements lie."""
    return _quantiles(xp, x, q, axis, method, keepdims, nan=False)


def nanquantile(xp: Any, x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    """The same of what is a number."""
    return _quantiles(xp, x, q, axis, method, keepdims, nan=True)


def _percent(function: Callable[..., Any]) -> Callable[..., Any]:
    def percentile(xp: Any, x: Any, q: Any, **options: Any) -> Any:
        return function(xp, x, q / 100 if isinstance(q, (int, float)) else xp.array_of(q) / 100.0, **options)
    return percentile


def nanmedian(xp: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The middle one of what is a number."""
    return nanquantile(xp, x, 0.5, axis, keepdims=keepdims)


def _quantiles(xp: Any, x: Any, q: Any, axis: Any, method: str, keepdims: bool, nan: bool) -> Any:
    x = xp.array_of(x)
    part = xp.array_of(x.dtype.type(q) if x.dtype.kind == "f" and isinstance(q, (int, float)) else q)
    if part.dtype.kind in "biu":
        method = "nearest" if method == "linear" else method                # the first or the last element, as it is
        part = xp.astype(part, np.int64)
    whole = x.dtype.kind in "iub" and method in _PICKING
    x = x if whole else xp.floating(x)
    if method not in (*_METHODS, *_PICKING, "midpoint"):
        raise NotInGraphError(f"np.quantile with method {method!r} has no graph node")
    if isinstance(q, (int, float)) and not 0 <= q <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    axes = axes_of(axis, x.ndim)
    kept = tuple(i for i in range(x.ndim) if i not in axes)
    if 0 in [x.shape[i] for i in kept]:         # nothing is asked for
        return xp.zeros((*part.shape, *((1 if i in axes else n) for i, n in enumerate(x.shape) if keepdims or i in kept)),
                        x.dtype if whole else np.result_type(x.dtype, part.dtype))
    first = xp.reshape(xp.transpose(x, (*axes, *kept)) if x.ndim else x, (-1, *(x.shape[i] for i in kept)))
    ordered = sort(xp, first, axis=0)
    if ordered.shape[0] == 0:
        raise NotInGraphError("a quantile of no elements has no graph node")
    is_nan: Any = None if whole else xp.isnan(ordered)
    nan = nan and not whole
    part = xp.reshape(part, (*part.shape, *(1 for _ in kept)))
    count = xp.astype(xp.sum(~is_nan, axis=0), x.dtype) if nan else ordered.shape[0]
    alpha, beta = _METHODS.get(method, (1, 1))
    last = xp.maximum(count - 1, 0) if nan else count - 1
    place = xp.minimum(xp.maximum(count * part + (alpha + part * (1 - alpha - beta)) - 1, 0), last)
    low, high = xp.floor(place), xp.ceil(place)
    share = place - low
    if method in _PICKING:
        low = high = {"lower": low, "higher": high, "nearest": xp.rint(place)}[method]
    elif method == "midpoint":
        share = xp.where(share > 0, share.dtype.type(0.5), share.dtype.type(0))
    below, above = (_at(xp, ordered, xp.astype(p, np.int64)) for p in (low, high))
    if method in _PICKING:
        found = below
    else:
        step = above - below
        found = xp.where(share >= 0.5, above - step * (1 - share), below + step * share)
    if not whole:
        found = xp.where(xp.all(is_nan, axis=0) if nan else is_nan[-1], found.dtype.type(np.nan), found)
    if not keepdims:
        return found
    outer = found.ndim - len(kept)
    return xp.reshape(found, (*found.shape[:outer], *(1 if i in axes else n for i, n in enumerate(x.shape))))


def _at(xp: Any, rows: Any, places: Any) -> Any:
    """Elements of each column at places: those of ``places`` stand before the columns' axes."""
    if rows.ndim == 1:
        return xp.take(rows, places, axis=0)
    columns = int(np.prod(rows.shape[1:]))
    places = xp.broadcast_to(places, (*places.shape[:places.ndim - rows.ndim + 1], *rows.shape[1:]))
    return xp.take(xp.ravel(rows), places * columns + np.arange(columns).reshape(rows.shape[1:]), axis=0)


def cov(xp: Any, m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: float | None = None) -> Any:
    """Covariances of variables, a row for each."""
    def rows(a: Any) -> Any:
        a = xp.of_rank_2(xp.astype(xp.array_of(a), np.float64))
        return a if rowvar or a.shape[0] == 1 else xp.transpose(a)
    x = rows(m) if y is None else xp.concatenate([rows(m), rows(y)], 0)
    centred = x - xp.mean(x, axis=1, keepdims=True)
    return xp.squeeze(xp.matmul(centred, xp.transpose(centred)) / (x.shape[1] - ((0 if bias else 1) if ddof is None else ddof)))


def corrcoef(xp: Any, x: Any, y: Any = None, rowvar: bool = True) -> Any:
    """Correlations of variables, a row for each."""
    found = cov(xp, x, y, rowvar)
    if not found.ndim:
        return found / found
    spread = xp.sqrt(xp.call(np.diagonal, (found,), {}))
    return xp.clip(found / xp.expand_dims(spread, 1) / spread, -1, 1)


def histogram_bin_edges(xp: Any, x: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of cells of equal width."""
    if not isinstance(bins, (int, np.integer)):
        if isinstance(bins, str):
            raise NotInGraphError(f"np.histogram with bins={bins!r} has as many cells as the values say: give their number")
        return xp.array_of(bins)
    x = xp.array_of(x)
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
    if range is None:
        range = (xp.min(x), xp.max(x)) if x.size else (0.0, 1.0)
    low, high = (xp.astype(xp.array_of(v), np.float64) for v in range)
    flat = low == high
    low, high = xp.where(flat, low - 0.5, low), xp.where(flat, high + 0.5, high)
    inner = np.arange(bins) * ((high - low) / int(bins)) + low
    return xp.astype(xp.concatenate([inner, xp.reshape(high, (1,))]), dtype)


def histogram(xp: Any, x: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """Number of elements in each cell, and the edges of the cells."""
    edges = histogram_bin_edges(xp, x, bins, range)
    values = xp.ravel(xp.array_of(x))
    n = edges.shape[0] - 1
    cell = searchsorted(xp, edges, values, "right") - 1
    cell = xp.where(values == edges[-1], n - 1, cell)
    inside = (cell >= 0) & (cell < n) & (values <= edges[-1])
    each = xp.astype(inside, np.int64) if weights is None else xp.where(inside, xp.ravel(weights), 0)
    counts = xp.node("unsorted_segment_sum", [each, xp.clip(cell, 0, n - 1)], num_segments=n)
    return (counts / xp.call(np.diff, (edges,), {}) / xp.sum(counts) if density else counts), edges


# Without NaN

def _known(xp: Any, x: Any, other: float) -> Any:
    """The elements, with a number in place of NaN."""
    return xp.where(xp.isnan(x), x.dtype.type(other), x) if x.dtype.kind == "f" else x


def _skipping(of: str, other: float) -> Callable[..., Any]:
    def function(xp: Any, x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
        if dtype is not None:
            return xp.astype(function(xp, xp.astype(xp.array_of(x), dtype), axis, keepdims), dtype)
        x = xp.array_of(x)
        made = getattr(xp, of)(_known(xp, x, other), axis=axis, **({"keepdims": True} if keepdims else {}))
        if of in ("max", "min") and x.dtype.kind == "f":
            made = xp.where(xp.all(xp.isnan(x), axis=axis, keepdims=keepdims), x.dtype.type(np.nan), made)
        return made
    return function


def _count(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    return xp.astype(xp.sum(~xp.isnan(x), axis=axis, keepdims=keepdims), x.dtype)


def nanmean(xp: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean of what is a number."""
    kind, x = _wide(xp, x)
    return xp.astype(xp.sum(_known(xp, x, 0), axis=axis, keepdims=keepdims) / _count(xp, x, axis, keepdims), kind)


def nanvar(xp: Any, x: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """The variance of what is a number."""
    kind, x = _wide(xp, x)
    return xp.astype(_nanvar(xp, x, axis, ddof, keepdims), kind)


def _wide(xp: Any, x: Any) -> tuple[Any, Any]:
    """The floating type of an array, and the array in the widest, in which squares and sums stay in range."""
    x = xp.floating(x)
    return x.dtype, xp.astype(x, np.float64)


def _nanvar(xp: Any, x: Any, axis: Any, ddof: float, keepdims: bool) -> Any:
    off = _known(xp, x - nanmean(xp, x, axis, keepdims=True), 0)
    free = _count(xp, x, axis, keepdims) - ddof
    made = xp.sum(off * off, axis=axis, keepdims=keepdims) / free
    return xp.where(free > 0, made, made.dtype.type(np.nan))


def nanstd(xp: Any, x: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """The root of that."""
    kind, x = _wide(xp, x)
    return xp.astype(xp.sqrt(_nanvar(xp, x, axis, ddof, keepdims)), kind)


#: Functions of this module by the names that they have in NumPy.
STATISTICS: dict[str, Callable[..., Any]] = {
    "average": average, "ptp": ptp, "quantile": quantile, "percentile": _percent(quantile), "cov": cov, "corrcoef": corrcoef,
    "histogram": histogram, "histogram_bin_edges": histogram_bin_edges, "nanquantile": nanquantile,
    "nanpercentile": _percent(nanquantile), "nanmedian": nanmedian, "nanmean": nanmean, "nanvar": nanvar, "nanstd": nanstd,
    "nansum": _skipping("sum", 0), "nanprod": _skipping("prod", 1), "nanmax": _skipping("max", -np.inf),
    "nanmin": _skipping("min", np.inf), "nanargmax": _skipping("argmax", -np.inf), "nanargmin": _skipping("argmin", np.inf),
    "nancumsum": _skipping("cumsum", 0), "nancumprod": _skipping("cumprod", 1)}
