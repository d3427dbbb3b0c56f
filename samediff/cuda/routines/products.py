"""Matrix products on a device: views that cuBLAS takes as they are, copies where axes have to be joined first."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.spec import Shape, TensorSpec, broadcast, normalize_axis
from ...plans.actions import Action, ArrayCopy, CudaKernel, MatrixProduct, ZeroFill


def served(*specs: TensorSpec) -> bool:
    """Whether shapes are known and all of one floating type."""
    return all(s.is_static and s.dtype is specs[0].dtype for s in specs) and specs[0].dtype.is_floating


def times(a: Any, b: Any, out: Any, beta: float = 0.0) -> list[Action]:
    """The actions of ``out = a @ b + beta * out``; ``out`` is contiguous, ``a`` and ``b`` may be transposed."""
    if not out.size or (beta == 1.0 and not a.shape[-1]):
        return []
    return [MatrixProduct(a, b, out, 1.0, beta)] if a.shape[-1] else [ZeroFill(out)]


def swapped(x: Any) -> Any:
    """The last two axes exchanged."""
    return x.swapaxes(-1, -2)


def _repeated(x: Any, batch: Shape) -> Any:
    return x if x.shape[:-2] == batch else np.broadcast_to(x, (*batch, *x.shape[-2:]))       # CuPy answers for its arrays


def matmul(transposes: tuple[bool, bool, bool], x: TensorSpec, y: TensorSpec) -> CudaKernel | None:
    """``call(x, y, out)``: NumPy's product; the transposed result is the product of the transposed operands in other order."""
    if not served(x, y) or not x.shape or not y.shape:
        return None

    def actions(x: Any, y: Any, out: Any) -> list[Action]:
        turn_x, turn_y = (t and m.ndim > 1 for t, m in zip(transposes, (x, y)))
        turn = transposes[2] and x.ndim > 1 and y.ndim > 1
        a = x[None] if x.ndim == 1 else swapped(x) if turn_x else x
        b = y[:, None] if y.ndim == 1 else swapped(y) if turn_y else y
        if a.ndim > 2 == b.ndim and not turn_x and not turn:           # one product of more rows
            rows = math.prod(a.shape[:-1])
            return times(a.reshape(rows, a.shape[-1]), b, out.reshape(rows, b.shape[-1]))
        batch = broadcast(a.shape[:-2], b.shape[:-2]) or ()
        if turn:
            a, b = swapped(b), swapped(a)
        return times(_repeated(a, batch), _repeated(b, batch), out.reshape(*batch, a.shape[-2], b.shape[-1]))
    return CudaKernel(actions)


def matmuls(transpose_a: bool, transpose_b: bool, specs: Sequence[TensorSpec]) -> CudaKernel | None:
    """``call(*left, *right, *outs)``: one product for each pair."""
    count = len(specs) // 2
    one = [matmul((transpose_a, transpose_b, False), a, b) for a, b in zip(specs[:count], specs[count:])]

    def actions(*arrays: Any) -> list[Action]:
        triples = zip(arrays[:count], arrays[count:2 * count], arrays[2 * count:])
        return [action for kernel, triple in zip(one, triples) if kernel is not None for action in kernel.actions(*triple)]
    return None if None in one else CudaKernel(actions)


