"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.nn.normalization`."""
from __future__ import annotations

from ....base.spec import TensorSpec, normalize_axes
from ....ops.nn.normalization import BatchNorm
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from .batch_norm import given_statistics


@kernel_for(BatchNorm)
def _(op: BatchNorm, *specs: TensorSpec) -> CudaKernel | None:
    return given_statistics(normalize_axes(op.axes, len(specs[0].shape or ())), op.epsilon, *specs)
