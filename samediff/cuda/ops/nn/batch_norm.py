"""Batch normalization on a device: sweeps for statistics, fused loops for the rest; channels on any axis.

Statistics of numbers of 16 bits are kept in float32 on the way.
"""
from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from ....base.datatype import DataType
from ....base.spec import Shape, TensorSpec
from ....expressions import expression as ex
from ....ops.nn.batch_norm import BatchNormInference, BatchNormTraining, BatchNormTrainingGrad
from ....plans.actions import Action, ArrayCopy, CudaKernel
from ....plans.sweeps.spec import Stage, Sweep
from ....plans.sweeps.table import far_unit, mean, second, squared
from ...kernel_table import kernel_for
from ...sweeps.elementwise import aligned, launches, number, traced
from ...sweeps.sweep import folded
from ...sweeps.table import statistics


def _wide(x: Any) -> Any:
    return x.astype("float32") if x.dtype.itemsize == 2 else x


@functools.lru_cache(maxsize=256)
def _normalization(epsilon: float, has_left: bool, has_gamma: bool, has_beta: bool) -> Any:
    """gamma (x - mean - left) / sqrt(variance + epsilon) + beta, where ``left`` is what rounding took from the mean; with that, the
    second array is not the variance, but what differences are multiplied by."""
    def code(xp: Any, *arrays: Any) -> Any:
        x, mean, variance, *rest = map(_wide, arrays)
        scale = variance if has_left else 1 / xp.sqrt(variance + epsilon)
        scale = scale * rest[int(has_left)] if has_gamma else scale
        y = x - mean
        y = (y - rest[0] if has_left else y) * scale
        return y + rest[-1] if has_beta else y
    return code


@functools.lru_cache(maxsize=256)
def _slope(has_gamma: bool) -> Any:
    def code(xp: Any, x: Any, g: Any, mean: Any, scale: Any, count: Any, by_gamma: Any, by_beta: Any, left: Any, *gamma: Any) -> Any:
        x, g, mean, *affine = map(_wide, (x, g, mean, *gamma))
        slope = g - by_beta / count - (x - mean - left) * scale * (by_gamma / count)
        return slope * (scale * affine[0] if has_gamma else scale)
    return code


def _stored(dtype: Any) -> DataType:
    """The type in which statistics are kept on the way."""
    return DataType.FLOAT if dtype.itemsize == 2 else DataType.of(dtype)


def _loop(code: Any, arrays: Sequence[Any], shapes: Sequence[Shape], out: Any) -> list[Action]:
    exprs = [ex.cast(e, out.dtype) for e in traced(code, tuple(a.dtype for a in arrays))]
    return launches(exprs, [a.reshape(s) if s else a for a, s in zip(arrays, shapes)], [out])


def _converted(source: Any, target: Any) -> list[Action]:
    return launches([ex.input_(0, source.dtype)], [source], [target])


def _static(*specs: TensorSpec | None) -> bool:
    return all(s is None or s.is_static for s in specs)


def _others(shape: Shape, axis: int) -> tuple[int, ...]:
    return tuple(i for i in range(len(shape)) if i != axis % len(shape))


@kernel_for(BatchNormTraining)
def training(op: BatchNormTraining, *specs: TensorSpec) -> CudaKernel | None:
    """``(x, mean, variance[, gamma, beta], y, m, v)``; the given statistics are not read."""
    axis, epsilon = op.axis, op.epsilon
    if not _static(*specs):
        return None
    shape, dtype = specs[0].shape or (), specs[0].dtype.numpy
    kept = TensorSpec((shape[axis],), _stored(dtype))
    found = folded(statistics(epsilon), _others(shape, axis), specs[:1], [kept] * 4)
    if found is None:
        return None
    sums, brief = found, kept.dtype.numpy != dtype

    def actions(x: Any, *rest: Any) -> list[Action]:
        given, (y, m, v), work = rest[:len(specs) - 1], rest[len(specs) - 1:len(specs) + 2], rest[len(specs) + 2:]
        left, factor, work = work[0], work[1], work[2:]
        own = work[:2] if brief else (m, v)
        made = [*sums.actions(x, *own, left, factor, *work[2 * brief:])]
        for source, target in zip(own, (m, v)):
            made += _converted(source, target) if brief else []
        return [*made, *_applied(axis, epsilon, x, (own[0], factor, left), given[2:], y)]
    return CudaKernel(actions, (*[kept] * (4 if brief else 2), *sums.workspace))


def _applied(axis: int, epsilon: float, x: Any, statistics: Sequence[Any], affine: Sequence[Any], y: Any) -> list[Action]:
    gamma, beta = (*affine, None, None)[:2]
    channel = aligned((x.shape[axis],), (axis % len(x.shape),), len(x.shape))
    arrays = [x, *statistics, *(a for a in (gamma, beta) if a is not None)]
    code = _normalization(epsilon, len(statistics) == 3, gamma is not None, beta is not None)
    return _loop(code, arrays, [(), *[channel] * (len(arrays) - 1)], y)


@kernel_for(BatchNormInference)
def inference(op: BatchNormInference, *specs: TensorSpec) -> CudaKernel | None:
    """``(x, mean, variance[, gamma, beta], y, m, v)``."""
    axis, epsilon = op.axis, op.epsilon
    if not _static(*specs):
        return None

    def actions(x: Any, mean: Any, variance: Any, *rest: Any) -> list[Action]:
        *affine, y, m, v = rest
        return [*_applied(axis, epsilon, x, (mean, variance), affine, y), ArrayCopy(mean, m), ArrayCopy(variance, v)]
    return CudaKernel(actions)


