"""The functions of ``numpy.linalg`` and their kin, as nodes."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.spec import normalize_axis
from ..families.array_code.symbolic_size import NotInGraphError
from .ordering import axes_of


@functools.cache
def _result(name: str) -> Any:
    """The class of what NumPy gives."""
    return type(getattr(np.linalg, name)(np.eye(1)))


def _op(name: str) -> Callable[..., Any]:
    return lambda xp, x: xp.node(name, [xp.floating(x)])


def solve(xp: Any, a: Any, b: Any) -> Any:
    """X with A X = B; a vector is one column."""
    a, b = xp.alike([xp.floating(a), xp.floating(b)])
    return xp.node("solve", [a, xp.expand_dims(b, 1)])[..., 0] if b.ndim == 1 else xp.node("solve", [a, b])


def qr(xp: Any, a: Any, mode: str = "reduced") -> Any:
    """Q with orthonormal columns and upper triangular R."""
    if mode not in ("reduced", "complete", "r"):
        raise NotInGraphError(f"np.linalg.qr with mode {mode!r} has no graph node")
    q, r = xp.node("qr", [xp.floating(a)], full=mode == "complete")
    return r if mode == "r" else _result("qr")(q, r)


def eigh(xp: Any, a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues and eigenvectors of symmetric matrices, of which one triangle is read."""
    a = xp.floating(a)
    return _result("eigh")(*xp.node("eigh", [xp.swapaxes(a, -1, -2) if UPLO.upper() == "U" else a]))


def cholesky(xp: Any, a: Any, upper: bool = False) -> Any:
    """Triangular factors of symmetric matrices, of which one triangle is read: the other one has no gradient."""
    a = xp.swapaxes(xp.floating(a), -1, -2) if upper else xp.floating(a)
    lower, diagonal = (xp.node("matrix_band_part", [a], min_lower=n, max_upper=0) for n in (-1, 0))
    factor = xp.node("cholesky", [lower + xp.swapaxes(lower - diagonal, -1, -2)])
    return xp.swapaxes(factor, -1, -2) if upper else factor


