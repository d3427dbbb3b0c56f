"""Transposed convolution on the GPU: the gradient of a convolution by its images."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.conv.deconv import TransposedConvolution
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.convolution_sizes import CudaConvolutionSizes
from .convolving import data_kernel


@kernel_for(TransposedConvolution)
def transposed(op: TransposedConvolution, x: TensorSpec, w: TensorSpec, bias: TensorSpec | None = None) -> CudaKernel | None:
    """The data gradient as a forward pass, with a bias when there is one: inputs x, w[, bias]."""
    s = CudaConvolutionSizes.of(op.geometry(w.shape), TensorSpec(op.result(x.shape, w.shape) or (), x.dtype), w, x, bias)
    return None if s is None else data_kernel(s, (0, 1), 2, None if bias is None else 2)