def of_images(is_training: bool, axis: int, epsilon: float, *specs: TensorSpec | None) -> CudaKernel | None:
    """``(x, scale, offset[, mean, variance], y, m, v)``; in training v is the sample variance, y takes that of the population."""
    x, given = specs[0], len(specs)
    if x is None or not _static(*specs):
        return None
    shape = x.shape or ()
    kept = TensorSpec((shape[axis],), _stored(x.dtype.numpy))
    found = folded(statistics(epsilon, True), _others(shape, axis), [x], [kept] * 5) if is_training else CudaKernel(lambda *arrays: [])
    if found is None or (is_training and 0 in shape):
        return None
    sums = found

    def actions(x: Any, scale: Any, offset: Any, *rest: Any) -> list[Action]:
        (y, m, v), work = rest[given - 3:given], rest[given:]
        if not is_training:
            mean, variance = rest[:2]
            return [*_applied(axis, epsilon, x, (mean, variance), (scale, offset), y), ArrayCopy(mean, m), ArrayCopy(variance, v)]
        mean, variance, left, factor, sample, *more = work
        made: list[Action] = [*sums.actions(x, mean, variance, left, factor, sample, *more),
                              *_applied(axis, epsilon, x, (mean, factor, left), (scale, offset), y)]
        return [*made, *_converted(mean, m), *_converted(sample, v)]
    return CudaKernel(actions, (*[kept] * 5, *sums.workspace) if is_training else ())


@functools.lru_cache(maxsize=64)
def _sums(epsilon: float) -> Sweep:
    """Of x, upstream gradients, mean and variance: the gradients by gamma and by beta, what rounding took from the mean, and
    1 / sqrt(variance + epsilon); a variance beyond the type is taken anew, in another unit."""
    def beyond(xp: Any, x0: Any, x2: Any, x3: Any) -> Any:
        return xp.where(x3 < xp.inf, 0, squared((x0 - x2) / far_unit(xp, x0)))

    def scale(xp: Any, x3: Any, t: Any, n: Any) -> Any:
        return 1 / xp.where(x3 < xp.inf, xp.sqrt(x3 + epsilon), xp.sqrt(t / n) * far_unit(xp, t))
    return Sweep((Stage(lambda x0, x1, x2: x1 * (x0 - x2)), Stage(second), Stage(lambda x0, x2: x0 - x2, "sum", mean),
                  Stage(beyond, "sum", scale)),
                 (lambda r0, r1, r2, r3: (r0 - r1 * r2) * r3, lambda r1: r1, lambda r2: r2, lambda r3: r3))


@kernel_for(BatchNormTrainingGrad)
def gradient(op: BatchNormTrainingGrad, *specs: TensorSpec) -> CudaKernel | None:
    """``(x, g, mean, variance[, gamma], dx, dgamma, dbeta)``."""
    axis, epsilon = op.axis, op.epsilon
    if not _static(*specs):
        return None
    shape, dtype = specs[0].shape or (), specs[0].dtype.numpy
    kept = TensorSpec((shape[axis],), _stored(dtype))
    channel = aligned((shape[axis],), (axis % len(shape),), len(shape))
    found = folded(_sums(epsilon), _others(shape, axis), specs[:4], [kept] * 4, [shape, shape, channel, channel])
    if found is None:
        return None
    sums, brief = found, kept.dtype.numpy != dtype
    count = number(max(math.prod(shape[i] for i in _others(shape, axis)), 1), dtype)

    def actions(x: Any, g: Any, mean: Any, variance: Any, *rest: Any) -> list[Action]:
        given, (dx, by_gamma, by_beta), work = rest[:len(specs) - 4], rest[len(specs) - 4:len(specs) - 1], rest[len(specs) - 1:]
        left, scale, work = work[0], work[1], work[2:]
        own = work[:2] if brief else (by_gamma, by_beta)
        made: list[Action] = [*sums.actions(x, g, mean, variance, *own, left, scale, *work[2 * brief:])]
        for source, target in zip(own, (by_gamma, by_beta)):
            made += _converted(source, target) if brief else []
        gamma = [a for a in given if a is not None]
        arrays = [x, g, mean, scale, count, *own, left, *gamma]
        shapes = [(), (), channel, channel, (), *[channel] * (3 + len(gamma))]
        return [*made, *_loop(_slope(bool(gamma)), arrays, shapes, dx)]
    return CudaKernel(actions, (*[kept] * (4 if brief else 2), *sums.workspace))


def given_statistics(axes: Sequence[int], epsilon: float, *specs: TensorSpec | None) -> CudaKernel | None:
    """``(x, mean, variance[, gamma, beta], y)``, each with the sizes of ``axes``."""
    if not _static(*specs):
        return None
    rank = len((specs[0] and specs[0].shape) or ())

    def actions(x: Any, *rest: Any) -> list[Action]:
        *given, y = rest
        mean, variance, gamma, beta = (*given, None, None)[:4]
        arrays = [x, *(a for a in (mean, variance, gamma, beta) if a is not None)]
        shapes: list[Shape] = [(), *(aligned(tuple(a.shape), axes, rank) for a in arrays[1:])]
        return _loop(_normalization(epsilon, False, gamma is not None, beta is not None), arrays, shapes, y)
    return CudaKernel(actions)
