"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.losses.cross_entropy`."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....base.enums import LossReduce
from ....base.spec import Shape, TensorSpec
from ....expressions.arrays import xp
from ....families.indices import or_compute
from ....ir.op import Kernel, Op
from ....ops.losses.cross_entropy import (
    CrossEntropySlope,
    CrossEntropyTerms,
    SoftmaxCrossEntropy,
    SparseCrossEntropySlope,
    SparseSoftmaxCrossEntropy,
)
from ....ops.losses.loss import stretched, weighted
from ...kernel_table import kernel_for
from ...kernels import cross_entropy as kernels
from ...native.instruction import TYPES, instruction


def rows_kernel(name: str, *specs: TensorSpec) -> Kernel | None:
    """A kernel of :mod:`...kernels.cross_entropy` for static inputs of one type, the logits first."""
    return _by_rows(getattr(kernels, name), specs[0]) if _served(*specs) else None


def _served(logits: TensorSpec, *others: TensorSpec) -> bool:
    if logits.dtype.name not in ("FLOAT", "DOUBLE") or not logits.shape or 0 in logits.shape:
        return False
    return all(s.is_static and s.dtype is logits.dtype for s in (logits, *others))


def _by_rows(kernel: Any, logits: TensorSpec, ordered: Callable[..., Sequence[Any]] = lambda *arrays: arrays,
             op: Op | None = None) -> Kernel:
    """The kernel on rows of ``ordered`` arrays; it may refuse what ``op`` explains."""
    shape: Shape = logits.shape or ()
    columns, rows = shape[-1], math.prod(shape[:-1])

    def seen(arrays: Sequence[Any]) -> list[Any]:
        return [a.reshape((rows, columns) if a.ndim == len(shape) else rows) for a in ordered(*arrays)]

    def call(*arrays: Any) -> Any:
        return kernel(*seen([*map(np.ascontiguousarray, arrays[:-1]), arrays[-1]]))

    def native(*arrays: Any) -> Any:
        if not all(a.flags.carray for a in arrays):
            return None
        return instruction(kernel, seen(arrays), work=2.0 * rows * columns + 10, axes=[0] * len(arrays), refuses=op is not None)
    return Kernel(call if op is None else or_compute(op, call), native=native)


@kernel_for(SoftmaxCrossEntropy)
def _(op: SoftmaxCrossEntropy, *specs: TensorSpec) -> Kernel | None:
    predictions, _, label = specs
    if op.label_smoothing or op.loss_reduce is LossReduce.NONE:
        return None
    rows = rows_kernel("softmax_cross_entropy", predictions, label)
    if rows is None or predictions.shape is None:
        return None

    def call(logits: Any, weights: Any, label: Any, out: Any, losses: Any) -> None:
        rows.call(logits, label, losses)
        spread = None if weights is None else stretched(np, weights.astype(losses.dtype, copy=False), losses.shape)
        out[...] = weighted(xp, losses, spread, op.loss_reduce)
    return Kernel(call, (TensorSpec(predictions.shape[:-1], predictions.dtype),))


@kernel_for(CrossEntropyTerms)
def _(op: CrossEntropyTerms, *specs: TensorSpec) -> Kernel | None:
    return rows_kernel("softmax_cross_entropy", *specs)


@kernel_for(CrossEntropySlope)
def _(op: CrossEntropySlope, *specs: TensorSpec) -> Kernel | None:
    return rows_kernel("softmax_cross_entropy_gradient", *specs)


@kernel_for(SparseSoftmaxCrossEntropy, SparseCrossEntropySlope)
def _(op: SparseSoftmaxCrossEntropy | SparseCrossEntropySlope, labels: TensorSpec, logits: TensorSpec, *more: TensorSpec) -> Kernel | None:
    if not _served(logits, *more) or not labels.is_static or not labels.dtype.is_integer or labels.dtype.numpy not in TYPES:
        return None
    kernel = kernels.sparse_cross_entropy_gradient if more else kernels.sparse_cross_entropy
    return _by_rows(kernel, logits, lambda labels, logits, *rest: (logits, labels, *rest), op)
