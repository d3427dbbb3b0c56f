"""Sequences: simple recurrent layers, LSTM, GRU, one step after the other."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..node import OnnxNode
from ..registry import same_for

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_DEFAULT = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}


def _activations(node: OnnxNode) -> list[Callable[[Any], Any]]:
    """The activations of all directions, with their parameters."""
    xp = node.xp
    alphas, betas = list(node.get("activation_alpha", [])), list(node.get("activation_beta", []))
    directions = 2 if node.get("direction", "forward") == "bidirectional" else 1

    def made(name: str) -> Callable[[Any], Any]:
        def parameter(values: list[float], default: float) -> float:
            return values.pop(0) if values else default
        kind = name.lower()
        if kind == "affine":
            a, b = parameter(alphas, 1.0), parameter(betas, 0.0)
            return lambda x: x * a + b
        if kind == "leakyrelu":
            a = parameter(alphas, 0.01)
            return lambda x: node.op("nn.leaky_relu", x, a)
        if kind == "thresholdedrelu":
            a = parameter(alphas, 1.0)
            return lambda x: xp.where(x > a, x, x.dtype.type(0))
        if kind == "scaledtanh":
            a, b = parameter(alphas, 1.0), parameter(betas, 1.0)
            return lambda x: a * xp.tanh(b * x)
        if kind == "hardsigmoid":
            a, b = parameter(alphas, 0.2), parameter(betas, 0.5)
            return lambda x: xp.clip(x * a + b, 0, 1)
        if kind == "elu":
            a = parameter(alphas, 1.0)
            return lambda x: node.op("nn.elu", x, a)
        place = {"relu": "nn.relu", "tanh": "math.tanh", "sigmoid": "nn.sigmoid", "softsign": "nn.softsign",
                 "softplus": "nn.softplus"}.get(kind)
        if place is None:
            raise node.refuse(f"there is no activation {name!r}")
        return (lambda x: node.op(place, x, 0.0)) if kind == "relu" else (lambda x: node.op(place, x))

    return [made(n) for n in node.get("activations", _DEFAULT[node.op_type] * directions)]


class _Direction:
    """One direction of a layer: weights and the step."""

    def __init__(self, node: OnnxNode, d: int, w: Any, r: Any, b: Any, p: Any, activations: list[Any]) -> None:
        self.node, self.xp, self.kind = node, node.xp, node.op_type
        gates = _GATES[self.kind]
        self.hidden = int(r.shape[-1])
        self.w, self.r = node.xp.transpose(w[d]), node.xp.transpose(r[d])
        whole = None if b is None else b[d]
        self.wb = None if whole is None else whole[:gates * self.hidden]
        self.rb = None if whole is None else whole[gates * self.hidden:]
        self.p = None if p is None else p[d]
        count = len(_DEFAULT[self.kind])
        self.f = activations[d * count:(d + 1) * count]
        self.limit = node.get("clip", None)

    def clipped(self, x: Any) -> Any:
        """Between the bounds of the attribute ``clip``."""
        return x if self.limit is None else self.xp.clip(x, -self.limit, self.limit)

    def part(self, x: Any, i: int) -> Any:
        """The columns of one gate."""
        return x[..., i * self.hidden:(i + 1) * self.hidden]

    def step(self, x: Any, h: Any, c: Any) -> tuple[Any, Any]:
        """State after a step; x is the product with the weights of the inputs."""
        return {"RNN": self.rnn, "GRU": self.gru, "LSTM": self.lstm}[self.kind](x, h, c)

    def recurrent(self, h: Any) -> Any:
        """The part of the gates that the state gives."""
        made = self.xp.matmul(h, self.r)
        return made if self.rb is None else made + self.rb

    def rnn(self, x: Any, h: Any, c: Any) -> tuple[Any, Any]:
        """A simple recurrent step."""
        return self.f[0](self.clipped(x + self.recurrent(h))), c

    def gru(self, x: Any, h: Any, c: Any) -> tuple[Any, Any]:
        """Gates: update, reset, candidate."""
        n = self.hidden
        both = self.xp.matmul(h, self.r[:, :2 * n])
        both = both if self.rb is None else both + self.rb[:2 * n]
        z = self.f[0](self.clipped(self.part(x, 0) + self.part(both, 0)))
        r = self.f[0](self.clipped(self.part(x, 1) + self.part(both, 1)))
        own = self.r[:, 2 * n:]
        more = 0 if self.rb is None else self.rb[2 * n:]
        if self.node.get("linear_before_reset", 0):
            inner = self.xp.matmul(h, own)
            candidate = r * (inner + more)
        else:
            candidate = self.xp.matmul(r * h, own) + more
        g = self.f[1](self.clipped(self.part(x, 2) + candidate))
        return (1 - z) * g + z * h, c

    def lstm(self, x: Any, h: Any, c: Any) -> tuple[Any, Any]:
        """Gates: input, output, forget, cell."""
        whole = x + self.recurrent(h)
        i, o, f, g = (self.part(whole, k) for k in range(4))
        if self.p is not None:
            i, f = i + self.part(self.p, 0) * c, f + self.part(self.p, 2) * c
        i = self.f[0](self.clipped(i))
        f = 1 - i if self.node.get("input_forget", 0) else self.f[0](self.clipped(f))
        cell = f * c + i * self.f[1](self.clipped(g))
        if self.p is not None:
            o = o + self.part(self.p, 1) * cell
        return self.f[0](self.clipped(o)) * self.f[2](cell), cell


@same_for("RNN", "GRU", "LSTM")
def recurrent(node: OnnxNode, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h0: Any = None, c0: Any = None,
              p: Any = None) -> Any:
    """All states, and the last ones."""
    xp, batch_first = node.xp, node.flag("layout")
    if batch_first:
        x = xp.swapaxes(x, 0, 1)
        h0, c0 = (None if v is None else xp.swapaxes(v, 0, 1) for v in (h0, c0))
    direction = node.get("direction", "forward")
    activations = _activations(node)
    outputs, lasts, cells = [], [], []
    for d in range(2 if direction == "bidirectional" else 1):
        one = _Direction(node, d, w, r, b, p, activations)
        back = direction == "reverse" or d == 1
        zeros = xp.zeros_like(xp.matmul(x[0], one.w)[:, :one.hidden])
        h, c = (zeros if v is None else v[d] for v in (h0, c0))
        ys, h, c = _run(node, one, x, h, c, lengths, back)
        outputs.append(ys)
        lasts.append(h)
        cells.append(c)
    y, y_h, y_c = xp.stack(outputs, 1), xp.stack(lasts, 0), xp.stack(cells, 0)
    if batch_first:
        y, y_h, y_c = xp.transpose(y, (2, 0, 1, 3)), xp.swapaxes(y_h, 0, 1), xp.swapaxes(y_c, 0, 1)
    return (y, y_h, y_c) if node.op_type == "LSTM" else (y, y_h)


def _run(node: OnnxNode, one: _Direction, x: Any, h: Any, c: Any, lengths: Any, back: bool) -> tuple[Any, Any, Any]:
    """One direction over all steps: outputs in the order of time, last state, last cell."""
    xp = node.xp
    products = xp.matmul(x, one.w)
    if one.wb is not None:
        products = products + one.wb

    def turned(v: Any) -> Any:
        return node.op("base.reverse", v, 0) if lengths is None else node.op("base.reverse_sequence", v, lengths, 0, 1)

    products = turned(products) if back else products
    sequences = [products]
    if lengths is not None:
        steps = xp.cumsum(xp.ones_like(products[:, :, :1], dtype=np.int64), axis=0) - 1
        sequences.append((steps < xp.reshape(lengths.astype(np.int64), (1, -1, 1))).astype(x.dtype))

    def body(sd: Any, state: list[Any], elements: list[Any]) -> tuple[list[Any], list[Any]]:
        before, cell, given = xp.wrap(state[0]), xp.wrap(state[1]), xp.wrap(elements[0])
        after, after_cell = one.step(given, before, cell)
        result = after
        if lengths is not None:
            alive = xp.wrap(elements[1])
            result = after * alive
            after, after_cell = result + before * (1 - alive), after_cell * alive + cell * (1 - alive)
        made = [node.inner(v) for v in (after, after_cell, result)]
        return made[:2], made[2:]

    (last, last_cell), (ys,) = node.sd.scan(body, [node.inner(h), node.inner(c)], [node.inner(s) for s in sequences])
    ys = xp.wrap(ys)
    return turned(ys) if back else ys, xp.wrap(last), xp.wrap(last_cell)
