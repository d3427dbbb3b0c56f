"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.shape.slicing`."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....base.spec import Shape, TensorSpec
from ....families.indices import or_compute
from ....ir.op import Kernel
from ....ops.shape.slicing import ReverseSequence, SliceGrad, index_of
from ...code.fused import stored
from ...kernel_table import kernel_for
from ...kernels.reverse_sequence import reverse_sequence
from ...native.instruction import TYPES, instruction


@kernel_for(SliceGrad)
def _(op: SliceGrad, *specs: TensorSpec) -> Kernel | None:
    if len(specs) > 2 or not all(s.is_static for s in specs):
        return None
    shape: Shape = specs[1].shape or ()
    index = index_of(shape, op.of.entries(len(shape)))

    def call(x: Any, like: Any, out: Any) -> None:
        out[...] = 0
        out[index] = x

    def native(x: Any, like: Any, out: Any) -> Any:
        zeros, part = stored(np.zeros((), x.dtype), out), stored(x, out[index])
        return None if zeros is None or part is None else [zeros, part]
    return Kernel(call, native=native)


@kernel_for(ReverseSequence)
def _(op: ReverseSequence, x: TensorSpec, lengths: TensorSpec) -> Kernel | None:
    if not (x.is_static and lengths.is_static and x.dtype.numpy in TYPES and lengths.dtype.numpy in TYPES) or 0 in (x.shape or ()):
        return None
    shape: Shape = x.shape or ()
    batch, seq = op.batch_dim % len(shape), op.seq_dim % len(shape)
    first, last = sorted((batch, seq))
    five = [math.prod(shape[:first]), shape[first], math.prod(shape[first + 1:last]), shape[last], math.prod(shape[last + 1:])]

    def seen(array: Any) -> Any:
        array = array.reshape(five)
        return array if batch < seq else array.swapaxes(1, 3)

    def call(x: Any, lengths: Any, out: Any) -> bool:
        return bool(reverse_sequence(seen(np.ascontiguousarray(x)), np.ascontiguousarray(lengths).reshape(-1), seen(out)))

    def native(x: Any, lengths: Any, out: Any) -> Any:
        if not (x.flags.c_contiguous and lengths.flags.c_contiguous and out.flags.c_contiguous):
            return None
        return instruction(reverse_sequence, [seen(x), lengths.reshape(-1), seen(out)], work=10 + out.size, refuses=True)
    return Kernel(or_compute(op, call), native=native)
