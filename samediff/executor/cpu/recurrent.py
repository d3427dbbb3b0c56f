"""Recurrent ops over whole sequences on the CPU: one product for the inputs of all steps, then one compiled loop over time.

The rows of a batch do not depend on each other, so large sequences are worked on by several threads.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...datatype import DataType
from ...op import Kernel
from ...spec import TensorSpec
from .blas_threads import one_thread
from .products import product, row_major
from .threads import parts_of, run_parts

if TYPE_CHECKING:
    from ...ops.lstm_sequence import LstmAttributes

Specs = tuple[TensorSpec | None, ...]


def fits(given: Specs) -> bool:
    """Static, not empty, float32 or float64, and a BLAS library to call."""
    x, rw = given[0], given[2]
    if x is None or rw is None or x.dtype not in (DataType.FLOAT, DataType.DOUBLE) or any(s and not s.is_static for s in given):
        return False
    if 0 in (*(x.shape or ()), *(rw.shape or ())):
        return False
    from .blas import available
    return available()


def dense(array: Any) -> Any:
    """C-contiguous and writable, as kernels are compiled for; a copy where it has to be."""
    found = np.ascontiguousarray(array)
    return found if found.flags.writeable else found.copy()


def or_empty(array: Any, dtype: Any, shape: tuple[int, ...] = (0, 0)) -> Any:
    """An input, or what stands for one that is left out."""
    return np.zeros(shape, dtype) if array is None else dense(array).astype(dtype, copy=False)


def side_by_side(call: Callable[[int, int, int], object], parts: list[tuple[int, int]]) -> None:
    """Parts of the batch on their threads, each with BLAS on one."""
    one_thread(run_parts)(call, parts)


def project(x: Any, w: Any, out: Any) -> None:
    """The rows of all steps (T, N, in) by the weights."""
    target = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    product(np.ascontiguousarray(x).reshape(-1, x.shape[2]), w, target.reshape(-1, out.shape[2]))
    if target is not out:
        out[...] = target


def weight_gradients(x: Any, w: Any, h0: Any, states: Any, dz: Any, targets: tuple[Any, ...], reverse: bool = False) -> None:
    """dx, dw, drw and db from the gradients of the sums of all steps."""
    dx, dw, drw, db = targets
    flat = dz.reshape(-1, dz.shape[2])
    project(dz, w.T, dx)
    product(np.ascontiguousarray(x).reshape(-1, x.shape[2]).T, flat, dw)
    before, after = (states[1:], dz[:-1]) if reverse else (states[:-1], dz[1:])
    product(np.ascontiguousarray(before).reshape(-1, before.shape[2]).T, after.reshape(-1, dz.shape[2]), drw)
    if h0 is not None:
        drw += h0.T @ dz[-1 if reverse else 0]
    db[...] = flat.sum(0).reshape(db.shape)


def work(rw: TensorSpec, x: TensorSpec) -> int:
    """Multiplications of all steps."""
    return int(np.prod((*(x.shape or ())[:2], *(rw.shape or ())), dtype=np.int64))


def lstm(op: LstmAttributes, given: Specs) -> Kernel | None:
    """``call(inputs, states, cells, gates, squashed)``; None when the loops here do not serve it."""
    x_spec, rw_spec = given[0], given[2]
    if not op.is_plain() or not fits(given) or x_spec is None or rw_spec is None:
        return None
    from .kernels.lstm_sequence import lstm_forward
    dtype, batch = x_spec.dtype.numpy, (x_spec.shape or ())[1]
    parts = parts_of(batch, work(rw_spec, x_spec))

    def call(*arrays: Any) -> None:
        inputs: list[Any] = [*arrays[:-4], *[None] * (12 - len(arrays))]
        x, w, rw, b, peephole, h0, c0, mask = inputs
        states, cells, gates, squashed = arrays[-4:]
        project(x, w, gates)
        bias, start = dense(op.bias(np, b, gates[0])), (batch, states.shape[2])
        rest = (or_empty(peephole if peephole is None else peephole.reshape(3, -1), dtype), or_empty(h0, dtype, start),
                or_empty(c0, dtype, start), or_empty(mask, dtype))
        matrix, turned = row_major(rw)

        def run(_: int, low: int, high: int) -> None:
            lstm_forward(gates, matrix, turned, bias, *rest, states, cells, squashed, *op.blocks, dtype.type(op.clip), op.hold,
                         op.reverse, h0 is not None, low, high)
        side_by_side(run, parts)
    return Kernel(call)


def lstm_gradient(op: LstmAttributes, given: Specs) -> Kernel | None:
    """``call(inputs, states, cells, gates, squashed, gh, gc, gradients, dz)``."""
    x_spec, rw_spec = given[0], given[2]
    if not op.is_plain() or not fits(given) or x_spec is None or rw_spec is None:
        return None
    from .kernels.lstm_sequence import lstm_backward
    dtype, (count, batch, _) = x_spec.dtype.numpy, x_spec.shape or (0, 0, 0)
    units = (rw_spec.shape or ())[0]
    parts = parts_of(batch, work(rw_spec, x_spec))

    def call(*arrays: Any) -> None:
        (x, w, rw, _, peephole, h0, c0, mask), (states, cells, gates, squashed, gh, gc) = arrays[:8], arrays[8:14]
        dx, dw, drw, db, dp, dh0, dc0 = arrays[14:21]
        dz = arrays[21]
        start = (batch, units)
        rest = (or_empty(peephole if peephole is None else peephole.reshape(3, -1), dtype), or_empty(h0, dtype, start),
                or_empty(c0, dtype, start), or_empty(mask, dtype))
        saved = [dense(a) for a in (cells, squashed, gh, gc)]
        gates_, (matrix, turned) = dense(gates), row_major(rw)
        carried = np.zeros((2, *start), dtype)
        peeps = np.zeros((len(parts), 3, units), dtype)

        def run(k: int, low: int, high: int) -> None:
            lstm_backward(gates_, matrix, turned, *rest, *saved, dz, *carried, peeps[k], *op.blocks, dtype.type(op.clip), op.hold,
                          op.reverse, low, high)
        side_by_side(run, parts)
        dh0[...], dc0[...], dp[...] = carried[0], carried[1], peeps.sum(0).reshape(dp.shape)
        weight_gradients(x, w, h0, states, dz, (dx, dw, drw, db), op.reverse)
    return Kernel(call, (TensorSpec((count, batch, 4 * units), x_spec.dtype),))


def rnn(activation: str, given: Specs) -> Kernel | None:
    """``call(inputs, states, sums)`` for a simple recurrent network."""
    x_spec, rw_spec = given[0], given[2]
    if not fits(given) or x_spec is None or rw_spec is None:
        return None
    from .kernels.rnn_sequence import ACTIVATIONS, rnn_forward
    if activation not in ACTIVATIONS:
        return None
    dtype, batch, kind = x_spec.dtype.numpy, (x_spec.shape or ())[1], ACTIVATIONS.index(activation)
    parts = parts_of(batch, work(rw_spec, x_spec))

    def call(*arrays: Any) -> None:
        inputs: list[Any] = [*arrays[:-2], *[None] * (8 - len(arrays))]
        x, w, rw, b, h0, mask = inputs
        states, sums = arrays[-2:]
        project(x, w, sums)
        units, (matrix, turned) = states.shape[2], row_major(rw)
        bias = np.zeros(units, dtype) if b is None else dense(b).reshape(-1)
        first, masks = or_empty(h0, dtype, (batch, units)), or_empty(mask, dtype)

        def run(_: int, low: int, high: int) -> None:
            rnn_forward(sums, matrix, turned, bias, first, masks, states, kind, h0 is not None, low, high)
        side_by_side(run, parts)
    return Kernel(call)


def rnn_gradient(activation: str, given: Specs) -> Kernel | None:
    """``call(inputs, states, sums, gh, gradients, dz)``."""
    x_spec, rw_spec = given[0], given[2]
    if not fits(given) or x_spec is None or rw_spec is None:
        return None
    from .kernels.rnn_sequence import ACTIVATIONS, rnn_backward
    if activation not in ACTIVATIONS:
        return None
    dtype, (count, batch, _), kind = x_spec.dtype.numpy, x_spec.shape or (0, 0, 0), ACTIVATIONS.index(activation)
    units = (rw_spec.shape or ())[0]
    parts = parts_of(batch, work(rw_spec, x_spec))

    def call(x: Any, w: Any, rw: Any, b: Any, h0: Any, mask: Any, states: Any, sums: Any, gh: Any, dx: Any, dw: Any, drw: Any, db: Any,
             dh0: Any, dz: Any) -> None:
        (matrix, turned), masks, carried = row_major(rw), or_empty(mask, dtype), np.zeros((batch, units), dtype)
        before, upstream = dense(sums), dense(gh)

        def run(_: int, low: int, high: int) -> None:
            rnn_backward(before, matrix, turned, masks, upstream, dz, carried, kind, low, high)
        side_by_side(run, parts)
        dh0[...] = carried
        weight_gradients(x, w, h0, states, dz, (dx, dw, drw, db))
    return Kernel(call, (TensorSpec((count, batch, units), x_spec.dtype),))
