"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.conv.patches`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.conv.patches import Col2Im, Fold, Unfold
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.patches import fold, unfold


@kernel_for(Unfold)
def _(op: Unfold, *specs: TensorSpec) -> CudaKernel | None:
    return unfold(op.fitting(specs[1:]), specs[0])


@kernel_for(Fold)
def _(op: Fold, *specs: TensorSpec) -> CudaKernel | None:
    return fold(op.patches.of(specs[0].shape), specs[0], specs[1].shape or ())


@kernel_for(Col2Im)
def _(op: Col2Im, *specs: TensorSpec) -> CudaKernel | None:
    patches, image = op.geometry(specs[0].shape or ())
    return fold(patches, specs[0], image)
