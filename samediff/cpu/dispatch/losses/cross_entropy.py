"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.losses.cross_entropy`."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....base.choices import LossReduce
from ....base.spec import TensorSpec
from ....expressions.arrays import xp
from ....ir.op import Kernel
from ....ops.losses.cross_entropy import CrossEntropySlope, CrossEntropyTerms, SoftmaxCrossEntropy
from ....ops.losses.loss import stretched, weighted
from ...kernel_table import kernel_for
from ...kernels import cross_entropy as kernels
from ...native.entry import instruction


def rows_kernel(name: str, *specs: TensorSpec) -> Kernel | None:
    """A kernel of :mod:`..executor.cpu.kernels.cross_entropy` for static inputs of one type."""
    logits = specs[0]
    if logits.dtype.name not in ("FLOAT", "DOUBLE") or not logits.shape:
        return None
    if any(not s.is_static or s.dtype is not logits.dtype for s in specs):
        return None
    kernel, columns, rows = getattr(kernels, name), logits.shape[-1], math.prod(logits.shape[:-1])
    shapes = [(rows, columns), (rows, columns), rows, (rows, columns)]

    def call(*arrays: Any) -> None:
        kernel(*(np.ascontiguousarray(a).reshape(s) for a, s in zip(arrays[:-1], shapes)), arrays[-1].reshape(shapes[len(arrays) - 1]))

    def native(*arrays: Any) -> Any:
        if not all(a.flags.carray for a in arrays):
            return None
        return instruction(kernel, [a.reshape(s) for a, s in zip(arrays, shapes)], work=2.0 * rows * columns + 10, axes=[0] * len(arrays))
    return Kernel(call, native=native)


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
