"""Activation functions as configuration objects, and the enum of their names."""
from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from ...samediff.base.authored import keeps_shape
from ...samediff.base.javanames import JavaSpelling, squash
from ...samediff.base.unwritten import unwritten
from ...samediff.configuration.classes import find_class
from ...samediff.configuration.configuration import Configuration, configuration
from ...samediff.errors import ConfigurationError, did_you_mean
from ...samediff.ir.op import Op
from ..ops import activation_ops as ops
from .direct import direct, floating

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

_PACKAGE = "org.nd4j.linalg.activations.impl."


T = TypeVar("T", bound="IActivation")


def activation(java_name: str, *, aliases: tuple[str, ...] = ()) -> Callable[[type[T]], type[T]]:
    """Register an activation function of one's own under the name that files use; annotated fields become its options.

    Examples
    --------
    >>> @activation("example.Bent")
    ... class Bent(IActivation):
    ...     slope: float = 0.5
    ...     def define(self, sd, x):
    ...         return sd.math.tanh(x) + x * self.slope
    >>> Bent().get_activation([2.0])
    array([1.9640276], dtype=float32)
    """
    return configuration(java_name, aliases=aliases)


@configuration
class IActivation(Configuration):
    """Base of all activation functions. Fields of this type also take an :class:`Activation` or its name.

    Examples
    --------
    >>> IActivation.of("leakyrelu")
    ActivationLReLU()
    """

    result_checks = {"define": keeps_shape}

    @classmethod
    def of(cls, value: Any) -> Self:
        if isinstance(value, str):
            value = Activation.from_string(value)
        if isinstance(value, Activation):
            value = value.get_activation_function()
        return super().of(value)

    @unwritten
    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        """Add the function to a graph."""
        raise NotImplementedError

    def get_activation(self, x: Any, training: bool = False) -> Any:
        """The function of an array, which stays as it is."""
        x = floating(x)
        graph = direct(self, "define", [x])
        return graph.run([x], [graph.result.name()], training=training)[0]

    def backprop(self, x: Any, epsilon: Any) -> tuple[Any, Any]:
        """The gradient for the pre-activation ``x`` from that for the activation, and the one for parameters (None)."""
        x = floating(x)
        graph = direct(self, "define", [x])
        return graph.run([x], [graph.gradient(0)], seed=floating(epsilon), training=True)[0], None

    def __str__(self) -> str:
        return next((a.name.lower() for a in Activation if a.value == type(self).__name__), repr(self))


@configuration(_PACKAGE + "ActivationCube")
class ActivationCube(IActivation):
    """``x³``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.Cube(), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationELU")
class ActivationELU(IActivation):
    """``x`` where positive, else ``alpha * (exp(x) - 1)`` (Clevert et al., 2015)."""

    alpha: float = 1.0

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.Elu(self.alpha), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationGELU")
class ActivationGELU(IActivation):
    """Gaussian error linear unit (Hendrycks and Gimpel, 2016): ``x * sigmoid(1.702 x)``, or the tanh form when
    precise.
    """

    precise: bool = False

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.GeluCubed() if self.precise else ops.Gelu(), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationHardSigmoid")
class ActivationHardSigmoid(IActivation):
    """``min(1, max(0, 0.2 x + 0.5))``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.HardSigmoid(), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationHardTanH")
class ActivationHardTanH(IActivation):
    """``max(-1, min(1, x))``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "hard_tanh", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationIdentity")
class ActivationIdentity(IActivation):
    """``x``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return x


@configuration(_PACKAGE + "ActivationLReLU")
class ActivationLReLU(IActivation):
    """``x`` where positive, else ``alpha * x``."""

    alpha: float = 0.01

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.LeakyRelu(self.alpha), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationMish")
class ActivationMish(IActivation):
    """``x * tanh(log(1 + exp(x)))`` (Misra, 2019)."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "mish", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationPReLU")
class ActivationPReLU(IActivation):
    """``x`` where positive, else ``alpha * x`` with an array of slopes."""

    alpha: np.ndarray[Any, Any] | None = None
    shared_axes: tuple[int, ...] | None = None

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        if self.alpha is None:
            raise ConfigurationError("ActivationPReLU needs alpha, the array of slopes; PReLULayer learns it")
        return self.define_with(sd, x, sd.constant(self.alpha))

    def define_with(self, sd: SameDiff, x: SDVariable, alpha: SDVariable) -> SDVariable:
        """The function with slopes in a variable."""
        return sd.add_op(ops.ParametricRelu(), [x, alpha])  # type: ignore[no-any-return]

    def backprop(self, x: Any, epsilon: Any) -> tuple[Any, Any]:
        """Gradients for ``x`` and for ``alpha``."""
        arrays = [floating(x), floating(self.alpha)]
        graph = direct(self, "define_with", arrays)
        dx, dalpha = graph.run(arrays, [graph.gradient(0), graph.gradient(1)], seed=floating(epsilon), training=True)
        return dx, dalpha


@configuration(_PACKAGE + "ActivationRationalTanh")
class ActivationRationalTanh(IActivation):
    """Rational approximation of ``1.7159 * tanh(2 x / 3)``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.RationalTanh(), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationRectifiedTanh")
