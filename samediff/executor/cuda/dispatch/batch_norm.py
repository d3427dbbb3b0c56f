"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.batch_norm`."""
from __future__ import annotations

from ....ops.batch_norm import BatchNormInference, BatchNormTraining, BatchNormTrainingGrad
from ....spec import TensorSpec
from ..actions import CudaKernel
from ..batch_norm import gradient, inference, training
from ..kernel_table import kernel_for


@kernel_for(BatchNormTraining)
def _(op: BatchNormTraining, *specs: TensorSpec) -> CudaKernel | None:
    return training(op.axis, op.epsilon, *specs)


@kernel_for(BatchNormTrainingGrad)
def _(op: BatchNormTrainingGrad, *specs: TensorSpec) -> CudaKernel | None:
    return gradient(op.axis, op.epsilon, *specs)


@kernel_for(BatchNormInference)
def _(op: BatchNormInference, *specs: TensorSpec) -> CudaKernel | None:
    return inference(op.axis, op.epsilon, *specs)
