"""Matrix products on a device: views that cuBLAS takes as they are, copies where axes have to be joined first."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ....base.spec import TensorSpec, broadcast, normalize_axis
from ....ops.linalg.matmul import BatchMmul, Matmul, TensorMmul
from ....plans.actions import Action, ArrayCopy, CudaKernel
from ...kernel_table import kernel_for
from ...routines.products import repeated, served, swapped, times


def matmul(transposes: tuple[bool, bool, bool], x: TensorSpec, y: TensorSpec) -> CudaKernel | None:
    """``call(x, y, out)``: NumPy's product; the transposed result is the product of the transposed operands in other order."""
    if not served(x, y) or not x.shape or not y.shape:
        return None

    def actions(x: Any, y: Any, out: Any) -> list[Action]:
        transpose_x, transpose_y = (t and m.ndim > 1 for t, m in zip(transposes, (x, y)))
        swap = transposes[2] and x.ndim > 1 and y.ndim > 1
        a = x[None] if x.ndim == 1 else swapped(x) if transpose_x else x
        b = y[:, None] if y.ndim == 1 else swapped(y) if transpose_y else y
        if a.ndim > 2 == b.ndim and not transpose_x and not swap:           # one product of more rows
            rows = math.prod(a.shape[:-1])
            return times(a.reshape(rows, a.shape[-1]), b, out.reshape(rows, b.shape[-1]))
        batch = broadcast(a.shape[:-2], b.shape[:-2]) or ()
        if swap:
            a, b = swapped(b), swapped(a)
        return times(repeated(a, batch), repeated(b, batch), out.reshape(*batch, a.shape[-2], b.shape[-1]))
    return CudaKernel(actions)


@kernel_for(BatchMmul)
def matmuls(op: BatchMmul, *specs: TensorSpec) -> CudaKernel | None:
    """``call(*left, *right, *outs)``: one product for each pair."""
    if op.scaled:
        return None
    count = len(specs) // 2
    one = [matmul((op.transpose_a, op.transpose_b, False), a, b) for a, b in zip(specs[:count], specs[count:])]

    def actions(*arrays: Any) -> list[Action]:
        triples = zip(arrays[:count], arrays[count:2 * count], arrays[2 * count:])
        return [action for kernel, triple in zip(one, triples) if kernel is not None for action in kernel.actions(*triple)]
    return None if None in one else CudaKernel(actions)


@kernel_for(TensorMmul)
def contraction(op: TensorMmul, x: TensorSpec, y: TensorSpec) -> CudaKernel | None:
    """``call(x, y, out, ...)``: tensordot; arrays with axes in another order are copied first."""
    transposed = op.transpose_x, op.transpose_y         # their axes come reversed, as by ``.T``
    if not served(x, y) or op.transpose_z:
        return None
    shapes = [s.shape[::-1] if t else s.shape for s, t in zip((x, y), transposed) if s.shape is not None]
    over = [[normalize_axis(d, len(shape)) for d in dims] for shape, dims in zip(shapes, (op.dimensions_x, op.dimensions_y))]
    free = [[i for i in range(len(shape)) if i not in dims] for shape, dims in zip(shapes, over)]
    orders = [*free[0], *over[0]], [*over[1], *free[1]]
    depth = math.prod(shapes[0][i] for i in over[0])
    rows, columns = (math.prod(shape[i] for i in axes) for shape, axes in zip(shapes, free))
    copied = [t or not _is_view(order, len(first)) for t, order, first in zip(transposed, orders, (free[0], over[1]))]
    sizes = (rows, depth), (depth, columns)

    def matrix(m: Any, k: int, copy: Any) -> tuple[Any, list[Action]]:
        if copy is None:
            return m.reshape(sizes[k]) if orders[k] == sorted(orders[k]) else m.reshape(sizes[k][::-1]).T, []
        source = (m.T if transposed[k] else m).transpose(orders[k])
        return copy.reshape(sizes[k]), [ArrayCopy(source, copy.reshape(source.shape))] if m.size else []

    def actions(x: Any, y: Any, out: Any, *workspace: Any) -> list[Action]:
        left = iter(workspace)
        pairs = [matrix(m, k, next(left) if copied[k] else None) for k, m in enumerate((x, y))]
        return [*pairs[0][1], *pairs[1][1], *times(pairs[0][0], pairs[1][0], out.reshape(rows, columns))]
    return CudaKernel(actions, tuple(TensorSpec(sizes[k], x.dtype) for k in range(2) if copied[k]))


def _is_view(order: Sequence[int], front: int) -> bool:
    """Whether the axes are in order, or are so after the first ``front`` ones are moved to the end."""
    order = list(order)
    return order == sorted(order) or order[front:] + order[:front] == sorted(order)


@kernel_for(Matmul)
def _(op: Matmul, *specs: TensorSpec) -> CudaKernel | None:
    return matmul((op.transpose_x, op.transpose_y, op.transpose_z), *specs)
