"""Gated recurrent units over whole sequences on a device, in the manner of :mod:`.lstm_sequence`."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....base.spec import TensorSpec
from ....ops.recurrent.gru_sequence import GruSequence, GruSequenceGrad
from ....plans.actions import Action, CudaKernel, KernelLaunch
from ...kernel_table import kernel_for
from ...routines.products import swapped, times
from ...routines.recurrent_gradients import (
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


def _setting(x: TensorSpec, wh: TensorSpec) -> tuple[str, int]:
    """The text, and how many rows a block of it takes; 0 where a step is a launch of its own."""
    kept = kept_rows((wh.shape or (0,))[0], (x.shape or (0, 0))[1], x.dtype, 3)
    return source("gru", T=type_name(x.dtype), **({"UNITS": (wh.shape or (0,))[0], "ROWS": kept} if kept else {})), kept


@kernel_for(GruSequence)
def forward(op: GruSequence, x: TensorSpec, h: TensorSpec, wx: TensorSpec, wh: TensorSpec, b: TensorSpec) -> CudaKernel | None:
    """``call(x, h0, wx, wh, b, states, saved, ...)``."""
    if not fits((x, h, wx, wh, b)):
        return None
    (count, batch, _), units = x.shape or (0, 0, 0), (wh.shape or (0,))[0]
    text, kept = _setting(x, wh)

    def actions(x: Any, h0: Any, wx: Any, wh: Any, b: Any, states: Any, saved: Any, sums: Any, product: Any) -> list[Action]:
        if not states.size:
            return []
        made = times(rows(x), wx, rows(sums))
        sizes = np.int32(batch), np.int32(units)
        if kept:
            args = wh, sums, b, h0, saved, states, np.int32(count), np.int32(batch)
            return [*made, KernelLaunch(text, "gru_rows", (-(-batch // kept), 1, 1), (3 * units, 1, 1), args)]
        for t in range(count):
            before = states[t - 1] if t else h0
            made += times(before, wh, product)
            made.append(KernelLaunch(text, "gru_step", *step_grid(batch * units),
                                     (sums[t], product, b, before, saved[t], states[t], *sizes)))
        return made
    return CudaKernel(actions, (TensorSpec((count, batch, 3 * units), x.dtype), TensorSpec((batch, 3 * units), x.dtype)))


@kernel_for(GruSequenceGrad)
def backward(op: GruSequenceGrad, *given: TensorSpec) -> CudaKernel | None:
    """``call(x, h0, wx, wh, b, states, saved, gh, dx, dh0, dwx, dwh, db, ...)``."""
    x, wh = given[0], given[3]
    if not fits(given):
        return None
    (count, batch, _), units = x.shape or (0, 0, 0), (wh.shape or (0,))[0]
    text, kept = _setting(x, wh)
    whole = TensorSpec((count, batch, 3 * units), x.dtype)

    def steps(h0: Any, wh: Any, states: Any, saved: Any, gh: Any, dh0: Any, dz: Any, dr: Any) -> list[Action]:
        args: Any
        if kept:
            args = wh, saved, h0, states, gh, dz, dr, dh0, np.int32(count), np.int32(batch)
            return [KernelLaunch(text, "gru_rows_back", (-(-batch // kept), 1, 1), (3 * units, 1, 1), args)]
        made: list[Action] = []
        for t in reversed(range(count)):
            before = states[t - 1] if t else h0
            args = saved[t], before, gh[t], dz[t], dr[t], dh0, np.int32(batch), np.int32(units), flag(made)
            made.append(KernelLaunch(text, "gru_step_back", *step_grid(batch * units), args))
            made += times(dr[t], swapped(wh), dh0, 1.0)
        return made

    def actions(x: Any, h0: Any, wx: Any, wh: Any, _: Any, states: Any, saved: Any, gh: Any, dx: Any, dh0: Any, dwx: Any, dwh: Any,
                db: Any, dz: Any, dr: Any, shares: Any) -> list[Action]:
        made = steps(h0, wh, states, saved, gh, dh0, dz, dr) if states.size else ended(None, dh0)
        made += input_gradients(x, wx, dz, dx, dwx)
        return [*made, *recurrent_gradient(h0, states, dr, dwh), *column_sums(rows(dz), db, shares)]
    return CudaKernel(actions, (whole, whole, shares_spec(count * batch, 3 * units, x.dtype)))


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    for dtype in ("float", "double", "half_t", "bfloat_t"):
        yield f"gru step {dtype}", source("gru", T=dtype)
        yield f"gru {dtype}", source("gru", T=dtype, UNITS=32, ROWS=3)