def svd(xp: Any, a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Factors U, S, V^T, or the singular values alone."""
    a = xp.floating(a)
    if not compute_uv:
        return xp.node("svd", [a])
    if full_matrices and a.shape[-1] != a.shape[-2]:
        raise NotInGraphError("np.linalg.svd of matrices that are not square has a graph node with full_matrices=False alone")
    return _result("svd")(*xp.node("svd_factors", [a]))


def pinv(xp: Any, a: Any, rcond: Any = None) -> Any:
    """The inverse of what can be inverted."""
    a = xp.floating(a)
    u, s, vt = svd(xp, a, full_matrices=False)
    least = max(a.shape[-2:]) * np.finfo(a.dtype).eps if rcond is None else rcond
    large = s > least * xp.max(s, axis=-1, keepdims=True)
    inverse = xp.where(large, 1 / xp.where(large, s, s.dtype.type(1)), s.dtype.type(0))
    return xp.matmul(xp.swapaxes(vt, -1, -2), xp.expand_dims(inverse, -1) * xp.swapaxes(u, -1, -2))


def slogdet(xp: Any, a: Any) -> Any:
    """The sign and the logarithm of the magnitude of the determinant."""
    return _result("slogdet")(*xp.node("log_matrix_determinant", [xp.floating(a)], num=2))


def matrix_power(xp: Any, a: Any, n: int) -> Any:
    """A square matrix times itself."""
    a = xp.node("matrix_inverse", [xp.floating(a)]) if n < 0 else xp.array_of(a)
    if not n:
        return a * 0 + np.eye(a.shape[-1], dtype=a.dtype)
    found, square, n = None, a, abs(n)
    while n:
        if n & 1:
            found = square if found is None else xp.matmul(found, square)
        n >>= 1
        square = xp.matmul(square, square) if n else square
    return found


def multi_dot(xp: Any, arrays: Sequence[Any]) -> Any:
    """The product of matrices, from the left; the first and last may be vectors."""
    return functools.reduce(xp.dot, [arrays[i] for i in range(len(arrays))])


def matrix_rank(xp: Any, a: Any) -> Any:
    """Number of singular values that differ from 0."""
    a = xp.floating(a)
    s = svd(xp, a, compute_uv=False)
    return xp.sum(s > xp.max(s, axis=-1, keepdims=True) * (max(a.shape[-2:]) * np.finfo(a.dtype).eps), axis=-1)


def cond(xp: Any, a: Any, p: Any = None) -> Any:
    """Condition number: the largest singular value over the smallest, or by another norm."""
    if p in (None, 2, -2):
        s = svd(xp, a, compute_uv=False)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return norm(xp, a, p, (-2, -1)) * norm(xp, xp.node("matrix_inverse", [xp.floating(a)]), p, (-2, -1))


def tensorinv(xp: Any, a: Any, ind: int = 2) -> Any:
    """The inverse of an array as a matrix from its last axes to its first ``ind`` ones."""
    a = xp.array_of(a)
    rows = math.prod(a.shape[:ind])
    return xp.reshape(xp.node("matrix_inverse", [xp.floating(xp.reshape(a, (rows, -1)))]), (*a.shape[ind:], *a.shape[:ind]))


def tensorsolve(xp: Any, a: Any, b: Any, axes: Any = None) -> Any:
    """X with A X = B, where X has the last axes of A."""
    a, b = xp.array_of(a), xp.array_of(b)
    if axes is not None:
        order = [i for i in range(a.ndim) if i not in axes]
        a = xp.transpose(a, (*order, *axes))
    return xp.reshape(solve(xp, xp.reshape(a, (b.size, -1)), xp.ravel(b)), a.shape[b.ndim:])


# Norms

def vector_norm(xp: Any, x: Any, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm of vectors."""
    x = xp.floating(x)
    if ord in (2, None):
        return xp.reduced_by("reduce_norm2", x, axis, keepdims)
    size = abs(x)
    if ord in (np.inf, -np.inf):
        return _extreme(xp, size, ord, axis, keepdims)
    if ord == 0:
        return xp.astype(xp.sum(x != 0, axis=axis, keepdims=keepdims), x.dtype)
    if ord == 1:
        return xp.sum(size, axis=axis, keepdims=keepdims)
    largest = _extreme(xp, size, ord, axis, True)           # powers of shares of it stay in the range of the type
    scale = xp.where((largest > 0) & (largest < np.inf), largest, xp.asarray(1, dtype=x.dtype))
    found = scale * xp.sum((size / scale) ** ord, axis=axis, keepdims=True) ** (1 / ord)
    return found if keepdims else xp.squeeze(found, axes_of(axis, x.ndim))


def matrix_norm(xp: Any, x: Any, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of matrices on the last two axes."""
    x = xp.floating(x)
    if ord in ("fro", None):
        return vector_norm(xp, x, (-2, -1), keepdims)
    if ord in (2, -2, "nuc"):
        s = svd(xp, x, compute_uv=False)
        found = xp.sum(s, axis=-1) if ord == "nuc" or (ord > 0 and not s.shape[-1]) else s[..., 0 if ord > 0 else -1]
        return xp.expand_dims(xp.expand_dims(found, -1), -1) if keepdims else found
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError("Invalid norm order for matrices.")
    sums = xp.sum(abs(x), axis=-2 if abs(ord) == 1 else -1, keepdims=True)
    return _extreme(xp, sums, ord, (-2, -1), keepdims)


def _extreme(xp: Any, sizes: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The largest one, 0 where there is none; the smallest one for a negative ``ord``."""
    if ord < 0:
        return xp.min(sizes, axis=axis, keepdims=keepdims)
    return (xp.max if sizes.size else xp.sum)(sizes, axis=axis, keepdims=keepdims)


def norm(xp: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of vectors or matrices."""
    x = xp.array_of(x)
    if axis is None and (ord is None or x.ndim > 2):
        return vector_norm(xp, x, tuple(range(x.ndim)), keepdims)
    axes = tuple(range(x.ndim)) if axis is None else tuple(normalize_axis(a, x.ndim) for a in np.atleast_1d(axis).tolist())
    if len(axes) == 1:
        return vector_norm(xp, x, axes, keepdims, ord)
    others = tuple(i for i in range(x.ndim) if i not in axes)
    found = matrix_norm(xp, xp.transpose(x, (*others, *axes)), False, ord)
    return xp.reshape(found, tuple(1 if i in axes else n for i, n in enumerate(x.shape))) if keepdims else found


# Products

def kron(xp: Any, x: Any, y: Any) -> Any:
    """Every element of one array times the whole other."""
    x, y = xp.array_of(x), xp.array_of(y)
    rank = max(x.ndim, y.ndim)
    rows, columns = ((1,) * (rank - len(s)) + tuple(s) for s in (x.shape, y.shape))
    blocks: Any = xp.reshape(x, tuple(n for size in rows for n in (size, 1)))
    return xp.reshape(blocks * xp.reshape(y, tuple(n for size in columns for n in (1, size))), tuple(a * b for a, b in zip(rows, columns)))


def inner(xp: Any, x: Any, y: Any) -> Any:
    """Sums of products over the last axes."""
    return x * y if 0 in (np.ndim(x), np.ndim(y)) else xp.tensordot(x, y, ((-1,), (-1,)))


def outer(xp: Any, x: Any, y: Any) -> Any:
    """All products."""
    return xp.expand_dims(xp.ravel(xp.array_of(x)), 1) * xp.ravel(xp.array_of(y))


def vdot(xp: Any, x: Any, y: Any) -> Any:
    """The sum of products."""
    return xp.dot(xp.ravel(xp.array_of(x)), xp.ravel(xp.array_of(y)))


def vecdot(xp: Any, x: Any, y: Any, axis: int = -1) -> Any:
    """The sum of products along an axis."""
    products = xp.array_of(x) * y
    return xp.any(products, axis=axis) if products.dtype == np.bool_ else xp.astype(xp.sum(products, axis=axis), products.dtype)


def matvec(xp: Any, a: Any, x: Any) -> Any:
    """Matrices times vectors."""
    return xp.matmul(a, xp.expand_dims(xp.array_of(x), -1))[..., 0]


def vecmat(xp: Any, x: Any, a: Any) -> Any:
    """Vectors times matrices."""
    return xp.matmul(xp.expand_dims(xp.array_of(x), -2), a)[..., 0, :]


def cross(xp: Any, x: Any, y: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """Vector products of three elements along an axis."""
    first, second, third = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    x, y = (xp.moveaxis(xp.array_of(v), a, -1) for v, a in ((x, first), (y, second)))
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise NotInGraphError("np.cross of vectors without three elements has no graph node")
    a, b = ([v[..., i] for i in range(3)] for v in (x, y))
    return xp.moveaxis(xp.stack([a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)], axis=-1), -1, third)


def diagonal_sum(xp: Any, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """The sum of a diagonal."""
    return xp.sum(xp.call(np.diagonal, (x, offset, axis1, axis2), {}), axis=-1, **({} if dtype is None else {"dtype": dtype}))


#: Functions of this module by the names that they have in NumPy.
LINEAR_ALGEBRA: dict[str, Callable[..., Any]] = {
    "linalg.inv": _op("matrix_inverse"), "linalg.det": _op("matrix_determinant"), "linalg.cholesky": cholesky,
    "linalg.eigh": eigh, "linalg.eigvalsh": lambda xp, a, UPLO="L": eigh(xp, a, UPLO)[0],
    "linalg.solve": solve, "linalg.qr": qr, "linalg.svd": svd, "linalg.pinv": pinv, "linalg.slogdet": slogdet,
    "linalg.matrix_power": matrix_power, "linalg.multi_dot": multi_dot, "linalg.matrix_rank": matrix_rank, "linalg.cond": cond,
    "linalg.norm": norm, "linalg.vector_norm": vector_norm, "linalg.matrix_norm": matrix_norm,
    "linalg.svdvals": lambda xp, x: svd(xp, x, compute_uv=False),
    "linalg.trace": lambda xp, x, offset=0: diagonal_sum(xp, x, offset, -2, -1),
    "linalg.diagonal": lambda xp, x, offset=0: xp.call(np.diagonal, (x, offset, -2, -1), {}),
    "linalg.matmul": lambda xp, x, y: xp.matmul(x, y), "linalg.tensordot": lambda xp, x, y, axes=2: xp.tensordot(x, y, axes),
    "linalg.tensorinv": tensorinv, "linalg.tensorsolve": tensorsolve,
    "linalg.matrix_transpose": lambda xp, x: xp.swapaxes(x, -1, -2), "linalg.outer": outer, "linalg.cross": cross, "linalg.vecdot": vecdot,
    "kron": kron, "inner": inner, "outer": outer, "vdot": vdot, "vecdot": vecdot, "matvec": matvec, "vecmat": vecmat, "cross": cross,
    "trace": diagonal_sum, "matrix_transpose": lambda xp, x: xp.swapaxes(x, -1, -2)}
