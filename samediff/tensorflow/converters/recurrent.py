"""Cells of recurrent networks as single operators."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...onnx.node import OnnxNode
from .table import parts, tensorflow


def _step(node: OnnxNode, x: Any, cell: Any, last: Any, w: Any, peepholes: Any, b: Any) -> tuple[Any, ...]:
    """Input gate, cell, forget gate, output gate, candidate, its squashed cell and the output of a step."""
    xp, op = node.xp, node.op
    joined = xp.matmul(xp.concatenate([x, last], 1), w) + b
    i, second, third, o = parts(joined, 4, 1)
    candidate, f = (third, second) if node.op_type == "BlockLSTMV2" else (second, third)
    if node.op_type != "BlockLSTMV2":
        f = f + node.get("forget_bias", 1.0)
    peep = bool(node.get("use_peephole", False))
    if peep:
        i, f = i + cell * peepholes[0], f + cell * peepholes[1]
    i, f, candidate = op("nn.sigmoid", i), op("nn.sigmoid", f), xp.tanh(candidate)
    state = candidate * i + cell * f
    most = node.get("cell_clip", 3.0 if node.op_type != "BlockLSTMV2" else 0.0)
    state = xp.clip(state, -most, most) if most > 0 else state
    o = op("nn.sigmoid", o + state * peepholes[2] if peep else o)
    squashed = xp.tanh(state)
    return i, state, f, o, candidate, squashed, squashed * o


@tensorflow("LSTMBlockCell")
def lstm_cell(node: OnnxNode, x: Any, cell: Any, last: Any, w: Any, wi: Any, wf: Any, wo: Any, b: Any) -> Any:
    """A step of an LSTM."""
    return _step(node, x, cell, last, w, (wi, wf, wo), b)


@tensorflow("BlockLSTM", "BlockLSTMV2")
def lstm(node: OnnxNode, most: Any, x: Any, cell: Any, last: Any, w: Any, wi: Any, wf: Any, wo: Any, b: Any) -> Any:
    """An LSTM over the first axis; what it gives behind the longest sequence is 0."""
    given = [node.inner(v) for v in (w, wi, wf, wo, b)]

    def turn(sd: Any, state: list[Any], rows: list[Any]) -> tuple[list[Any], list[Any]]:
        w, wi, wf, wo, b, row, cell, last = (node.xp.wrap(v) for v in (*given, *rows, *state))
        made = [node.inner(v) for v in _step(node, row, cell, last, w, (wi, wf, wo), b)]
        return [sd.call("base", "identity", made[1]), sd.call("base", "identity", made[-1])], made

    _, made = node.sd.scan(turn, [node.inner(cell), node.inner(last)], [node.inner(x)])
    found = [node.xp.wrap(v) for v in made]
    known = node.known(0)
    if known is not None and isinstance(x.shape[0], int) and int(np.asarray(known).reshape(-1)[0]) >= x.shape[0]:
        return tuple(found)
    steps = node.op("base.cumsum", node.xp.ones_like(x[:, :1, :1], dtype=np.int64), 0) - 1
    return tuple(node.xp.where(steps < most.astype(np.int64), v, v.dtype.type(0)) for v in found)


@tensorflow("GRUBlockCell")
def gru_cell(node: OnnxNode, x: Any, last: Any, gates: Any, w: Any, gates_b: Any, b: Any) -> Any:
    """Reset gate, update gate, candidate and output of a step of a GRU."""
    both = node.op("nn.sigmoid", node.xp.matmul(node.xp.concatenate([x, last], 1), gates) + gates_b)
    reset, update = parts(both, 2, 1)
    candidate = node.xp.tanh(node.xp.matmul(node.xp.concatenate([x, last * reset], 1), w) + b)
    return reset, update, candidate, (1 - update) * candidate + update * last
