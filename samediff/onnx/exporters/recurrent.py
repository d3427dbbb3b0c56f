"""Recurrent layers over sequences: the standard's own where their gates are laid out like that, else scans of their step."""
from __future__ import annotations

from typing import Any

from ...ir.op import OPS
from ...ops.recurrent.recurrence import function
from ..export_graph import OnnxGraph, Value
from ..export_table import onnx_exporter

#: Activations that the standard's layers know.
ACTIVATIONS = {"tanh": "Tanh", "sigmoid": "Sigmoid", "softsign": "Softsign", "softplus": "Softplus"}


def _known(*activations: Any) -> list[str] | None:
    """The names of activations without attributes; None where one has no name."""
    made = [function(a) for a in activations]
    names = [ACTIVATIONS.get(m.id, "") if not m.values() else "Relu" if m == OPS["relu"]() else "" for m in made]
    return names if all(names) else None


def _blocks(g: OnnxGraph, w: Value, order: list[int], units: int) -> Value:
    """Blocks of columns in another order, transposed: (1, gates * units, inputs)."""
    parts = [g.part(w, 1, k * units, (k + 1) * units) for k in order]
    joined = g.node("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]
    return g.unsqueeze(g.transpose(joined, 1, 0), 0)


def _row(g: OnnxGraph, b: Value, order: list[int], units: int) -> Value:
    flat = g.reshape(b, -1)
    parts = [g.part(flat, 0, k * units, (k + 1) * units) for k in order]
    return g.node("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]  # type: ignore[no-any-return]


def _bias(g: OnnxGraph, b: Value, zeros: int) -> Value:
    """The bias of inputs, and none of the state: (1, 2 * gates * units)."""
    return g.unsqueeze(g.node("Concat", b, g.filled(0, b.dtype, g.ints(zeros)), axis=0), 0)


def _state(g: OnnxGraph, h: Value | None) -> Value | None:
    return None if h is None else g.unsqueeze(h, 0)


@onnx_exporter("lstm_sequence", notes="as LSTM; with a mask, cells as results or other activations as Scan")
def lstm(g: OnnxGraph, op: Any, x: Value, w: Value, rw: Value, b: Value | None = None, peephole: Value | None = None,
         h0: Value | None = None, c0: Value | None = None, mask: Value | None = None) -> Any:
    names = _known(op.gate, op.activation, op.output)
    if mask is not None or names is None or op.clip > 0 or any(g.read[1:4]):
        return None
    units = rw.static[0]
    a, f, o, i = op.blocks
    order = [i, o, f, a]                            # the standard's: input gate, output gate, forget gate, block input
    bias = None if b is None else _row(g, b, order, units)
    if op.forget_bias:
        more = g.constant([0.0] * (2 * units) + [op.forget_bias] * units + [0.0] * units, x.dtype)
        bias = more if bias is None else g.node("Add", bias, more)
    peep = None if peephole is None else g.unsqueeze(_row(g, peephole, [0, 2, 1], units), 0)        # input, output, forget
    both = None if bias is None else _bias(g, bias, 4 * units)
    made = g.node("LSTM", x, _blocks(g, w, order, units), _blocks(g, rw, order, units), both, None,
                  _state(g, h0), _state(g, c0), peep, hidden_size=units, activations=names, direction="reverse" if op.reverse else None)
    states = g.squeeze(made, 1)
    return states, states, states, states


@onnx_exporter("gru_sequence", notes="as GRU")
def gru(g: OnnxGraph, op: Any, x: Value, h: Value, wx: Value, wh: Value, b: Value) -> Any:
    if g.read[1]:
        return None
    units = wh.static[0]
    order = [1, 0, 2]                               # the standard's: update, reset, candidate
    made = g.node("GRU", x, _blocks(g, wx, order, units), _blocks(g, wh, order, units), _bias(g, _row(g, b, order, units), 3 * units), None,
                  _state(g, h), hidden_size=units, linear_before_reset=1)
    states = g.squeeze(made, 1)
    return states, states


@onnx_exporter("rnn_sequence", notes="as RNN; with a mask or other activations as Scan")
def rnn(g: OnnxGraph, op: Any, x: Value, w: Value, rw: Value, b: Value | None = None, h0: Value | None = None,
        mask: Value | None = None) -> Any:
    names = _known(op.activation)
    if mask is not None or names is None or g.read[1]:
        return None
    units = rw.static[0]
    made = g.node("RNN", x, _blocks(g, w, [0], units), _blocks(g, rw, [0], units),
                  None if b is None else _bias(g, g.reshape(b, -1), units), None, _state(g, h0), hidden_size=units, activations=names)
    states = g.squeeze(made, 1)
    return states, states
