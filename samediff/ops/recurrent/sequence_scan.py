"""Recurrent sequences as scans of their cell: for the gradients of their gradients, and for cells that back ends have no kernel of.

Back-propagation through time is one node without a derivative of its own; a scan has derivatives of any order.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...expressions.tracing import TraceError
from ...families.composite import composite_grad
from ...families.subgraph import SubGraph
from ...ir.graph_class import graph_class
from ..control.control import Scan
from .recurrence import function

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

Variables = Sequence[Any]


def through_scan(forward: Callable[..., Sequence[SDVariable]], inputs: Variables, mask: SDVariable | None, upstream: Variables,
                 output_grads: Variables) -> list[SDVariable | None]:
    """Gradients of the gradients of ``forward(*inputs, mask)`` for its inputs and the upstream gradients; masks have none.

    ``output_grads`` belong to the gradients of the inputs in order, also of those that are left out.
    """
    count = len(inputs)
    there = [i for i, v in enumerate(inputs) if v is not None]

    def first_order(*values: Any) -> tuple[Any, ...]:
        found = composite_grad(lambda *given: forward(*given, mask), values[:count], values[count:])
        return tuple(found[i] for i in there)
    return composite_grad(first_order, [*inputs, *upstream], [output_grads[i] for i in there])


def gradients_by_scan(forward: Callable[..., Sequence[SDVariable]], inputs: Variables, mask: SDVariable | None, upstream: Variables,
                      specs: Sequence[TensorSpec]) -> tuple[SDVariable, ...]:
    """Gradients of the first results of ``forward(*inputs, mask)``; zeros of these specs for inputs that are left out."""
    sd = upstream[0].sd
    if any(s.dtype not in (DataType.FLOAT, DataType.DOUBLE) for s in specs):
        raise TraceError("rounded after each op, sums of 16 bits would differ")
    found = composite_grad(lambda *given: forward(*given, mask)[:len(upstream)], inputs, upstream)
    return tuple(sd.constant(np.zeros(s.shape or (), s.dtype.numpy)) if v is None else v for v, s in zip(found, specs, strict=True))


def lstm_by_scan(op_: Any, x: Any, w: Any, rw: Any, b: Any, peephole: Any, h0: Any, c0: Any, mask: Any) -> list[SDVariable]:
    """States, cells, gates and squashed cells of ``lstm_sequence`` with the attributes of ``op_``."""
    sd, z = x.sd, _sums(x, w, b)
    zero = _zero(z, 4)
    peepholes = [] if peephole is None else [sd.call("base", "reshape", peephole, 3, -1)]
    carry = [zero if h0 is None else h0, zero if c0 is None else c0]
    attributes = (op_.blocks, op_.activation, op_.gate, op_.output, op_.clip, op_.forget_bias, op_.hold)
    return _scanned(functools.partial(_lstm_step, *attributes), carry, [z, *_rows(mask, z)], [rw, *peepholes], op_.reverse)


def rnn_by_scan(activation: Any, x: Any, w: Any, rw: Any, b: Any, h0: Any, mask: Any) -> list[SDVariable]:
    """States of ``rnn_sequence``, and the sums before the activation."""
    z = _sums(x, w, b)
    return _scanned(functools.partial(_rnn_step, activation), [_zero(z, 1) if h0 is None else h0], [z, *_rows(mask, z)], [rw], False)


def gru_by_scan(x: Any, h: Any, wx: Any, wh: Any, b: Any, _: Any) -> list[SDVariable]:
    """The states of ``gru_sequence``, computed by a scan."""
    return _scanned(functools.partial(_gru_step), [h], [_sums(x, wx, b)], [wh], False)


def _sums(x: Any, w: Any, b: Any) -> Any:
    """x_t W + b for all steps."""
    z = x.sd.call("base", "tensor_mmul", x, w, [2], [0])
    return z if b is None else z + x.sd.call("base", "reshape", b, -1)


def _zero(z: Any, blocks: int) -> Any:
    """The state before the first step; also without any step."""
    return z.sd.call("base", "zeros_like", z.sd.call("base", "split", z.sum(0), blocks, 1)[0])


def _rows(mask: Any, z: Any) -> list[Any]:
    """The mask as columns, one for each step."""
    return [] if mask is None else [z.sd.call("base", "expand_dims", z.sd.call("base", "cast_to", mask, z.dtype), 2)]


def _scanned(step: Any, carry: Variables, rows: Variables, outside: Variables, reverse: bool) -> list[SDVariable]:
    """The carries after every step, and what else a step gives."""
    sd = rows[0].sd
    specs = [*(v.spec for v in carry), *(r.spec.with_shape((r.spec.shape or (-1,) * 3)[1:]) for r in rows), *(v.spec for v in outside)]
    key = (step.func, step.args, tuple(TensorSpec(s.shape, s.dtype) for s in specs), len(carry), len(rows))
    made: list[Any] = sd.add_op(Scan(_body(*key), len(carry), len(rows), reverse), [*carry, *rows, *outside])
    return made[len(carry):-len(carry)]


@functools.lru_cache(maxsize=256)
def _body(step: Callable[..., list[Any]], attributes: tuple[Any, ...], specs: tuple[TensorSpec, ...], carries: int,
          sequences: int) -> SubGraph:
    """One step as a graph: (carry, elements, outside) to the carry twice, which the scan passes on and keeps, and to what else it gives."""
    sd = graph_class()()
    given = [sd.tables.add_input(f"in{i}", s) for i, s in enumerate(specs)]
    split = carries + sequences
    made = step(*attributes, given[:carries], given[carries:split], given[split:])
    names = [v.name() for v in made]
    return SubGraph(sd, [v.name() for v in given], [*names[:carries], *names])


def _kept(now: Variables, before: Variables, mask: Variables, hold: bool) -> list[Any]:
    """New states where the mask is 1; where it is 0, old states if ``hold``, else zeros."""
    if not mask:
        return list(now)
    m = mask[0]
    return [n * m + b * (1.0 - m) if hold else n * m for n, b in zip(now, before)]


def _lstm_step(blocks: Sequence[int], activation: Any, gate: Any, output: Any, clip: float, forget_bias: float, hold: bool,
               carry: Variables, rows: Variables, outside: Variables) -> list[Any]:
    (h, c), (z, *mask), (rw, *peephole) = carry, rows, outside
    sd = z.sd

    def activated(which: Any, v: Any) -> Any:
        return sd.add_op(function(which), [v])
    parts = sd.call("base", "split", z + h.mmul(rw), 4, 1)
    a, f, o, g = (parts[k] for k in blocks)
    f = f + forget_bias
    if peephole:
        g, f = g + c * peephole[0][0], f + c * peephole[0][1]
    a, f, g = activated(activation, a), activated(gate, f), activated(gate, g)
    cell = f * c + g * a
    if clip > 0:
        cell = sd.call("math", "clip_by_value", cell, -clip, clip)
    if peephole:
        o = o + cell * peephole[0][2]
    o, squashed = activated(gate, o), activated(output, cell)
    gates = [v for _, v in sorted(zip(blocks, (a, f, o, g)), key=lambda pair: pair[0])]
    return [*_kept([o * squashed, cell], carry, mask, hold), sd.call("base", "concat", 1, *gates), squashed]


def _rnn_step(activation: Any, carry: Variables, rows: Variables, outside: Variables) -> list[Any]:
    (h,), (z, *mask), (rw,) = carry, rows, outside
    total = z + h.mmul(rw)
    return [*_kept([z.sd.add_op(function(activation), [total])], carry, mask, False), total]


def _gru_step(carry: Variables, rows: Variables, outside: Variables) -> list[Any]:
    (h,), (z,), (wh,) = carry, rows, outside
    sd = z.sd
    (xr, xu, xc), (hr, hu, hc) = (sd.call("base", "split", v, 3, 1) for v in (z, h.mmul(wh)))
    r, u = (sd.call("nn", "sigmoid", v) for v in (xr + hr, xu + hu))
    return [u * h + (1.0 - u) * sd.call("math", "tanh", xc + r * hc)]
