"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.conv.convolving`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.conv.convolving import Convolution, ConvolutionDataGrad, ConvolutionWeightGrad
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.convolution import data_gradient, forward, weight_gradient


@kernel_for(Convolution)
def _(op: Convolution, *specs: TensorSpec) -> CudaKernel | None:
    return forward(op.geometry.of(specs[1].shape), *specs)


@kernel_for(ConvolutionDataGrad)
def _(op: ConvolutionDataGrad, *specs: TensorSpec) -> CudaKernel | None:
    return data_gradient(op.geometry.of(specs[0].shape), *specs)


@kernel_for(ConvolutionWeightGrad)
def _(op: ConvolutionWeightGrad, *specs: TensorSpec) -> CudaKernel | None:
    return weight_gradient(op.geometry.of(specs[2].shape), *specs)
