"""The LSTM over whole sequences on a device.

The products of all inputs are one; then each step is a product and a launch. Of few units the weights of a column fit into the
registers of a thread: then one launch does all steps, each block those of a few rows.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import TensorSpec
from ....ops.recurrent.lstm_sequence import LstmAttributes, LstmSequence, LstmSequenceGrad
from ....plans.actions import Action, CudaKernel, KernelLaunch, ZeroFill
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
    shares_of,
    shares_spec,
    step_grid,
    summed,
    wide,
)
from ...sources import source, text_of, type_name


def _functions(op: LstmAttributes, dtype: DataType) -> str | None:
    return functions(dtype.numpy, activation=op.activation, gate=op.gate, output=op.output)


def _text(before: str, op: LstmAttributes, given: Specs, **names: Any) -> str:
    """The text for these inputs; ``before`` holds the functions."""
    x, mask = given[0], given[7]
    assert x is not None
    kinds = {"T": type_name(x.dtype), "M": "float" if mask is None else type_name(mask.dtype)}
    flags = {"BIAS": given[3] is not None, "PEEPHOLE": given[4] is not None, "MASK": mask is not None, "HOLD": op.hold, "CLIP": op.clip > 0,
             "SUMS": not op.is_plain()}
    cell = source("lstm_cell", **kinds, **{name: int(flag) for name, flag in flags.items()}, **names)
    return before + cell + text_of("lstm_rows.cu" if names else "lstm_steps.cu")


def _kept(units: int, batch: int, dtype: DataType) -> dict[str, Any]:
    """The arguments of the kernel of all steps; none where a step is a launch of its own."""
    many = kept_rows(units, batch, dtype, 4)
    return {"UNITS": units, "ROWS": many} if many else {}


def _order(op: LstmAttributes) -> Any:
    return np.int32(sum(block << 2 * i for i, block in enumerate(op.blocks)))


def _before(h0: Any, states: Any, rw: Any, sums: Any, reverse: bool) -> list[Action]:
    """Adds the products of the states before to the sums of all steps."""
    before, behind, first = (states[1:], sums[:-1], sums[-1]) if reverse else (states[:-1], sums[1:], sums[0])
    return [*times(rows(before), rw, rows(behind), 1.0), *([] if h0 is None else times(h0, rw, first, 1.0))]


@kernel_for(LstmSequence)
def forward(op: LstmSequence, *specs: TensorSpec | None) -> CudaKernel | None:
    """``call(x, w, rw, b, peephole, h0, c0, mask, states, cells, gates, squashed)``."""
    given = (*specs, *[None] * (8 - len(specs)))
    x, rw = given[0], given[2]
    if x is None or rw is None or not fits(given[:7], given[7]):
        return None
    before = _functions(op, x.dtype)
    if before is None:
        return None
    (count, batch, _), units = x.shape or (0, 0, 0), (rw.shape or (0,))[0]
    kept = _kept(units, batch, x.dtype)
    text = _text(before, op, given, **kept)
    numbers = np.float64(op.clip), np.float64(op.forget_bias)

    def actions(*arrays: Any) -> list[Action]:
        inputs: list[Any] = [*arrays[:-4], *[None] * (12 - len(arrays))]
        x, w, rw, b, peephole, h0, c0, mask = inputs
        states, cells, gates, squashed = arrays[-4:]
        if not states.size:
            return []
        made = times(rows(x), w, rows(gates))
        some = [gates if a is None else a for a in (b, peephole)]
        if kept:
            rest = [gates if a is None else a for a in (h0, c0, mask)]
            args = rw, gates, *some, *rest, cells, squashed, states, np.int32(count), np.int32(batch), _order(op), flag(h0 is not None), \
                flag(c0 is not None), flag(op.reverse), *numbers
            return [*made, KernelLaunch(text, "lstm_rows", (-(-batch // kept["ROWS"]), 1, 1), (4 * units, 1, 1), args)]
        for t, last in op.steps(count):
            h, c = (h0, c0) if last is None else (states[last], cells[last])
            made += [] if h is None else times(h, rw, gates[t], 1.0)
            last_of = [gates if a is None else a for a in (h, c, None if mask is None else mask[t])]
            args = gates[t], *some, *last_of, cells[t], squashed[t], states[t], np.int32(batch), np.int32(units), _order(op), \
                flag(h is not None), flag(c is not None), *numbers
            made.append(KernelLaunch(text, "lstm_step", *step_grid(batch * units), args))
        return made
    return CudaKernel(actions)


@kernel_for(LstmSequenceGrad)
def backward(op: LstmSequenceGrad, *given: TensorSpec | None) -> CudaKernel | None:
    """``call(inputs, states, cells, gates, squashed, gh, gc, gradients, ...)``."""
    x, rw = given[0], given[2]
    if x is None or rw is None or not fits((*given[:7], *given[8:]), given[7]):
        return None
    before = _functions(op, x.dtype)
    if before is None:
        return None
    (count, batch, _), units = x.shape or (0, 0, 0), (rw.shape or (0,))[0]
    all_rows = count * batch
    kept = _kept(units, batch, x.dtype)
    text, plain = (_text(before, op, given, **names) for names in (kept, {}))
    numbers, with_sums = (np.float64(op.clip), np.float64(op.forget_bias)), not op.is_plain()
    workspace = (TensorSpec((count, batch, 4 * units), x.dtype), shares_spec(all_rows, 4 * units, x.dtype),
                 TensorSpec((shares_of(all_rows), 3 * units), wide(x.dtype)),
                 *([TensorSpec((count, batch, 4 * units), x.dtype)] if with_sums else []))

    def steps(rw: Any, b: Any, peephole: Any, c0: Any, mask: Any, cells: Any, gates: Any, squashed: Any, gh: Any, gc: Any, dz: Any,
              dh0: Any, dc0: Any, sums: Any) -> list[Action]:
        fixed = [gates if a is None else a for a in (b, peephole)]
        if kept:
            some = [gates if a is None else a for a in (c0, mask)]
            args = rw, gates, gates if sums is None else sums, *fixed, *some, cells, squashed, gh, gates if gc is None else gc, dz, \
                dh0, dc0, np.int32(count), np.int32(batch), _order(op), \
                flag(c0 is not None), flag(gc is not None), flag(op.reverse), *numbers
            return [KernelLaunch(text, "lstm_rows_back", (-(-batch // kept["ROWS"]), 1, 1), (4 * units, 1, 1), args)]
        made: list[Action] = []
        held = float(op.hold and mask is not None)
        for t, last in reversed(op.steps(count)):
            c = c0 if last is None else cells[last]
            some = [gates if a is None else a for a in (c, None if mask is None else mask[t])]
            args = gates[t], gates if sums is None else sums[t], *fixed, *some, squashed[t], gh[t], gates if gc is None else gc[t], \
                dz[t], dh0, dc0, np.int32(batch), np.int32(units), _order(op), \
                flag(c is not None), flag(gc is not None), flag(made), *numbers
            made.append(KernelLaunch(text, "lstm_step_back", *step_grid(batch * units), args))
            made += times(dz[t], swapped(rw), dh0, held)
        return made

    def actions(*arrays: Any) -> list[Action]:
        (x, w, rw, b, peephole, h0, c0, mask), (states, cells, gates, squashed), (gh, gc) = arrays[:8], arrays[8:12], arrays[12:14]
        dx, dw, drw, db, dp, dh0, dc0, dz, shares, peepholes, *rest = arrays[14:]
        made: list[Action] = []
        if states.size:
            sums = rest[0] if rest else None
            if sums is not None:
                made += [*times(rows(x), w, rows(sums)), *_before(h0, states, rw, sums, op.reverse)]
            made += steps(rw, b, peephole, c0, mask, cells, gates, squashed, gh, gc, dz, dh0, dc0, sums)
        else:
            made += [*ended(None, dh0), *ended(None, dc0)]
        made += input_gradients(x, w, dz, dx if getattr(op, "dx", True) else None, dw)
        made += recurrent_gradient(h0, states, dz, drw, op.reverse)
        made += column_sums(rows(dz), db, shares)
        if peephole is None or not states.size:
            return [*made, ZeroFill(dp)] if dp.size else made
        args = gates, dz, cells, gates if c0 is None else c0, peepholes, np.int32(count), np.int32(batch), np.int32(units), _order(op), \
            flag(c0 is not None), flag(op.reverse), np.float64(op.clip)
        made.append(KernelLaunch(plain, "lstm_peepholes", (-(-units // 32), peepholes.shape[0], 1), (32, 8, 1), args))
        return [*made, summed(peepholes, dp)]
    return CudaKernel(actions, workspace)


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    mask = TensorSpec((1, 1), DataType.BOOL)
    for dtype in (DataType.FLOAT, DataType.DOUBLE, DataType.HALF, DataType.BFLOAT16):
        one = TensorSpec((1,), dtype)
        for op, some in ((LstmSequence(), False), (LstmSequence(clip=1.0, hold=True), True), (LstmSequence(gate="hardsigmoid"), True)):
            given = (one, one, one, *((one, one, one, one, mask) if some else [None] * 5))
            for names in ({}, {"UNITS": 32, "ROWS": 4}):
                yield f"lstm {op!r} {dtype.name} {names}", _text(_functions(op, dtype) or "", op, given, **names)
