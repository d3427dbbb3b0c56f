"""Activation functions as configuration objects, and the enum of their names."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from ...samediff.base.java.java_enum import JavaEnum
from ...samediff.base.java.other_libraries import ACTIVATIONS
from ...samediff.base.java.pair import Pair
from ...samediff.base.javanames import squash
from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.base.user_code.user_methods import keeps_shape
from ...samediff.base.user_code.users_arrays import into_given
from ...samediff.configuration.classes import find_class
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.errors import ConfigurationError, did_you_mean
from ...samediff.ir.op import Op
from ..ops import activation_ops as ops
from ..types.java_names import (
    ActivationCubeNames,
    ActivationELUNames,
    ActivationGELUNames,
    ActivationHardSigmoidNames,
    ActivationHardTanHNames,
    ActivationIdentityNames,
    ActivationLReLUNames,
    ActivationMishNames,
    ActivationNames,
    ActivationPReLUNames,
    ActivationRationalTanhNames,
    ActivationRectifiedTanhNames,
    ActivationReLU6Names,
    ActivationReLUNames,
    ActivationRReLUNames,
    ActivationSELUNames,
    ActivationSigmoidNames,
    ActivationSoftmaxNames,
    ActivationSoftPlusNames,
    ActivationSoftSignNames,
    ActivationSwishNames,
    ActivationTanHNames,
    ActivationThresholdedReLUNames,
    IActivationNames,
)
from .eager import direct, floating
from .java_forms import define_activation, is_in_java_form

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = [
    "Activation", "ActivationCube", "ActivationELU", "ActivationGELU", "ActivationHardSigmoid", "ActivationHardTanH", "ActivationIdentity",
    "ActivationLReLU", "ActivationMish", "ActivationPReLU", "ActivationRReLU", "ActivationRationalTanh", "ActivationReLU",
    "ActivationReLU6", "ActivationRectifiedTanh", "ActivationSELU", "ActivationSigmoid", "ActivationSoftPlus", "ActivationSoftSign",
    "ActivationSoftmax", "ActivationSwish", "ActivationTanH", "ActivationThresholdedReLU", "BaseActivationFunction", "IActivation",
    "activation",
]

_PACKAGE = "org.nd4j.linalg.activations.impl."


T = TypeVar("T", bound="IActivation")


def activation(java_name: str, *, aliases: tuple[str, ...] = ()) -> Callable[[type[T]], type[T]]:
    """Register an activation function of one's own under the name that files use; annotated fields become its options.

    Parameters
    ----------
    java_name : str
        A full Java name.
    aliases : tuple of str
        Further names under which files may have it.

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
class IActivation(Configuration, IActivationNames):
    """Base of all activation functions. Fields of this type also take an :class:`Activation` or its name.

    A class of one's own writes ``define``; or, as DL4J's do, ``get_activation(x, training)`` and ``backprop(x, epsilon)`` on arrays, which
    run in Python.

    Examples
    --------
    >>> IActivation.of("leakyrelu")
    ActivationLReLU()
    """

    result_checks = {"define": keeps_shape}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if is_in_java_form(cls, "get_activation", "backprop"):
            setattr(cls, "define", define_activation)  # noqa: B010  # mypy knows no such assignment

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
        """The function of an array, which stays as it is; an array with DL4J's methods takes the result, as in DL4J."""
        array = floating(x)
        graph = direct(self, "define", [array])
        return into_given(x, graph.run([array], [graph.result.name()], training=training)[0])

    def backprop(self, x: Any, epsilon: Any) -> Pair[Any, Any]:
        """The gradient for the pre-activation ``x`` from that for the activation, and the one for parameters (None).

        An array ``x`` with DL4J's methods takes the first."""
        array = floating(x)
        graph = direct(self, "define", [array])
        return Pair(into_given(x, graph.run([array], [graph.gradient(0)], seed=floating(epsilon), training=True)[0]), None)

    def __str__(self) -> str:
        return next((a.name.lower() for a in Activation if a.value == type(self).__name__), repr(self))


#: DL4J's name of the base of those that are written in Java.
BaseActivationFunction = IActivation


@configuration(_PACKAGE + "ActivationCube")
class ActivationCube(IActivation, ActivationCubeNames):
    """The function ``x³``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.Cube(), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationELU")
class ActivationELU(IActivation, ActivationELUNames):
    """``x`` where positive, else ``alpha * (exp(x) - 1)`` (Clevert et al., 2015).

    Parameters
    ----------
    alpha : float
        What is approached, with the sign changed, far below 0; default 1.
    """

    alpha: float = 1.0

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.LayerElu(self.alpha), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationGELU")
class ActivationGELU(IActivation, ActivationGELUNames):
    """Gaussian error linear unit (Hendrycks and Gimpel, 2016): ``x * sigmoid(1.702 x)``, or the tanh form when
    precise.

    Parameters
    ----------
    precise : bool
        Take the tanh form; False by default.
    """

    precise: bool = False

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.GeluCubed() if self.precise else ops.Gelu(), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationHardSigmoid")
class ActivationHardSigmoid(IActivation, ActivationHardSigmoidNames):
    """``min(1, max(0, 0.2 x + 0.5))``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.HardSigmoid(), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationHardTanH")
class ActivationHardTanH(IActivation, ActivationHardTanHNames):
    """``max(-1, min(1, x))``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "hard_tanh", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationIdentity")
class ActivationIdentity(IActivation, ActivationIdentityNames):
    """The function ``x``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return x


