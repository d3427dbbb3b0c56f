"""Capsule networks (Sabour et al., 2017)."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import InitVar
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...samediff.configuration.declaring import Convertible, field, option
from ...samediff.errors import ConfigurationError
from ...samediff.ops.conv.conv import Conv2D
from ..base.base import layer
from ..custom.samediff_base import GraphDefinedHiddenLayer
from ..ops.series_ops import reshaped
from ..types.formats import ConvolutionMode
from ..types.input_type import InputType, InputTypeConvolutional, InputTypeRecurrent
from ..types.java_names import CapsuleLayerNames, CapsuleStrengthLayerNames, PrimaryCapsulesNames
from ..types.parameters import LayerScope, ParameterTable
from ..types.positional import positional
from ..types.sizes import convolved, repeated
from ..types.windows import refuse_causal, window_attributes

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["CapsuleLayer", "CapsuleStrengthLayer", "PrimaryCapsules"]


def squash(s: SDVariable, axis: int) -> SDVariable:
    """s |s|^2 / ((1 + |s|^2) sqrt(|s|^2 + 1e-5)): the same direction, a length below 1."""
    squares = (s * s).sum(True, axis)
    return s * (squares / ((squares + 1.0) * s.sd.call("math", "sqrt", squares + 1e-5)))  # type: ignore[no-any-return]


def _leaky(values: dict[str, Any], leak: float) -> None:
    values.update(use_relu=True, leak=leak)


def _channels(values: dict[str, Any], channels: int) -> None:
    values["channels"] = channels


def _input_shape(values: dict[str, Any], *shape: Any) -> None:
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape
    if len(sizes) != 2:
        raise ConfigurationError(f"CapsuleLayer: input_shape is (capsules, dimensions); got {sizes}")
    values.update(input_capsules=sizes[0], input_capsule_dimensions=sizes[1])


@layer("PrimaryCapsules")
class PrimaryCapsules(GraphDefinedHiddenLayer, PrimaryCapsulesNames):
    """A convolution whose results are capsules: vectors s whose lengths are squashed below 1, ``s |s|² / ((1 + |s|²) sqrt(|s|² + 1e-5))``.

    Shapes: x (batch, input_channels, height, width) -> (batch, capsules, capsule_dimensions).

    Parameters
    ----------
    capsule_dimensions : int
        Length of one capsule, a vector.
    channels : int
        Capsules at each position; 32 by default (``n_out`` sets it too).
    capsules : int
        Positions times ``channels``; 0 where the input type says it.
    input_channels : int
        Channels of the images; 0 where the input type says it.
    kernel_size, stride, padding, dilation : int or (height, width)
        Window of the convolution: 9, 2, 0 and 1 by default.
    convolution_mode : ConvolutionMode or str
        ``Truncate`` by default, also where the network has another; ``Causal`` is refused.
    has_bias : bool
        Whether the convolution has a bias; True by default.
    use_relu : bool
        Whether ReLU acts on the convolution, before the squashing; False by default.
    leak : float
        Slope of that ReLU for negative values; 0 by default. ``use_leaky_relu=0.1`` sets both.

    Examples
    --------
    >>> layer = PrimaryCapsules(capsule_dimensions=8, channels=4).set_n_in(InputType.convolutional(28, 28, 1))
    >>> layer.capsules, layer.output_type(InputType.convolutional(28, 28, 1))
    (400, InputTypeRecurrent(size=400, time_series_length=8))
    """

    reads_channels_first: ClassVar[bool] = True
    kernel_size: Convertible[tuple[int, ...]] = (9, 9)
    stride: Convertible[tuple[int, ...]] = (2, 2)
    padding: Convertible[tuple[int, ...]] = (0, 0)
    dilation: Convertible[tuple[int, ...]] = (1, 1)
    input_channels: int = 0
    channels: int = 32
    capsules: int = 0
    capsule_dimensions: int = 0
    has_bias: bool = True
    use_relu: bool = field(default=False, json="useRelu")
    leak: float = 0.0
    convolution_mode: Convertible[ConvolutionMode | None] = ConvolutionMode.Truncate
    use_leaky_relu: InitVar[float | None] = option(_leaky)
    n_out: InitVar[int | None] = option(_channels)
    if TYPE_CHECKING:       # capsule_dimensions, channels, kernel_size, stride, padding and dilation by position
        _1: InitVar[int] = field(default=0, kw_only=False)
        _2: InitVar[int] = field(default=0, kw_only=False)
        _3: InitVar[Any] = field(default=0, kw_only=False)
        _4: InitVar[Any] = field(default=0, kw_only=False)
        _5: InitVar[Any] = field(default=0, kw_only=False)
        _6: InitVar[Any] = field(default=0, kw_only=False)

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return positional(cls.__name__, ("capsule_dimensions", "channels", "kernel_size", "stride", "padding", "dilation"), *args)

    def validate(self) -> None:
        for name in ("kernel_size", "stride", "padding", "dilation"):
            self._put(**{name: repeated(getattr(self, name), 2)})
        refuse_causal(self, self.convolution_mode)

    def define_parameters(self, params: ParameterTable) -> None:
        area, out = math.prod(self.kernel_size), self.capsule_dimensions * self.channels
        params.weight("weight", (*self.kernel_size, self.input_channels, out), fan_in=self.input_channels * area,
                      fan_out=out * area / math.prod(self.stride))
        if self.has_bias:
            params.bias("bias", (out,))

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        bias = [params["bias"]] if self.has_bias else []
        z = sd.add_op(Conv2D(**window_attributes(self, Conv2D)), [x, params["weight"], *bias])
        if self.use_relu:
            z = sd.call("nn", "leaky_relu", z, self.leak) if self.leak else sd.call("nn", "relu", z, 0.0)
        return squash(reshaped(z, (self.capsules, self.capsule_dimensions)), 2)

    def output_type(self, input_type: InputType) -> InputType:
        return InputType.recurrent(self.capsules or self._count(input_type), self.capsule_dimensions)

    def _count(self, input_type: InputType) -> int:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        sizes = (input_type.height, input_type.width)
        rows, columns = (convolved(self.label, n, k, s, p, d, self.convolution_mode)
                         for n, k, s, p, d in zip(sizes, self.kernel_size, self.stride, self.padding, self.dilation))
        return rows * columns * self.channels

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        changed = self.replace(input_channels=input_type.channels) if self.input_channels <= 0 or override else self
        return changed.replace(capsules=self._count(input_type)) if self.capsules <= 0 or override else changed


@layer("CapsuleLayer")
class CapsuleLayer(GraphDefinedHiddenLayer, CapsuleLayerNames):
    """Capsules with dynamic routing: input capsules vote, and votes that agree with the result count more in the next round.

    Shapes: x (batch, input_capsules, input_capsule_dimensions) -> (batch, capsules, capsule_dimensions).

    Parameters
    ----------
    capsules, capsule_dimensions : int
        Number of capsules, and length of each, a vector.
    routings : int
        Rounds of voting, at least 1; 3 by default.
    input_capsules, input_capsule_dimensions : int
        Sizes of the input; 0 where the input type says them. ``input_shape=(16, 8)`` sets both.
    has_bias : bool
        Whether a bias is added to the votes' sum before it is squashed; False by default.
    """

    reads_channels_first: ClassVar[bool] = True
    input_capsules: int = 0
    input_capsule_dimensions: int = 0
    capsules: int = field(default=0, kw_only=False)
    capsule_dimensions: int = field(default=0, kw_only=False)
    routings: int = field(default=3, kw_only=False)
    has_bias: bool = False
    input_shape: InitVar[Sequence[int] | None] = option(_input_shape)

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return positional(cls.__name__, ("capsules", "capsule_dimensions", "routings"), *args)

    def define_parameters(self, params: ParameterTable) -> None:
        given, out = self.input_capsules * self.input_capsule_dimensions, self.capsules * self.capsule_dimensions
        params.weight("weight", (1, self.input_capsules, out, self.input_capsule_dimensions, 1), fan_in=given, fan_out=out)
        if self.has_bias:
            params.bias("bias", (1, 1, self.capsules, self.capsule_dimensions, 1))

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """Each input capsule votes for each capsule; votes that agree with the result count more in the next round."""
        n, j, k = self.input_capsules, self.capsules, self.capsule_dimensions
        weights = sd.call("base", "reshape", params["weight"], n, j * k, self.input_capsule_dimensions)
        votes = sd.call("base", "mmul", sd.call("base", "permute", x, 1, 0, 2), weights, False, True, False)
        votes = sd.call("base", "permute", sd.call("base", "reshape", votes, n, -1, j, k), 1, 0, 2, 3)
        bias = sd.call("base", "reshape", params["bias"], 1, 1, j, k) if self.has_bias else None
        agreement: SDVariable | None = None
        result: SDVariable | None = None
        for _ in range(self.routings):
            if result is not None:
                found = (votes * result).sum(True, 3)
                agreement = found if agreement is None else agreement + found
            share = votes * (1 / j) if agreement is None else votes * sd.call("nn", "softmax", agreement, 2)
            total = share.sum(True, 1)
            result = squash(total if bias is None else total + bias, 3)
        return sd.call("base", "squeeze", result, 1)  # type: ignore[no-any-return]

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        """None: capsules are no steps of a series."""
        return None

    def validate(self) -> None:
        if self.routings < 1:
            raise ConfigurationError(f"{self.label}: routings must be at least 1; got {self.routings}")

    def output_type(self, input_type: InputType) -> InputType:
        return InputType.recurrent(self.capsules, self.capsule_dimensions)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        changes = {}
        if self.input_capsules <= 0 or override:
            changes["input_capsules"] = input_type.size
        if self.input_capsule_dimensions <= 0 or override:
            changes["input_capsule_dimensions"] = input_type.time_series_length
        return self.replace(**changes)


@layer("CapsuleStrengthLayer")
class CapsuleStrengthLayer(GraphDefinedHiddenLayer, CapsuleStrengthLayerNames):
    """The norm of each capsule. Shapes: x (batch, capsules, dimensions) -> (batch, capsules)."""

    reads_channels_first: ClassVar[bool] = True
    weight_names: ClassVar[tuple[str, ...]] = ()

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.feed_forward(input_type.size)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return sd.call("math", "norm2", x, 2)  # type: ignore[no-any-return]

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        """None: capsules are no steps of a series."""
        return None
