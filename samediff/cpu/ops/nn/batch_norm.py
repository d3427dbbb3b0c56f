"""Batch normalization on the CPU, float32 and float64, channels on the second or the last axis."""
from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.nn.batch_norm import BatchNormInference, BatchNormTraining, BatchNormTrainingGrad
from ...kernel_table import kernel_for


def _shape(axis: int, x: TensorSpec, *others: TensorSpec | None) -> tuple[int, int, int] | None:
    """(batch, channels, space) when the kernels here serve the arrays; channels-last counts as space 1."""
    given = [s for s in (x, *others) if s is not None]
    if any(not s.is_static or s.dtype is not x.dtype for s in given) or x.dtype not in (DataType.FLOAT, DataType.DOUBLE):
        return None
    sizes = x.shape or ()
    axis %= len(sizes)
    if 0 in sizes or axis not in (1, len(sizes) - 1):
        return None
    if axis == len(sizes) - 1:
        return math.prod(sizes[:-1]), sizes[-1], 1
    return sizes[0], sizes[1], math.prod(sizes[2:])


class _Affine:
    """Scale and shift, ones and zeros where there are none."""

    def __init__(self, x: TensorSpec, channels: int) -> None:
        self.ones = np.ones(channels, x.dtype.numpy)
        self.zeros = np.zeros(channels, x.dtype.numpy)

    def of(self, gamma: Any, beta: Any = None) -> tuple[Any, Any]:
        return self.ones if gamma is None else gamma, self.zeros if beta is None else beta


def _dense(x: Any, shape: tuple[int, int, int]) -> Any:
    return np.ascontiguousarray(x).reshape(shape)


@kernel_for(BatchNormTraining)
def training(op: BatchNormTraining, *specs: TensorSpec) -> Kernel | None:
    """``call(x, mean, variance[, gamma, beta], y, m, v)``; the given statistics are not read."""
    shape = _shape(op.axis, *specs)
    if shape is None:
        return None
    from ...kernels.batch_norm import batch_normalize_training
    affine, number = _Affine(specs[0], shape[1]), specs[0].dtype.numpy.type(op.epsilon)

    def call(x: Any, *rest: Any) -> None:
        *given, y, m, v = rest
        batch_normalize_training(_dense(x, shape), *affine.of(*(*given[2:], None, None)[:2]), y.reshape(shape), m, v, number, 0, 1)

    def native(x: Any, *rest: Any) -> Any:
        *given, y, m, v = rest
        return _instruction(batch_normalize_training, [x, *affine.of(*(*given[2:], None, None)[:2]), y, m, v], number, 0.4, shape, (0, 3))
    return Kernel(call, native=native)


@kernel_for(BatchNormInference)
def inference(op: BatchNormInference, *specs: TensorSpec) -> Kernel | None:
    """``call(x, mean, variance[, gamma, beta], y, m, v)``."""
    shape = _shape(op.axis, *specs)
    if shape is None:
        return None
    from ...kernels.batch_norm import batch_normalize, copy_statistics
    from ...native.instruction import instruction
    affine, number = _Affine(specs[0], shape[1]), specs[0].dtype.numpy.type(op.epsilon)

    def call(x: Any, mean: Any, variance: Any, *rest: Any) -> None:
        *given, y, m, v = rest
        m[...], v[...] = mean, variance
        batch_normalize(_dense(x, shape), m, v, *affine.of(*(*given, None, None)[:2]), y.reshape(shape), number)

    def native(x: Any, mean: Any, variance: Any, *rest: Any) -> Any:
        *given, y, m, v = rest
        arrays = [x, mean, variance, *affine.of(*(*given, None, None)[:2]), y]
        made = _instruction(batch_normalize, arrays, number, 0.2, shape, (0, 5), by_channel=False)
        return made and [made, instruction(copy_statistics, [mean, variance, m, v], work=20.0)]
    return Kernel(call, native=native)


@kernel_for(BatchNormTrainingGrad)
def gradient(op: BatchNormTrainingGrad, *specs: TensorSpec) -> Kernel | None:
    """``call(x, g, mean, variance[, gamma], dx, dgamma, dbeta)``."""
    shape = _shape(op.axis, *specs)
    if shape is None:
        return None
    from ...kernels.batch_norm import batch_normalize_backward
    affine, number = _Affine(specs[0], shape[1]), specs[0].dtype.numpy.type(op.epsilon)

    def call(x: Any, g: Any, mean: Any, variance: Any, *rest: Any) -> None:
        *given, dx, dgamma, dbeta = rest
        gamma = affine.of(*(*given, None)[:1])[0]
        batch_normalize_backward(_dense(x, shape), _dense(g, shape), mean, variance, gamma, dx.reshape(shape), dgamma, dbeta, number, 0, 1)

    def native(x: Any, g: Any, mean: Any, variance: Any, *rest: Any) -> Any:
        *given, dx, dgamma, dbeta = rest
        arrays = [x, g, mean, variance, affine.of(*(*given, None)[:1])[0], dx, dgamma, dbeta]
        return _instruction(batch_normalize_backward, arrays, number, 0.5, shape, (0, 1, 5))
    return Kernel(call, native=native)


def _instruction(kernel: Any, arrays: Sequence[Any], epsilon: Any, cost: float, shape: tuple[int, int, int], whole: Collection[int],
                 by_channel: bool = True) -> Any:
    """The call of a kernel, ``cost`` nanoseconds an element; it takes the arrays at ``whole`` as (batch, channels, space).

    Parts have channels of their own, or examples.
    """
    from ...native.instruction import instruction
    if not all(a.flags.carray for a in arrays):
        return None
    seen = [a.reshape(shape) if k in whole else a for k, a in enumerate(arrays)]
    axes = None if by_channel or shape[0] == 1 else [0 if k in whole else None for k in range(len(arrays))]
    return instruction(kernel, seen, (epsilon,), work=20 + cost * math.prod(shape), axes=axes, parts=by_channel)
