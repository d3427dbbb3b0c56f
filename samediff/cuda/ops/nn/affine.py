"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.nn.affine`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.nn.affine import BiasAdd
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.elementwise import loop


@kernel_for(BiasAdd)
def _(op: BiasAdd, *specs: TensorSpec) -> CudaKernel | None:
    x, bias = specs
    beside = (*(bias.shape or ()), *(1,) * (len(x.shape or ()) - 2)) if op.nchw else None
    return loop(lambda xp, x, b: x + b, specs, (None, beside))
