"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.nn.normalization`."""
from __future__ import annotations

from ....base.spec import TensorSpec, normalize_axes
from ....ops.nn.normalization import BatchNorm, LayerNorm
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.batch_norm import given_statistics
from ..reduce.standardized import sweep_kernel


@kernel_for(LayerNorm)
def _(op: LayerNorm, *specs: TensorSpec) -> CudaKernel | None:
    x, given = specs[0], [s for s in specs if s is not None]
    if any(not s.is_static for s in given):
        return None
    shapes = [x.shape or (), *(op.aligned(s.shape, len(x.shape or ())) for s in given[1:])]
    names = [n for n, s in zip(("layer_norm", "gain", "bias"), specs) if s is not None]
    inner = sweep_kernel("_".join(names), op.dimensions, given, shapes)
    return inner and CudaKernel(lambda *arrays: inner.actions(*(a for a in arrays if a is not None)), inner.workspace)


@kernel_for(BatchNorm)
def _(op: BatchNorm, *specs: TensorSpec) -> CudaKernel | None:
    return given_statistics(normalize_axes(op.axes, len(specs[0].shape or ())), op.epsilon, *specs)
