"""A simple recurrent network as a scan: for layer normalization and activation functions that look at several units."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .activations import IActivation
from .parameters import LayerScope

if TYPE_CHECKING:
    from ..samediff.graph import SameDiff
    from ..samediff.variable import SDVariable


def simple_steps(sd: SameDiff, x: SDVariable, params: LayerScope, h0: SDVariable, mask: SDVariable | None, activation: IActivation,
                 units: int) -> tuple[SDVariable, SDVariable]:
    """``h[t] = activation(norm(x[t] @ W) + norm(h[t-1] @ RW) + b)`` and the last state; masked steps have states of 0.

    ``norm`` is layer normalization with gains ``g`` (those of the input first), or nothing where there is no ``g``.
    Shapes: x (batch, n_in, time) -> (batch, units, time), (batch, units).
    """
    gains = [params["g"][:units], params["g"][units:]] if "g" in params else None

    def normalized(sums: SDVariable, which: int) -> SDVariable:
        return sums if gains is None else sd.call("nn", "layer_norm", sums, gains[which], False, 1)  # type: ignore[no-any-return]

    sequences = [x.permute(2, 0, 1), *([] if mask is None else [sd.call("base", "expand_dims", mask.permute(1, 0), 2)])]

    def step(inner: SameDiff, carries: list[SDVariable], elements: list[SDVariable]) -> Any:
        z = normalized(elements[0].mmul(params["W"]), 0) + normalized(carries[0].mmul(params["RW"]), 1) + params["b"]
        h = activation.define(inner, z)
        h = h if mask is None else h * elements[1]
        return [h], [h]

    (last,), (states,) = sd.scan(step, [h0], sequences)
    return states.permute(1, 2, 0), last