def contraction(over_x: Sequence[int], over_y: Sequence[int], transposed: tuple[bool, bool, bool], x: TensorSpec,
                y: TensorSpec) -> CudaKernel | None:
    """``call(x, y, out, ...)``: tensordot; arrays with axes in another order are copied first. ``transposed`` reverses axes as ``.T``."""
    if not served(x, y) or transposed[2]:
        return None
    shapes = [s.shape[::-1] if t else s.shape for s, t in zip((x, y), transposed) if s.shape is not None]
    over = [[normalize_axis(d, len(shape)) for d in dims] for shape, dims in zip(shapes, (over_x, over_y))]
    free = [[i for i in range(len(shape)) if i not in dims] for shape, dims in zip(shapes, over)]
    orders = [*free[0], *over[0]], [*over[1], *free[1]]
    depth = math.prod(shapes[0][i] for i in over[0])
    rows, columns = (math.prod(shape[i] for i in axes) for shape, axes in zip(shapes, free))
    copied = [t or not _is_view(order, len(first)) for t, order, first in zip(transposed, orders, (free[0], over[1]))]
    sizes = (rows, depth), (depth, columns)

    def matrix(m: Any, k: int, room: Any) -> tuple[Any, list[Action]]:
        if room is None:
            return m.reshape(sizes[k]) if orders[k] == sorted(orders[k]) else m.reshape(sizes[k][::-1]).T, []
        source = (m.T if transposed[k] else m).transpose(orders[k])
        return room.reshape(sizes[k]), [ArrayCopy(source, room.reshape(source.shape))] if m.size else []

    def actions(x: Any, y: Any, out: Any, *workspace: Any) -> list[Action]:
        left = iter(workspace)
        pairs = [matrix(m, k, next(left) if copied[k] else None) for k, m in enumerate((x, y))]
        return [*pairs[0][1], *pairs[1][1], *times(pairs[0][0], pairs[1][0], out.reshape(rows, columns))]
    return CudaKernel(actions, tuple(TensorSpec(sizes[k], x.dtype) for k in range(2) if copied[k]))


def _is_view(order: Sequence[int], front: int) -> bool:
    """Whether the axes are in order, or are so after the first ``front`` ones are moved to the end."""
    order = list(order)
    return order == sorted(order) or order[front:] + order[:front] == sorted(order)


def project(x: TensorSpec, w: TensorSpec) -> CudaKernel | None:
    """``call(x, w, out)``: (N, features, steps) by (heads, size, features) -> (N, heads, size, steps)."""
    if not served(x, w):
        return None

    def actions(x: Any, w: Any, out: Any) -> list[Action]:
        rows = w.shape[0] * w.shape[1]
        one = _repeated(w.reshape(rows, w.shape[2]), x.shape[:1])
        return times(one, x, out.reshape(x.shape[0], rows, x.shape[2]))
    return CudaKernel(actions)


def project_back(g: TensorSpec, w: TensorSpec) -> CudaKernel | None:
    """``call(g, w, out)``: (N, heads, size, steps) by (heads, size, features) -> (N, features, steps)."""
    if not served(g, w):
        return None

    def actions(g: Any, w: Any, out: Any) -> list[Action]:
        rows = w.shape[0] * w.shape[1]
        return times(_repeated(w.reshape(rows, w.shape[2]).T, g.shape[:1]), g.reshape(g.shape[0], rows, g.shape[3]), out)
    return CudaKernel(actions)


def projection_weights(g: TensorSpec, x: TensorSpec) -> CudaKernel | None:
    """``call(g, x, out, ...)``: sum over the examples of g (N, heads, size, steps) by x (N, features, steps) transposed.

    The axis of the examples goes beside that of the steps, so that one product adds up over both.
    """
    if not served(g, x):
        return None
    (batch, heads, size, steps), features = g.shape or (0, 0, 0, 0), (x.shape or (0, 0, 0))[1]
    rows = heads * size

    def actions(g: Any, x: Any, out: Any, left: Any = None, right: Any = None) -> list[Action]:
        target = out.reshape(rows, features)
        if batch == 1:
            return times(g.reshape(rows, steps), x.reshape(features, steps).T, target)
        moves: list[Action] = [ArrayCopy(g.reshape(batch, rows, steps).transpose(1, 0, 2), left), ArrayCopy(x.transpose(1, 0, 2), right)]
        product = times(left.reshape(rows, batch * steps), right.reshape(features, batch * steps).T, target)
        return [*moves, *product] if batch * steps and out.size else product
    if batch == 1:
        return CudaKernel(actions)
    return CudaKernel(actions, (TensorSpec((rows, batch, steps), g.dtype), TensorSpec((features, batch, steps), g.dtype)))