@configuration(_PACKAGE + "ActivationLReLU")
class ActivationLReLU(IActivation, ActivationLReLUNames):
    """``x`` where positive, else ``alpha * x``.

    Parameters
    ----------
    alpha : float
        Slope of negative values; default 0.01.
    """

    alpha: float = 0.01

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.LayerLeakyRelu(self.alpha), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationMish")
class ActivationMish(IActivation, ActivationMishNames):
    """``x * tanh(log(1 + exp(x)))`` (Misra, 2019)."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "mish", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationPReLU")
class ActivationPReLU(IActivation, ActivationPReLUNames):
    """``x`` where positive, else ``alpha * x`` with an array of slopes.

    Parameters
    ----------
    alpha : array, optional
        Slopes of negative values, in the shape of an example.
    shared_axes : sequence of int, optional
        Axes along which examples share slopes.
    """

    alpha: Convertible[np.ndarray[Any, Any] | None] = None
    shared_axes: Convertible[tuple[int, ...] | None] = None

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        if self.alpha is None:
            raise ConfigurationError("ActivationPReLU needs alpha, the array of slopes; PReLULayer learns it")
        return self.define_with(sd, x, sd.constant(self.alpha))

    def define_with(self, sd: SameDiff, x: SDVariable, alpha: SDVariable) -> SDVariable:
        """The function with slopes in a variable."""
        return sd.add_op(ops.ParametricRelu(), [x, alpha])  # type: ignore[no-any-return]

    def backprop(self, x: Any, epsilon: Any) -> Pair[Any, Any]:
        """Gradients for ``x`` and for ``alpha``."""
        arrays = [floating(x), floating(self.alpha)]
        graph = direct(self, "define_with", arrays)
        dx, dalpha = graph.run(arrays, [graph.gradient(0), graph.gradient(1)], seed=floating(epsilon), training=True)
        return Pair(dx, dalpha)


@configuration(_PACKAGE + "ActivationRationalTanh")
class ActivationRationalTanh(IActivation, ActivationRationalTanhNames):
    """Rational approximation of ``1.7159 * tanh(2 x / 3)``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.RationalTanh(), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationRectifiedTanh")
class ActivationRectifiedTanh(IActivation, ActivationRectifiedTanhNames):
    """``max(0, tanh(x))``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.RectifiedTanh(), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationReLU")
class ActivationReLU(IActivation, ActivationReLUNames):
    """``max(0, x)``; below the threshold ``negative_slope * (x - threshold)``, never above ``max``.

    Parameters
    ----------
    max : float, optional
        Largest value; none by default.
    threshold : float, optional
        Where the line begins; 0 by default.
    negative_slope : float, optional
        Slope below the threshold; 0 by default.
    """

    max: float | None = None
    threshold: float | None = None
    negative_slope: float | None = None

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        if self.threshold or (self.negative_slope and self.max is not None):
            made: Op = ops.ThresholdRelu(self.threshold or 0.0, self.negative_slope or 0.0, self.max)
        elif self.negative_slope:
            made = ops.LayerLeakyRelu(self.negative_slope)
        elif self.max is not None:
            made = ops.ClippedRelu(self.max)
        else:
            return sd.call("nn", "relu", x)  # type: ignore[no-any-return]
        return sd.add_op(made, [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationReLU6")
class ActivationReLU6(IActivation, ActivationReLU6Names):
    """``min(6, max(0, x))``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.add_op(ops.ClippedRelu(6.0), [x])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationRReLU")
class ActivationRReLU(IActivation, ActivationRReLUNames):
    """``x`` where positive, else ``a * x`` with a slope drawn from [l, u] while training.

    Parameters
    ----------
    l, u : float
        Smallest and largest slope of negative values; 1/8 and 1/3 by default. Outside training it is their mean.
    """

    l: float = 1 / 8
    u: float = 1 / 3

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        slopes = sd.add_op(ops.RandomSlopes(self.l, self.u), [x])
        return sd.add_op(ops.SlopedRelu((self.l + self.u) / 2), [x, slopes])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationSELU")
class ActivationSELU(IActivation, ActivationSELUNames):
    """Self-normalizing unit (Klambauer et al., 2017): ``1.0507 * x`` where positive, else ``1.0507 * 1.6733 * (exp(x) - 1)``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "selu", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationSigmoid")
class ActivationSigmoid(IActivation, ActivationSigmoidNames):
    """``1 / (1 + exp(-x))``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "sigmoid", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationSoftmax")
class ActivationSoftmax(IActivation, ActivationSoftmaxNames):
    """``exp(x) / sum(exp(x))`` over the features of each row."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "softmax", x, -1)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationSoftPlus")
class ActivationSoftPlus(IActivation, ActivationSoftPlusNames):
    """``log(1 + exp(x))``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "softplus", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationSoftSign")
class ActivationSoftSign(IActivation, ActivationSoftSignNames):
    """``x / (1 + |x|)``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "softsign", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationSwish")
class ActivationSwish(IActivation, ActivationSwishNames):
    """``x * sigmoid(x)`` (Ramachandran et al., 2017)."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "swish", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationTanH")
class ActivationTanH(IActivation, ActivationTanHNames):
    """``tanh(x)``."""

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("math", "tanh", x)  # type: ignore[no-any-return]


@configuration(_PACKAGE + "ActivationThresholdedReLU")
class ActivationThresholdedReLU(IActivation, ActivationThresholdedReLUNames):
    """``x`` where above ``theta``, else 0.

    Parameters
    ----------
    theta : float
        The threshold, which itself gives 0; 1 by default.
    """

    theta: float = 1.0

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return sd.call("nn", "thresholded_relu", x, self.theta)  # type: ignore[no-any-return]


class Activation(ActivationNames, JavaEnum):
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
        short = squash(ACTIVATIONS.get(squash(name), name))
        if short not in known:
            hint = did_you_mean(name.lower(), [n.lower() for n in cls.__members__])
            raise ConfigurationError(f"no activation function is called {name!r}{hint}")
        return known[short]
