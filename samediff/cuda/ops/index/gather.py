"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.index.gather`."""
from __future__ import annotations

from ....base.datatype import DataType
from ....base.spec import TensorSpec, normalize_axis
from ....ops.index.gather import Gather, GatherGradient, GatherNd, GatherNdGradient, OneHot
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.gather import one_hot, take, take_nd
from ...routines.scatter import changed, changed_nd, gradient_of


@kernel_for(Gather)
def _(op: Gather, *specs: TensorSpec) -> CudaKernel | None:
    positions = specs[1] if len(specs) > 1 else TensorSpec((len(op.indices),), DataType.LONG)
    at = normalize_axis(op.axis, specs[0].rank or 0)
    return take(at, specs[0], positions, op.indices if len(specs) == 1 else None)


@kernel_for(GatherGradient)
def _(op: GatherGradient, *specs: TensorSpec) -> CudaKernel | None:
    x, like, indices = specs
    return gradient_of(changed("add", normalize_axis(op.axis, like.rank or 0), TensorSpec(like.shape, x.dtype), indices, "0"))


@kernel_for(GatherNd)
def _(op: GatherNd, *specs: TensorSpec) -> CudaKernel | None:
    return take_nd(*specs)


@kernel_for(GatherNdGradient)
def _(op: GatherNdGradient, *specs: TensorSpec) -> CudaKernel | None:
    x, like, indices = specs
    return gradient_of(changed_nd("add", TensorSpec(like.shape, x.dtype), indices, "0"))


@kernel_for(OneHot)
def _(op: OneHot, *specs: TensorSpec) -> CudaKernel | None:
    rank = specs[0].rank or 0
    return one_hot(op.axis % (rank + 1), op.depth, op.on, op.off, op.data_type, specs[0])
