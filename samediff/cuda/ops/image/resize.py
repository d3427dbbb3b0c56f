"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.image.resize`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.image.resize import Resize, ResizeBack
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.resizing import resized


@kernel_for(Resize)
def _(op: Resize, *specs: TensorSpec) -> CudaKernel | None:
    return resized(op, specs[0], specs[1] if len(specs) > 1 else None)


@kernel_for(ResizeBack)
def _(op: ResizeBack, *specs: TensorSpec) -> CudaKernel | None:
    return resized(op.of, specs[1], specs[2] if len(specs) > 2 else None, back=True)
