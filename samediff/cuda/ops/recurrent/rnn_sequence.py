"""Simple recurrent networks over whole sequences on a device, in the manner of :mod:`.lstm_sequence`."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....ops.recurrent.rnn_sequence import RnnSequence, RnnSequenceGrad
from ....plans.actions import Action, CudaKernel, KernelLaunch
from ...kernel_table import kernel_for
from ...routines.activations import functions
from ...routines.products import swapped, times
from ...routines.recurrent_gradients import (
    Specs,
    column_sums,
    ended,
    fits,
    flag,
    input_gradients,
    kept_rows,
    recurrent_gradient,
    rows,
    shares_spec,
    step_grid,
)
from ...sources import source, type_name


def _text(before: str, given: Specs, bias: bool) -> tuple[str, int]:
    """The text, and how many rows a block of it takes; 0 where a step is a launch of its own."""
    x, rw, mask = given[0], given[2], given[5]
    assert x is not None and rw is not None
    units = (rw.shape or (0,))[0]
    kept = kept_rows(units, (x.shape or (0, 0))[1], x.dtype, 4)
    names = {"T": type_name(x.dtype), "M": "float" if mask is None else type_name(mask.dtype), "MASK": int(mask is not None),
             "BIAS": int(bias), **({"UNITS": units, "ROWS": kept} if kept else {})}
    return before + source("rnn", **names), kept


@kernel_for(RnnSequence)
def forward(op: RnnSequence, *specs: TensorSpec | None) -> CudaKernel | None:
    """``call(x, w, rw, b, h0, mask, states, sums)``."""
    given = (*specs, *[None] * (6 - len(specs)))
    x, _, rw, b, _, mask = given
    if x is None or rw is None or not fits(given[:5], mask):
        return None
    before = functions(x.dtype.numpy, activation=op.activation)
    if before is None:
        return None
    (count, batch, _), units = x.shape or (0, 0, 0), (rw.shape or (0,))[0]
    text, kept = _text(before, given, b is not None)

    def actions(*arrays: Any) -> list[Action]:
        inputs: list[Any] = [*arrays[:-2], *[None] * (8 - len(arrays))]
        (x, w, rw, b, h0, mask), (states, sums) = inputs, arrays[-2:]
        if not states.size:
            return []
        made = times(rows(x), w, rows(sums))
        if kept:
            args = rw, sums, *(sums if a is None else a for a in (b, h0, mask)), states, np.int32(count), np.int32(batch), \
                flag(h0 is not None)
            return [*made, KernelLaunch(text, "rnn_rows", (-(-batch // kept), 1, 1), (units, 1, 1), args)]
        for t in range(count):
            h = states[t - 1] if t else h0
            made += [] if h is None else times(h, rw, sums[t], 1.0)
            args = sums[t], *(sums if a is None else a for a in (b, None if mask is None else mask[t])), states[t], np.int32(batch), \
                np.int32(units)
            made.append(KernelLaunch(text, "rnn_step", *step_grid(batch * units), args))
        return made
    return CudaKernel(actions)


@kernel_for(RnnSequenceGrad)
def backward(op: RnnSequenceGrad, *given: TensorSpec | None) -> CudaKernel | None:
    """``call(x, w, rw, b, h0, mask, states, sums, gh, gradients, ...)``."""
    x, rw, mask = given[0], given[2], given[5]
    if x is None or rw is None or not fits((*given[:5], *given[6:]), mask):
        return None
    before = functions(x.dtype.numpy, activation=op.activation)
    if before is None:
        return None
    (count, batch, _), units = x.shape or (0, 0, 0), (rw.shape or (0,))[0]
    text, kept = _text(before, given, False)

    def steps(rw: Any, mask: Any, sums: Any, gh: Any, dz: Any, dh0: Any) -> list[Action]:
        if kept:
            args = rw, sums, sums if mask is None else mask, gh, dz, dh0, np.int32(count), np.int32(batch)
            return [KernelLaunch(text, "rnn_rows_back", (-(-batch // kept), 1, 1), (units, 1, 1), args)]
        made: list[Action] = []
        for t in reversed(range(count)):
            args = sums[t], sums if mask is None else mask[t], gh[t], dh0, dz[t], np.int32(batch), np.int32(units), flag(made)
            made.append(KernelLaunch(text, "rnn_step_back", *step_grid(batch * units), args))
            made += times(dz[t], swapped(rw), dh0)
        return made

    def actions(x: Any, w: Any, rw: Any, b: Any, h0: Any, mask: Any, states: Any, sums: Any, gh: Any, dx: Any, dw: Any, drw: Any, db: Any,
                dh0: Any, dz: Any, shares: Any) -> list[Action]:
        made = steps(rw, mask, sums, gh, dz, dh0) if states.size else ended(None, dh0)
        made += input_gradients(x, w, dz, dx, dw)
        return [*made, *recurrent_gradient(h0, states, dz, drw), *column_sums(rows(dz), db, shares)]
    return CudaKernel(actions, (TensorSpec((count, batch, units), x.dtype), shares_spec(count * batch, units, x.dtype)))


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    for activation in ("tanh", "sigmoid", "relu", "identity", "softsign"):
        for dtype in (DataType.FLOAT, DataType.DOUBLE, DataType.BFLOAT16):
            for units in (4, 1000):
                x, rw, mask = TensorSpec((2, 600, 4), dtype), TensorSpec((units, units), dtype), TensorSpec((2, 600), DataType.BOOL)
                before = functions(dtype.numpy, activation=activation) or ""
                yield f"rnn {activation} {dtype.name} {units}", _text(before, (x, None, rw, None, None, mask), True)[0]
