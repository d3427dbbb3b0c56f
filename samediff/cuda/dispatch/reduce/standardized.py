"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.reduce.standardized`."""
from __future__ import annotations

from collections.abc import Sequence

from ....base.spec import Shape, TensorSpec, normalize_axes
from ....ops.reduce.standardized import Standardize, StandardizedAxes, StandardizeSlope
from ....plans.actions import CudaKernel
from ....plans.sweeps.table import NORMALIZATIONS
from ...kernel_table import kernel_for
from ...sweeps.sweep import swept


def sweep_kernel(name: str, axes: Sequence[int], specs: Sequence[TensorSpec], shapes: Sequence[Shape] = ()) -> CudaKernel | None:
    """The kernel of :data:`.NORMALIZATIONS` of that name over ``axes``."""
    if not specs[0].is_static:
        return None
    return swept(NORMALIZATIONS[name], normalize_axes(axes, len(specs[0].shape or ())), specs, shapes)


@kernel_for(StandardizedAxes)
def _(op: StandardizedAxes, *specs: TensorSpec) -> CudaKernel | None:
    return sweep_kernel("standardize", op.axes, specs)


@kernel_for(StandardizeSlope)
def _(op: StandardizeSlope, *specs: TensorSpec) -> CudaKernel | None:
    return sweep_kernel("standardize_backward", op.axes, specs)


@kernel_for(Standardize)
def _(op: Standardize, *specs: TensorSpec) -> CudaKernel | None:
    return sweep_kernel("standardize", op.dimensions, specs)
