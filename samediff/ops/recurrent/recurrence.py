"""Activations inside recurrent ops: elementwise ops by name, with values and slopes as plain array code."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...base.spec import size
from ...errors import GraphError, did_you_mean
from ...expressions import expression as ex
from ...expressions.arrays import as_rows
from ...families.elementwise import Elementwise
from ...ir.op import OPS, op


def sequence_flops(x: Any, w: Any, rw: Any, gates: int) -> int:
    """Operations of a cell over all steps of x (time, batch, inputs): two products, and some four operations for each gate."""
    steps, examples, _ = x.shape
    return int(steps * examples * (2 * (size(w.shape) + size(rw.shape)) + 4 * gates * rw.shape[0]))


def recurrent_gradient(h0: Any, states: Any, dz: Any, reverse: bool = False) -> Any:
    """The gradient of the recurrent weights: the state before each step times that step's dz.

    Without h0 the first step adds nothing, also where its dz is not finite, as in DL4J.
    """
    before, after, first = (states[1:], dz[:-1], dz[-1:]) if reverse else (states[:-1], dz[1:], dz[:1])
    total = as_rows(before).T @ as_rows(after)
    return total if h0 is None or not len(first) else total + h0.T @ first[0]


#: Spellings whose op has another id.
_IDS = {"hardsigmoid": "hard_sigmoid", "scaledtanh": "scaled_tanh", "scaledtahn": "scaled_tanh", "threshholdrelu": "thresholdedrelu",
        "thresholdrelu": "thresholdedrelu",
        "precisegelu": "precise_gelu"}


@op("affine_activation")
class AffineActivation(Elementwise):
    """alpha x + beta."""

    rule = "float"
    alpha: float = 1.0
    beta: float = 0.0

    def compute(self, xp: Any, x: Any) -> Any:
        return x * self.alpha + self.beta


@op("scaled_tanh")
class ScaledTanh(Elementwise):
    """alpha tanh(beta x)."""

    rule = "float"
    alpha: float = 1.0
    beta: float = 1.0

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.tanh(x * self.beta) * self.alpha


@functools.lru_cache(maxsize=256)
def function(activation: Any) -> Elementwise:
    """The elementwise op of an activation: its name in any spelling, or the op itself."""
    if isinstance(activation, Elementwise):
        return activation
    if getattr(activation, "id", activation) in ("identity", "IDENTITY", "linear"):
        return AffineActivation()
    name = str(getattr(activation, "name", activation)).lower().replace("_", "")
    cls = OPS.get(_IDS.get(name, name))
    if cls is None or not issubclass(cls, Elementwise):
        known = [n for n, c in OPS.items() if issubclass(c, Elementwise) and c.inputs == "x"]
        raise GraphError(f"no elementwise activation {activation!r} for a recurrent op{did_you_mean(name, known)}")
    return cls()


def apply(xp: Any, activation: Any, z: Any) -> Any:
    """An activation applied to an array."""
    return function(activation).compute(xp, z)


@functools.lru_cache(maxsize=256)
def _slope(activation: Any, dtype: np.dtype[Any]) -> ex.Expr:
    (expression,) = function(activation).expressions([dtype])
    return ex.derivative(expression, 0)


def slope(xp: Any, activation: Any, z: Any) -> Any:
    """The derivative of the activation at an array."""
    return xp.broadcast_to(ex.evaluate((_slope(activation, z.dtype),), xp, (z,))[0], z.shape)      # a constant is one number
