"""Capsule networks (Sabour et al., 2017)."""
from __future__ import annotations

from typing import Any, ClassVar, Self

from ..samediff.configuration import field
from .base import layer
from .formats import ConvolutionMode
from .input_type import InputType, InputTypeConvolutional, InputTypeRecurrent
from .samediff_base import GraphDefinedHiddenLayer
from .sizes import convolved, repeated


@layer("PrimaryCapsules")
class PrimaryCapsules(GraphDefinedHiddenLayer):
    """A convolution whose results are capsules.

    Shapes: x (batch, channels, height, width) -> (batch, capsules, dimensions).
    """

    kernel_size: tuple[int, ...] = (9, 9)
    stride: tuple[int, ...] = (2, 2)
    padding: tuple[int, ...] = (0, 0)
    dilation: tuple[int, ...] = (1, 1)
    input_channels: int = 0
    channels: int = 32
    capsules: int = 0
    capsule_dimensions: int = 0
    has_bias: bool = True
    use_relu: bool = field(default=False, json="useRelu")
    leak: float = field(default=0.0, aliases=("use_leaky_relu",))
    convolution_mode: ConvolutionMode | None = ConvolutionMode.Truncate

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return dict(zip(("capsule_dimensions", "channels", "kernel_size", "stride"), args))

    def validate(self) -> None:
        for name in ("kernel_size", "stride", "padding", "dilation"):
            self.__dict__[name] = repeated(getattr(self, name), 2)

    def output_type(self, input_type: InputType) -> InputType:
        return InputType.recurrent(self.capsules or self._count(input_type), self.capsule_dimensions)

    def _count(self, input_type: InputType) -> int:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        # DL4J takes the sizes of an NHWC type as if it were NCHW
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
class CapsuleLayer(GraphDefinedHiddenLayer):
    """Capsules with dynamic routing.

    Shapes: x (batch, input capsules, dimensions) -> (batch, capsules, capsule_dimensions).
    """

    input_capsules: int = 0
    input_capsule_dimensions: int = 0
    capsules: int = 0
    capsule_dimensions: int = 0
    routings: int = 3
    has_bias: bool = False

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return dict(zip(("capsules", "capsule_dimensions", "routings"), args))

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
class CapsuleStrengthLayer(GraphDefinedHiddenLayer):
    """The norm of each capsule. Shapes: x (batch, capsules, dimensions) -> (batch, capsules)."""

    weight_names: ClassVar[tuple[str, ...]] = ()

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.feed_forward(input_type.size)
