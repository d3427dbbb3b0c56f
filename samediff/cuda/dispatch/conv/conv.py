"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.conv.conv`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.conv.conv import ConvolutionOp
from ....ops.conv.convolving import Convolution
from ....plans.actions import CudaKernel
from ...kernel_table import KERNELS, kernel_for


@kernel_for(ConvolutionOp)
def _(op: ConvolutionOp, *specs: TensorSpec) -> CudaKernel | None:
    return KERNELS.kernel(Convolution(op.geometry(specs[1].shape)), *specs)
