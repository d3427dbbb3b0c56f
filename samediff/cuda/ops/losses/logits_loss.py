"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.losses.logits_loss`."""
from __future__ import annotations

from ....base.spec import TensorSpec, normalize_axis
from ....ops.losses.logits_loss import SoftmaxCrossEntropyWithLogits
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.sweep import folded
from ...sweeps.table import CROSS_ENTROPY


@kernel_for(SoftmaxCrossEntropyWithLogits)
def _(op: SoftmaxCrossEntropyWithLogits, *specs: TensorSpec) -> CudaKernel | None:
    logits, labels = specs
    if not logits.shape or logits.shape != labels.shape or not labels.dtype.is_floating:
        return None
    return folded(CROSS_ENTROPY["labels"], (normalize_axis(op.classes_dim, len(logits.shape)),), specs, specs[:1])
