"""Kernels of ops that are one loop over elements, from array code that is traced."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import Shape, TensorSpec, size
from ...expressions import expression as ex
from ...plans.actions import Action, CudaKernel
from ...plans.sweeps.spec import Sweep
from ..code.fused import fused_launch
from .sweep import folded


def launches(exprs: Sequence[ex.Expr], inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Action]:
    """The loop over the outputs, if there is anything to do."""
    made = fused_launch(exprs, inputs, outputs)
    return [] if made is None else [made]


@functools.lru_cache(maxsize=1024)
def traced(code: Callable[..., Any], dtypes: tuple[Any, ...]) -> tuple[ex.Expr, ...]:
    """The expressions that array code computes."""
    return ex.trace(code, dtypes)


def loop(code: Callable[..., Any], specs: Sequence[TensorSpec], shapes: Sequence[Shape | None] = ()) -> CudaKernel | None:
    """``(*inputs, out)``: array code as one loop; ``shapes`` says how inputs are seen that broadcast in another shape than their own."""
    if any(not s.is_static or not s.dtype.is_numeric for s in specs):
        return None
    exprs = traced(code, tuple(s.dtype.numpy for s in specs))
    seen = [*shapes, *[None] * (len(specs) - len(shapes))]

    def actions(*arrays: Any) -> list[Action]:
        *given, out = arrays
        return launches([ex.cast(e, out.dtype) for e in exprs], [a if s is None else a.reshape(s) for a, s in zip(given, seen)], [out])
    return CudaKernel(actions)


def constants(value: Any) -> CudaKernel:
    """``(*inputs, out)``: one number everywhere; of the inputs only shapes matter."""
    return CudaKernel(lambda *arrays: launches([ex.constant(value, arrays[-1].dtype)], [], arrays[-1:]))


def by_rows(sweep: Sweep, *specs: TensorSpec) -> CudaKernel | None:
    """``(*inputs, out)``: a sweep over each example, all of whose values count as one row."""
    if any(not s.is_static or s.dtype is not specs[0].dtype for s in specs):
        return None
    flat = [TensorSpec(((s.shape or (1,))[0], math.prod((s.shape or ())[1:])), s.dtype) for s in specs]
    return folded(sweep, (1,), flat, flat[:1])


def _same(xp: Any, x: Any) -> Any:
    return x


def _quotient(xp: Any, x: Any, n: Any) -> Any:
    return x / n


def spread_quotient(shape: Shape, x: TensorSpec, like: TensorSpec, divisor: int) -> CudaKernel:
    """``(x, like, out)``: x, seen as ``shape`` and repeated, over the elements of ``like`` for one of x, less ``divisor``."""
    dtype = x.dtype.numpy
    count = dtype.type((size(like.shape) // size(x.shape) if size(x.shape) else 0) - divisor)
    exprs = traced(_quotient, (dtype, dtype))
    return CudaKernel(lambda x, like, out: launches(exprs, [x.reshape(shape), count], [out]))


def summed(axes: Sequence[int], x: TensorSpec, sweep: Sweep, others: int) -> CudaKernel | None:
    """``(x, *others, out)``: a sweep over the axes of x; of the others only shapes matter."""
    inner = folded(sweep, axes, [x], [x])
    if inner is None:
        return None
    call = inner.actions
    return CudaKernel(lambda x, *rest: call(x, *rest[others:]), inner.workspace)


def masked(test: Callable[..., Any], sweep: Sweep, axes: Sequence[int], x: TensorSpec) -> CudaKernel | None:
    """``(x, out)``: a sweep over the mask of the elements for which a test holds; LONG."""
    mask = TensorSpec(x.shape, DataType.BOOL)
    inner = folded(sweep, axes, [mask], [TensorSpec(None, DataType.LONG)])
    if inner is None or not x.is_static or x.dtype.numpy.kind not in "biuf":
        return None
    call, exprs = inner.actions, ex.trace(lambda xp, x: test(xp, x) != 0, [x.dtype.numpy])

    def actions(x: Any, out: Any, holds: Any, *work: Any) -> list[Action]:
        return [*launches(exprs, [x], [holds]), *call(holds, out, *work)]
    return CudaKernel(actions, (mask, *inner.workspace))


def aligned(shape: Sequence[int], axes: Sequence[int], rank: int) -> Shape:
    """The shape with which an array of those axes stands beside one of ``rank`` axes."""
    if len(shape) == rank != len(axes):
        return tuple(shape)
    made = [1] * rank
    for n, axis in zip(shape, axes):
        made[axis] = n
    return tuple(made)


def number(value: float, dtype: Any) -> Any:
    """A number as an argument of a loop; those of 16 bits are worked with as float32."""
    return np.float32(value) if dtype.itemsize == 2 else dtype.type(value)
