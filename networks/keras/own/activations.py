"""Activation functions of Keras that DL4J has not."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....layers.functions.activations import IActivation, activation
from ....samediff.errors import ConfigurationError

if TYPE_CHECKING:
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable


def clipped(sd: Any, x: Any, low: float, high: float) -> Any:
    return sd.call("math", "clip_by_value", x, low, high)


def where(sd: Any, condition: Any, x: Any, y: Any) -> Any:
    """``x`` where a condition of 1 and 0 is 1; both are finite."""
    return condition * x + (1.0 - condition) * y


def above(sd: Any, x: Any, limit: float) -> Any:
    """1 where ``x`` exceeds a limit, else 0."""
    return sd.call("base", "gt", x, limit).cast_to(x.dtype)


def _sparse_plus(sd: Any, x: Any) -> Any:
    inner = clipped(sd, x, -1.0, 1.0) + 1.0
    return inner * inner * 0.25 + sd.call("nn", "relu", x - 1.0)


def _soft_shrink(sd: Any, x: Any) -> Any:
    return sd.call("nn", "relu", x - 0.5) - sd.call("nn", "relu", x * -1.0 - 0.5)


def _celu(sd: Any, x: Any) -> Any:
    return sd.call("nn", "relu", x) + (sd.call("math", "exp", clipped(sd, x, -80.0, 0.0)) - 1.0)


FORMULAS: dict[str, Callable[[Any, Any], Any]] = {
    "exponential": lambda sd, x: sd.call("math", "exp", x),
    "hard_sigmoid": lambda sd, x: clipped(sd, x / 6.0 + 0.5, 0.0, 1.0),
    "hard_silu": lambda sd, x: x * clipped(sd, x / 6.0 + 0.5, 0.0, 1.0),
    "hard_swish": lambda sd, x: x * clipped(sd, x / 6.0 + 0.5, 0.0, 1.0),
    "hard_tanh": lambda sd, x: clipped(sd, x, -1.0, 1.0),
    "gelu": lambda sd, x: x * 0.5 * (sd.call("math", "erf", x * math.sqrt(0.5)) + 1.0),
    "log_softmax": lambda sd, x: sd.call("nn", "log_softmax", x, -1),
    "log_sigmoid": lambda sd, x: sd.call("nn", "softplus", x * -1.0) * -1.0,
    "tanh_shrink": lambda sd, x: x - sd.call("math", "tanh", x),
    "soft_shrink": _soft_shrink,
    "hard_shrink": lambda sd, x: x * above(sd, sd.call("math", "abs", x), 0.5),
    "squareplus": lambda sd, x: (x + sd.call("math", "sqrt", x * x + 4.0)) * 0.5,
    "sparse_plus": _sparse_plus,
    "celu": _celu,
    "threshold": lambda sd, x: x * above(sd, x, 0.0),
}


@activation("dl4py.keras.KerasActivation")
class KerasActivation(IActivation):
    """A function by the name that Keras has for it.

    Parameters
    ----------
    function : str
        Its name, such as "exponential".
    """

    function: str

    def validate(self) -> None:
        if self.function not in FORMULAS:
            raise ConfigurationError(f"KerasActivation knows {', '.join(FORMULAS)}; got {self.function!r}")

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return FORMULAS[self.function](sd, x)  # type: ignore[no-any-return]


@activation("dl4py.keras.SoftmaxAlong")
class SoftmaxAlong(IActivation):
    """Softmax along an axis other than the last.

    Parameters
    ----------
    axis : int
        The axis, the batch being 0.
    """

    axis: int = -1

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "softmax", x, self.axis)  # type: ignore[no-any-return]
