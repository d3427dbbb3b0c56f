"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.conv.patches`."""
from __future__ import annotations

from dataclasses import replace

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.conv.patches import Col2Im, Fold, Unfold
from ...kernel_table import KERNELS, kernel_for
from ...routines.patches import fold, unfold


@kernel_for(Unfold)
def _(op: Unfold, *specs: TensorSpec) -> Kernel | None:
    return unfold(op.fitting(specs[1:]), specs[0])


@kernel_for(Fold)
def _(op: Fold, *specs: TensorSpec) -> Kernel | None:
    return fold(op.patches.of(specs[0].shape), *specs)


@kernel_for(Col2Im)
def _(op: Col2Im, *specs: TensorSpec) -> Kernel | None:
    patches, image = op.geometry(specs[0].shape or ())
    kernel = KERNELS.kernel(Fold(patches), specs[0], specs[0].with_shape(image))
    return kernel and replace(kernel, call=lambda columns, *rest: kernel.call(columns, None, *rest))
