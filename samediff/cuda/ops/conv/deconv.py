"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.conv.deconv`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.conv.deconv import TransposedConvolution
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.convolution import transposed


@kernel_for(TransposedConvolution)
def _(op: TransposedConvolution, *specs: TensorSpec) -> CudaKernel | None:
    x, w = specs[:2]
    shape = op.result(x.shape, w.shape) or ()
    return transposed(op.geometry(w.shape), x, w, specs[2] if len(specs) > 2 else None, shape)
