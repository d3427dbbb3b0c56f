"""Recurrent layers as scans: for layer normalization and activation functions that are no single elementwise op."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...samediff.ops.elementwise.masking import keep_unmasked
from ..functions.activations import IActivation
from ..types.parameters import LayerScope

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable


def simple_steps(sd: SameDiff, x: SDVariable, params: LayerScope, h0: SDVariable, mask: SDVariable | None, activation: IActivation,
                 units: int) -> tuple[SDVariable, SDVariable]:
    """``h[t] = activation(norm(x[t] @ W) + norm(h[t-1] @ RW) + b)`` and the last state; masked steps have states of 0.

    ``norm`` is layer normalization with gains ``g`` (those of the input first), or nothing where there is no ``g``.
    Shapes: x (batch, n_in, time) -> (batch, units, time), (batch, units).
    """
    gains = [params["g"][:units], params["g"][units:]] if "g" in params else None

    def normalized(sums: SDVariable, which: int) -> SDVariable:
        return sums if gains is None else sd.call("nn", "layer_norm", sums, gains[which], False, 1)  # type: ignore[no-any-return]

    def step(inner: SameDiff, carries: list[SDVariable], elements: list[SDVariable]) -> Any:
        z = normalized(elements[0].mmul(params["W"]), 0) + normalized(carries[0].mmul(params["RW"]), 1) + params["b"]
        h = activation.define(inner, z)
        h = h if mask is None else h * elements[1]
        return [h], [h]

    (last,), (states,) = sd.scan(step, [h0], _steps(sd, x, mask))
    return states.permute(1, 2, 0), last


def lstm_steps(sd: SameDiff, x: SDVariable, weights: Sequence[SDVariable], h0: SDVariable, c0: SDVariable, mask: SDVariable | None,
               activation: IActivation, gate_activation: IActivation, units: int) -> tuple[SDVariable, SDVariable, SDVariable]:
    """The steps of :class:`Dl4jLstm` as a scan; ``weights``: W, RW, b. All hidden states (batch, units, time), the last and its cell."""
    w, rw, b = weights
    peepholes = [rw[:, 4 * units + k] for k in range(3)] if rw.spec.shape and rw.spec.shape[1] > 4 * units else None
    recurrent = rw if peepholes is None else rw[:, :4 * units]

    def step(inner: SameDiff, carries: list[SDVariable], elements: list[SDVariable]) -> Any:
        h, c = carries
        z = elements[0].mmul(w) + h.mmul(recurrent) + b
        block, forget, out, into = (z[:, k * units:(k + 1) * units] for k in range(4))
        if peepholes is not None:
            forget, into = forget + c * peepholes[0], into + c * peepholes[2]
        c = gate_activation.define(inner, forget) * c + gate_activation.define(inner, into) * activation.define(inner, block)
        if peepholes is not None:
            out = out + c * peepholes[1]
        h = gate_activation.define(inner, out) * activation.define(inner, c)
        if mask is not None:
            h, c = h * elements[1], c * elements[1]
        return [h, c], [h]

    (h, c), (states,) = sd.scan(step, [h0, c0], _steps(sd, x, mask))
    return states.permute(1, 2, 0), h, c


def attending_steps(sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None, activation: IActivation,
                    units: int) -> SDVariable:
    """The steps of :class:`RecurrentAttention` as a scan. Shapes: x (batch, n_in, time), mask (batch, time) -> (batch, units, time)."""
    weights = [params[n] for n in ("Wq", "Wk", "Wv", "Wo") if n in params]
    attention = "multi_head_dot_product_attention" if weights else "dot_product_attention"
    series = x.permute(2, 0, 1)
    corner = series[:, :1, :1]
    attends = sd.call("base", "concat", 0, sd.call("base", "zeros_like", corner[:1]), sd.call("base", "ones_like", corner[1:]))

    def step(inner: SameDiff, carries: list[SDVariable], elements: list[SDVariable]) -> Any:
        query = sd.call("base", "expand_dims", carries[0], 2)
        attended = sd.call("base", "squeeze", sd.call("nn", attention, query, x, x, *weights, mask, True), 2)
        z = elements[0].mmul(params["W"]) + elements[1] * attended.mmul(params["RW"])
        y = activation.define(inner, z + params["b"] if "b" in params else z)
        return [y], [y]

    _, (states,) = sd.scan(step, [sd.call("nn", "zero_state", x, units)], [series, attends])
    return states.permute(1, 2, 0)  # type: ignore[no-any-return]


def _steps(sd: SameDiff, x: SDVariable, mask: SDVariable | None) -> list[SDVariable]:
    """The steps of x (batch, features, time), 0 where they are masked, and of a mask (batch, time) with time first."""
    return [keep_unmasked(x, mask).permute(2, 0, 1), *([] if mask is None else [sd.call("base", "expand_dims", mask.permute(1, 0), 2)])]
