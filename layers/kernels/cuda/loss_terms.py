"""CUDA kernels of the ops of :mod:`dl4py.layers.ops.loss_terms`."""
from __future__ import annotations

import math

from ....samediff.base.spec import TensorSpec, size
from ....samediff.cuda.kernel_table import kernel_for
from ....samediff.cuda.routines.gather import one_hot
from ....samediff.cuda.sweeps.elementwise import loop
from ....samediff.plans.actions import CudaKernel
from ...ops.loss_terms import OneHotLabels, PerOutput


@kernel_for(PerOutput)
def _(op: PerOutput, *specs: TensorSpec) -> CudaKernel | None:
    return loop(lambda xp, x, mask: xp.where(mask != 0, x, 0), specs) if specs[0].shape == specs[1].shape else None


@kernel_for(OneHotLabels)
def _(op: OneHotLabels, *specs: TensorSpec) -> CudaKernel | None:
    labels, output = specs
    if not labels.is_static or not output.shape or output.shape[-1] == -1:
        return None
    made = one_hot(1, output.shape[-1], 1.0, 0.0, output.dtype, labels.with_shape((size(labels.shape),)), math.nan)
    return None if made is None else CudaKernel(lambda labels, output, out: made.actions(labels.reshape(-1), out))
