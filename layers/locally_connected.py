"""Convolutions whose kernels differ from position to position."""
from __future__ import annotations

from typing import ClassVar, Self

from ..samediff.configuration import field
from ..samediff.errors import ConfigurationError
from . import automatic
from .activations import Activation
from .base import Rule, layer
from .formats import CNN2DFormat, ConvolutionMode
from .input_type import InputType, InputTypeConvolutional, InputTypeRecurrent
from .samediff_base import GraphDefinedHiddenLayer
from .sizes import convolved, effective, repeated


@layer("LocallyConnected1D")
class LocallyConnected1D(GraphDefinedHiddenLayer):
    """Shapes: x (batch, n_in, time), time known -> (batch, n_out, out time)."""

    preprocessor_rule: ClassVar[Rule] = automatic.to_recurrent
    n_in: int = 0
    n_out: int = 0
    activation: Activation | None = Activation.TANH
    kernel: int = field(default=2, aliases=("kernel_size",))
    stride: int = 1
    padding: int = 0
    padding_r: int = 0
    dilation: int = 1
    cm: ConvolutionMode | None = field(default=ConvolutionMode.Same, aliases=("convolution_mode",))
    has_bias: bool = True
    input_size: int = field(default=0, aliases=("set_input_size",))
    output_size: int = 0
    feature_dim: int = 0

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        if input_type.time_series_length < 1:
            raise ConfigurationError(f"{self.label} needs time series of known length; got {input_type!r}")
        return InputType.recurrent(self.n_out, self._out(input_type.time_series_length))

    def _out(self, length: int) -> int:
        return convolved(self.label, length, self.kernel, self.stride, self.padding, self.dilation, self.cm)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        n_in = input_type.size if self.n_in <= 0 or override else self.n_in
        changed = self.replace(n_in=n_in, feature_dim=self.kernel * n_in)
        length = input_type.time_series_length
        if length < 1:
            return changed
        out, total = self._out(length), 0
        if self.cm in (ConvolutionMode.Same, ConvolutionMode.Causal):
            total = max(0, (out - 1) * self.stride + effective(self.kernel, self.dilation) - length)
            return changed.replace(input_size=length, output_size=out, padding=total // 2, padding_r=total - total // 2)
        return changed.replace(input_size=length, output_size=out)


@layer("LocallyConnected2D")
class LocallyConnected2D(GraphDefinedHiddenLayer):
    """Shapes: x (batch, n_in, height, width), size known -> (batch, n_out, out height, out width); NHWC likewise."""

    preprocessor_rule: ClassVar[Rule] = automatic.to_images
    n_in: int = 0
    n_out: int = 0
    activation: Activation | None = Activation.TANH
    kernel: tuple[int, ...] = field(default=(2, 2), aliases=("kernel_size",))
    stride: tuple[int, ...] = (1, 1)
    padding: tuple[int, ...] = (0, 0)
    padding_br: tuple[int, ...] | None = None
    dilation: tuple[int, ...] = (1, 1)
    cm: ConvolutionMode | None = field(default=ConvolutionMode.Same, aliases=("convolution_mode",))
    has_bias: bool = True
    input_size: tuple[int, ...] | None = field(default=None, aliases=("set_input_size",))
    output_size: tuple[int, ...] | None = None
    feature_dim: int = 0
    format: CNN2DFormat = field(default=CNN2DFormat.NCHW, aliases=("data_format",))

    def validate(self) -> None:
        for name in ("kernel", "stride", "padding", "dilation"):
            self.__dict__[name] = repeated(getattr(self, name), 2)

    def _out(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(convolved(self.label, n, k, s, p, d, self.cm)
                     for n, k, s, p, d in zip(sizes, self.kernel, self.stride, self.padding, self.dilation))

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        height, width = self._out((input_type.height, input_type.width))
        return InputType.convolutional(height, width, self.n_out, input_type.format)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        n_in = input_type.channels if self.n_in <= 0 or override else self.n_in
        sizes = (input_type.height, input_type.width)
        out = self._out(sizes)
        changed = self.replace(n_in=n_in, feature_dim=self.kernel[0] * self.kernel[1] * n_in, input_size=sizes,
                               output_size=out, format=input_type.format)
        if self.cm is not ConvolutionMode.Same:
            return changed
        total = [max(0, (o - 1) * s + effective(k, d) - n)
                 for o, s, k, d, n in zip(out, self.stride, self.kernel, self.dilation, sizes)]
        return changed.replace(padding=tuple(t // 2 for t in total), padding_br=tuple(t - t // 2 for t in total))
