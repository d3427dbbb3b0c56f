"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.shape.joining`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....base.spec import TensorSpec
from ....ops.shape.joining import Concat, ConcatPart, Split, SplitV, Stack, Tile, TileSum, Unstack, part_of
from ....ops.shape.shape_inputs import ints_of
from ...actions import CudaKernel
from ...code.copies import concatenation, copied, stack, tile
from ...code.elementwise import summed
from ...kernel_table import kernel_for
from ...sweeps.sweeps import REDUCTIONS


def _pieces(x: Any, axis: int, outs: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The parts of x along an axis that go to arrays of these sizes."""
    front, start, pairs = (slice(None),) * (axis % x.ndim), 0, []
    for out in outs:
        pairs.append((x[(*front, slice(start, start + out.shape[axis]))], out))
        start += out.shape[axis]
    return pairs


@kernel_for(Concat)
def _(op: Concat, *specs: TensorSpec) -> CudaKernel | None:
    return concatenation(op.dimension, *specs)


@kernel_for(ConcatPart)
def _(op: ConcatPart, *specs: TensorSpec) -> CudaKernel | None:
    def pairs(x: Any, *rest: Any) -> Any:
        *parts, out = rest
        part = part_of(x, op.dimension, op.position, parts)
        return [(part, out.reshape(part.shape))]
    return copied(pairs, *specs)


@kernel_for(Stack)
def _(op: Stack, *specs: TensorSpec) -> CudaKernel | None:
    return stack(op.axis, *specs)


@kernel_for(Unstack)
def _(op: Unstack, *specs: TensorSpec) -> CudaKernel | None:
    return copied(lambda x, *outs: [(np.moveaxis(x, op.axis, 0)[i, ...], out) for i, out in enumerate(outs)], *specs)


@kernel_for(Split)
def _(op: Split, *specs: TensorSpec) -> CudaKernel | None:
    return copied(lambda x, *outs: _pieces(x, op.split_dim, outs), *specs)


@kernel_for(SplitV)
def _(op: SplitV, *specs: TensorSpec) -> CudaKernel | None:
    known = ints_of(specs[1]) is not None
    return copied(lambda x, sizes, *outs: _pieces(x, op.split_dim, outs), *specs) if known else None


@kernel_for(Tile)
def _(op: Tile, *specs: TensorSpec) -> CudaKernel | None:
    counts = ints_of(specs[1]) if len(specs) > 1 else op.repeat
    return None if counts is None else tile(counts, specs[0])


@kernel_for(TileSum)
def _(op: TileSum, *specs: TensorSpec) -> CudaKernel | None:
    x, like = specs[:2]
    if not x.is_static or not like.is_static or 0 in (like.shape or ()):
        return None
    pairs = tuple(v for whole, n in zip(x.shape or (), like.shape or ()) for v in (whole // n, n))
    return summed(range(0, len(pairs), 2), TensorSpec(pairs, x.dtype), REDUCTIONS["reduce_sum"], len(specs) - 1)
