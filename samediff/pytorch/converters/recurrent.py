"""Recurrent layers of several levels and directions."""
from __future__ import annotations

from typing import Any

from ...onnx.node import OnnxNode
from .table import aten, standard

#: The gates of ONNX by their numbers in PyTorch: input, output, forget, cell; update, reset, candidate.
_ORDER = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}


@aten("lstm", "gru", "rnn_tanh", "rnn_relu")
def recurrent(node: OnnxNode, x: Any, states: Any, weights: Any, has_biases: bool, num_layers: int, dropout: float, train: bool,
              bidirectional: bool, batch_first: bool) -> Any:
    """All states of the last level, and the last states of all levels."""
    kind = {"aten.lstm": "LSTM", "aten.gru": "GRU"}.get(node.op_type, "RNN")
    if not isinstance(x.ndim, int) or x.ndim != 3 or isinstance(states, bool):
        raise node.refuse("packed sequences; pad them")
    given = list(states) if kind == "LSTM" else [states]
    directions, xp = 2 if bidirectional else 1, node.xp
    each = (4 if has_biases else 2) + (1 if kind == "LSTM" and len(weights) % (num_layers * directions * (4 if has_biases else 2)) else 0)
    if len(weights) != each * num_layers * directions or each not in (2, 4):
        raise node.refuse("projections of states (proj_size)")
    y = xp.swapaxes(x, 0, 1) if batch_first else x
    lasts: list[list[Any]] = [[] for _ in given]
    for level in range(num_layers):
        parts = [weights[(level * directions + d) * each:(level * directions + d + 1) * each] for d in range(directions)]
        w, r = (xp.stack([_ordered(node, kind, p[i]) for p in parts], 0) for i in (0, 1))
        b = None
        if has_biases:
            b = xp.stack([xp.concatenate([_ordered(node, kind, p[2]), _ordered(node, kind, p[3])], axis=0) for p in parts], 0)
        first = [s[level * directions:(level + 1) * directions] for s in given]
        names = {"rnn_relu": "Relu", "rnn_tanh": "Tanh"}.get(node.op_type.removeprefix("aten."))
        made = standard(node, kind, y, w, r, b, None, *first, direction="bidirectional" if bidirectional else "forward",
                        activations=[names] * directions if names else None, linear_before_reset=1 if kind == "GRU" else None)
        y = made[0][:, 0] if directions == 1 else xp.concatenate([made[0][:, 0], made[0][:, 1]], axis=2)
        for kept, last in zip(lasts, made[1:]):
            kept.append(last)
        if dropout and level < num_layers - 1:
            y = node.op("nn.dropout_inverted", y, 1.0 - dropout)
    ends = [k[0] if len(k) == 1 else xp.concatenate(k, axis=0) for k in lasts]
    return (xp.swapaxes(y, 0, 1) if batch_first else y, *ends)


def _ordered(node: OnnxNode, kind: str, w: Any) -> Any:
    """The rows of the gates in ONNX's order."""
    order = _ORDER[kind]
    if len(order) == 1:
        return w
    n = int(w.shape[0]) // len(order)
    return node.xp.concatenate([w[i * n:(i + 1) * n] for i in order], axis=0)
