"""Losses of Keras that DL4J has not, and means over positions, which Keras takes where DL4J sums."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from ....layers.base import automatic
from ....layers.base.base import Rule, layer
from ....layers.custom.samediff_loss import SameDiffLoss, loss
from ....layers.functions.activations import ActivationIdentity, IActivation
from ....layers.ops.loss_terms import OneHotLabels
from ....layers.standard.output import PerPositionLoss
from ....samediff.configuration.declaring import Convertible, field
from ....samediff.errors import ConfigurationError

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable

LEAST = 1e-7        # how near to 0 and 1 probabilities may come


def _log(sd: Any, x: Any) -> Any:
    return sd.call("math", "log", x)


def _relu(sd: Any, x: Any) -> Any:
    return sd.call("nn", "relu", x)


def _huber(sd: Any, y: Any, p: Any, loss_: KerasLoss) -> Any:
    away = sd.call("math", "abs", y - p)
    inner = sd.call("base", "scalar_min", away, loss_.delta)
    return (inner * inner * 0.5 + (away - inner) * loss_.delta).mean(1)


def _log_cosh(sd: Any, y: Any, p: Any, loss_: KerasLoss) -> Any:
    away = p - y
    return (away + sd.call("nn", "softplus", away * -2.0) - math.log(2)).mean(1)


def _binary(sd: Any, y: Any, p: Any, loss_: KerasLoss) -> Any:
    y = y * (1 - loss_.label_smoothing) + 0.5 * loss_.label_smoothing
    if loss_.from_logits:
        return (sd.call("nn", "softplus", p) - y * p).mean(1)
    p = sd.call("math", "clip_by_value", p, LEAST, 1 - LEAST)
    return ((y * _log(sd, p) + (1.0 - y) * _log(sd, 1.0 - p)) * -1.0).mean(1)


def _categorical(sd: Any, y: Any, p: Any, loss_: KerasLoss) -> Any:
    count = (y.spec.shape or (1, 1))[1]
    if loss_.label_smoothing:
        if count < 1:
            count = loss_.classes
        y = y * (1 - loss_.label_smoothing) + loss_.label_smoothing / count
    if loss_.from_logits:
        return (y * sd.call("nn", "log_softmax", p, -1)).sum(1) * -1.0
    p = sd.call("math", "clip_by_value", p / p.sum(True, 1), LEAST, 1 - LEAST)
    return (y * _log(sd, p)).sum(1) * -1.0


def _sparse(sd: Any, y: Any, p: Any, loss_: KerasLoss) -> Any:
    return _categorical(sd, sd.add_op(OneHotLabels("KerasLoss"), [y, p]), p, loss_)


def _signs(sd: Any, y: Any) -> Any:
    """Labels of 0 and 1 as -1 and 1; others stay."""
    zero = sd.call("base", "eq", y, 0.0).cast_to(y.dtype)
    return y - zero


def _hinge(sd: Any, y: Any, p: Any, loss_: KerasLoss) -> Any:
    return _relu(sd, 1.0 - _signs(sd, y) * p).mean(1)


def _squared_hinge(sd: Any, y: Any, p: Any, loss_: KerasLoss) -> Any:
    short = _relu(sd, 1.0 - _signs(sd, y) * p)
    return (short * short).mean(1)


def _categorical_hinge(sd: Any, y: Any, p: Any, loss_: KerasLoss) -> Any:
    return _relu(sd, ((1.0 - y) * p).max(1) - (y * p).sum(1) + 1.0)


def _poisson(sd: Any, y: Any, p: Any, loss_: KerasLoss) -> Any:
    return (p - y * _log(sd, p + LEAST)).mean(1)


FORMULAS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "huber": _huber, "log_cosh": _log_cosh, "binary_crossentropy": _binary, "categorical_crossentropy": _categorical,
    "sparse_categorical_crossentropy": _sparse, "hinge": _hinge, "squared_hinge": _squared_hinge,
    "categorical_hinge": _categorical_hinge, "poisson": _poisson}


@loss("dl4py.keras.KerasLoss")
class KerasLoss(SameDiffLoss):
    """A loss by the name that Keras has for it.

    Parameters
    ----------
    function : str
        Its name, such as "huber".
    from_logits : bool
        Whether outputs are those before sigmoid or softmax.
    label_smoothing : float
        Share of the labels that is dealt out evenly.
    delta : float
        Where the Huber loss becomes a line.
    classes : int
        Number of outputs.
    """

    function: str
    from_logits: bool = False
    label_smoothing: float = 0.0
    delta: float = 1.0
    classes: int = 1

    def validate(self) -> None:
        if self.function not in FORMULAS:
            raise ConfigurationError(f"KerasLoss knows {', '.join(FORMULAS)}; got {self.function!r}")

    def define_loss(self, sd: SameDiff, layer_input: SDVariable, labels: SDVariable) -> SDVariable:
        return FORMULAS[self.function](sd, labels, layer_input, self)  # type: ignore[no-any-return]


@layer("dl4py.keras.MeanLossLayer")
class MeanLossLayer(PerPositionLoss):
    """A loss on each position of series, images or volumes with channels last; the score of an example is the mean over them.

    Masked positions of series do not count.

    Parameters
    ----------
    activation : IActivation
        Identity by default.
    """

    preprocessor_rule: ClassVar[Rule] = automatic.none_needed
    activation: Convertible[IActivation | None] = field(default=ActivationIdentity(), json="activationFn")

    @property
    def channels_last(self) -> bool:
        return True

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return x

    def define_loss(self, sd: SameDiff, x: SDVariable, labels: SDVariable | None, params: LayerScope,
                    mask: SDVariable | None) -> SDVariable:
        assert labels is not None
        if len(labels.spec.shape or ()) < len(x.spec.shape or ()):
            labels = sd.call("base", "expand_dims", labels, len(labels.spec.shape or ()))
        total = super().define_loss(sd, x, labels, params, mask)
        batch = sd.call("base", "size_at", x, 0).cast_to(x.dtype)
        if mask is not None:
            return total * (batch / mask.sum())  # type: ignore[no-any-return]
        return total * (batch / sd.call("base", "size_at", self.rows(x), 0).cast_to(x.dtype))  # type: ignore[no-any-return]
