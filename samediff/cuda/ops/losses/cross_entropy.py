"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.losses.cross_entropy`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.losses.cross_entropy import CrossEntropySlope, CrossEntropyTerms, SparseCrossEntropySlope, SparseSoftmaxCrossEntropy
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...sweeps.sweep import folded, swept
from ...sweeps.table import CROSS_ENTROPY


def rows_kernel(name: str, *specs: TensorSpec) -> CudaKernel | None:
    """The sweep of :mod:`~dl4py.samediff.cuda.sweeps` of that name; inputs with an axis less stand for rows."""
    shape = specs[0].shape
    if not shape or shape[-1] == 0 or any(not s.is_static for s in specs):
        return None
    sweep, axis = CROSS_ENTROPY[name], (len(shape) - 1,)
    shapes = [(s.shape or ()) if len(s.shape or ()) == len(shape) else (*(s.shape or ()), 1) for s in specs]
    return swept(sweep, axis, specs, shapes) if sweep.epilogue else folded(sweep, axis, specs, [specs[0]], shapes)


def _labels_first(inner: CudaKernel | None) -> CudaKernel | None:
    """A kernel of (logits, labels, …) for labels that come first."""
    return inner and CudaKernel(lambda labels, logits, *rest: inner.actions(logits, labels, *rest), inner.workspace)


@kernel_for(CrossEntropyTerms)
def _(op: CrossEntropyTerms, *specs: TensorSpec) -> CudaKernel | None:
    return rows_kernel("labels", *specs)


@kernel_for(CrossEntropySlope)
def _(op: CrossEntropySlope, *specs: TensorSpec) -> CudaKernel | None:
    return rows_kernel("labels_gradient", *specs)


@kernel_for(SparseSoftmaxCrossEntropy)
def _(op: SparseSoftmaxCrossEntropy, *specs: TensorSpec) -> CudaKernel | None:
    return _labels_first(rows_kernel("indices", specs[1], specs[0]))


@kernel_for(SparseCrossEntropySlope)
def _(op: SparseCrossEntropySlope, *specs: TensorSpec) -> CudaKernel | None:
    return _labels_first(rows_kernel("indices_gradient", specs[1], specs[0], specs[2]))
