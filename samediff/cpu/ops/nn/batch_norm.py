"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.nn.batch_norm`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.nn.batch_norm import BatchNormInference, BatchNormTraining, BatchNormTrainingGrad
from ...kernel_table import kernel_for
from ...routines.batch_norm import gradient, inference, training


@kernel_for(BatchNormTraining)
def _(op: BatchNormTraining, *specs: TensorSpec) -> Kernel | None:
    return training(op.axis, op.epsilon, *specs)


@kernel_for(BatchNormTrainingGrad)
def _(op: BatchNormTrainingGrad, *specs: TensorSpec) -> Kernel | None:
    return gradient(op.axis, op.epsilon, *specs)


@kernel_for(BatchNormInference)
def _(op: BatchNormInference, *specs: TensorSpec) -> Kernel | None:
    return inference(op.axis, op.epsilon, *specs)