class ActivationRectifiedTanh(IActivation):
    """``max(0, tanh(x))``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.RectifiedTanh(), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationReLU")
class ActivationReLU(IActivation):
    """``max(0, x)``; below the threshold ``negative_slope * (x - threshold)``, never above ``max``."""

    max: float | None = None
    threshold: float | None = None
    negative_slope: float | None = None

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        if self.threshold or (self.negative_slope and self.max is not None):
            made: Op = ops.ThresholdRelu(self.threshold or 0.0, self.negative_slope or 0.0, self.max)
        elif self.negative_slope:
            made = ops.LeakyRelu(self.negative_slope)
        elif self.max is not None:
            made = ops.ClippedRelu(self.max)
        else:
            return sd.call("nn", "relu", x)  # type: ignore[no-any-return]
        return sd.add_op(made, [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationReLU6")
class ActivationReLU6(IActivation):
    """``min(6, max(0, x))``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.ClippedRelu(6.0), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationRReLU")
class ActivationRReLU(IActivation):
    """``x`` where positive, else ``a * x`` with a slope drawn from [l, u] while training."""

    l: float = 1 / 8
    u: float = 1 / 3

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        slopes = sd.add_op(ops.RandomSlopes(self.l, self.u), [x])
        return sd.add_op(ops.SlopedRelu((self.l + self.u) / 2), [x, slopes])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationSELU")
class ActivationSELU(IActivation):
    """Self-normalizing unit (Klambauer et al., 2017)."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "selu", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationSigmoid")
class ActivationSigmoid(IActivation):
    """``1 / (1 + exp(-x))``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "sigmoid", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationSoftmax")
class ActivationSoftmax(IActivation):
    """``exp(x) / sum(exp(x))`` over the features of each row."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "softmax", x, -1)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationSoftPlus")
class ActivationSoftPlus(IActivation):
    """``log(1 + exp(x))``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "softplus", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationSoftSign")
class ActivationSoftSign(IActivation):
    """``x / (1 + |x|)``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "softsign", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationSwish")
class ActivationSwish(IActivation):
    """``x * sigmoid(x)`` (Ramachandran et al., 2017)."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "swish", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationTanH")
class ActivationTanH(IActivation):
    """``tanh(x)``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("math", "tanh", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationThresholdedReLU")
class ActivationThresholdedReLU(IActivation):
    """``x`` where above ``theta``, else 0."""

    theta: float = 1.0

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "thresholded_relu", x, self.theta)  # type: ignore[no-any-return]


class Activation(JavaSpelling, Enum):
    """Names of the activation functions; the value is the class that computes it."""

    CUBE = "ActivationCube"
    ELU = "ActivationELU"
    HARDSIGMOID = "ActivationHardSigmoid"
    HARDTANH = "ActivationHardTanH"
    IDENTITY = "ActivationIdentity"
    LEAKYRELU = "ActivationLReLU"
    RATIONALTANH = "ActivationRationalTanh"
    RELU = "ActivationReLU"
    RELU6 = "ActivationReLU6"
    RRELU = "ActivationRReLU"
    SIGMOID = "ActivationSigmoid"
    SOFTMAX = "ActivationSoftmax"
    SOFTPLUS = "ActivationSoftPlus"
    SOFTSIGN = "ActivationSoftSign"
    TANH = "ActivationTanH"
    RECTIFIEDTANH = "ActivationRectifiedTanh"
    SELU = "ActivationSELU"
    SWISH = "ActivationSwish"
    THRESHOLDEDRELU = "ActivationThresholdedReLU"
    GELU = "ActivationGELU"
    MISH = "ActivationMish"

    def get_activation_function(self) -> IActivation:
        """Return the function with its default settings."""
        function = find_class(_PACKAGE + self.value)()
        assert isinstance(function, IActivation)
        return function

    def as_same_diff(self, *arguments: Any) -> SDVariable:
        """Add the function to a graph: ``as_same_diff([name, ]sd, x)``."""
        *name, sd, x = arguments
        y = self.get_activation_function().define(sd, x)
        return sd.identity(*name, y) if name else y  # type: ignore[no-any-return]

    def to_document(self) -> str:
        """The name, as DL4J's JSON has it."""
        return self.name

    @classmethod
    def from_string(cls, name: str) -> Activation:
        """Return the member of a name in any case and spelling (``"leaky_relu"``)."""
        known = {squash(n): m for n, m in cls.__members__.items()} | {squash(m.value): m for m in cls}
        if squash(name) not in known:
            hint = did_you_mean(name.lower(), [n.lower() for n in cls.__members__])
            raise ConfigurationError(f"no activation function is called {name!r}{hint}")
        return known[squash(name)]
