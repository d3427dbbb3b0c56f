"""Convolutions whose kernels differ from position to position."""
from __future__ import annotations

import math
from dataclasses import InitVar
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...samediff.configuration.declaring import Convertible, field
from ...samediff.errors import ConfigurationError
from ...samediff.ops.conv.patches import Patches, Unfold
from ...samediff.ops.conv.window import Window
from ..base import automatic
from ..base.base import Rule, layer
from ..custom.samediff_base import GraphDefinedHiddenLayer
from ..functions.activations import Activation
from ..ops.series_ops import reshaped
from ..types.formats import CNN2DFormat, ConvolutionMode
from ..types.input_type import InputType, InputTypeConvolutional, InputTypeRecurrent
from ..types.java_names import LocallyConnected1DNames, LocallyConnected2DNames
from ..types.parameters import LayerScope, ParameterTable
from ..types.sizes import convolved, effective, repeated
from ..types.windows import PAD_MODES, MaskWindows, refuse_causal, refuse_padding

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["LocallyConnected1D", "LocallyConnected2D"]


def _axes(sizes: Any) -> tuple[int, ...]:
    """The sizes along the axes, none as long as one is open."""
    found = (sizes,) if isinstance(sizes, int) else tuple(sizes or ())
    return found if found and min(found) > 0 else ()


class LocallyConnected(GraphDefinedHiddenLayer):
    """Every position of the result has a matrix of its own for its patch of the input.

    Parameters
    ----------
    n_in, n_out : int
        Size of a step or number of channels, of input and output; ``n_in`` is 0 where the input type says it.
    activation : Activation or str
        Tanh by default; that of the network is not taken.
    kernel, stride, padding, dilation : int or (height, width)
        Window, as of a convolution: 2, 1, 0 and 1 by default. ``kernel_size`` is another name of ``kernel``.
    cm : ConvolutionMode or str
        Mode (``convolution_mode`` in builders); ``Same`` by default, with which ``padding`` is refused.
    has_bias : bool
        Whether there is ``b`` (n_out,), one for all positions; True by default.
    input_size : int or (height, width)
        Size of the input, which must be known: weights differ from position to position. It follows from the input type.
    output_size, feature_dim, padding_r, padding_br
        What DL4J works out of the input type and keeps in files: positions of the result, values in a patch, and padding at the end
        of the axes.
    """

    n_in: int = 0
    n_out: int = 0
    has_bias: bool = True

    def shape(self) -> tuple[int, ...]:
        """Numbers of positions along the axes, which must be known."""
        found, given = (_axes(getattr(self, name, None)) for name in ("output_size", "input_size"))
        if not found and given:
            found = _axes(self._out(vars(self)["input_size"]))
        if not found:
            raise ConfigurationError(f"{self.label}: set input_size, or the input type of the network")
        return found

    def _out(self, sizes: Any) -> Any:
        """Numbers of positions for an input of these sizes."""
        raise NotImplementedError(type(self).__name__)

    def define_parameters(self, params: ParameterTable) -> None:
        """W (positions, patch, n_out), then b (n_out,)."""
        window = self.window()
        area = math.prod(window.kernel)
        params.weight("W", (math.prod(self.shape()), area * self.n_in, self.n_out), fan_in=self.n_in * area,
                      fan_out=self.n_out * area / math.prod(window.stride))
        if self.has_bias:
            params.bias("b", (self.n_out,))

    def window(self) -> Window:
        """Patches of images; series are images of width 1."""
        one = isinstance(vars(self)["kernel"], int)
        second = {"kernel": 1, "stride": 1, "padding": 0, "dilation": 1}
        kernel, stride, padding, dilation = ((vars(self)[n], w) if one else tuple(vars(self)[n]) for n, w in second.items())
        return Window(kernel, stride, padding, dilation, PAD_MODES.get(vars(self)["cm"], "VALID"))

    def at_positions(self, sd: SameDiff, x: SDVariable, params: LayerScope, channels_last: bool) -> SDVariable:
        """activation(patch @ W + b) as (batch, n_out, positions); as in DL4J positions of images run down the columns."""
        columns = sd.add_op(Unfold(Patches(self.window(), "whncyx", channels_last, 3)), [x])
        _, length, _ = next(p.shape for p in self.parameter_table() if p.name == "W")
        patches = sd.call("base", "reshape", columns, math.prod(self.shape()), -1, length)
        z = sd.call("base", "mmul", patches, params["W"])
        z = z + params["b"] if self.has_bias else z
        activation: Any = vars(self)["activation"]
        return sd.call("base", "permute", activation.get_activation_function().define(sd, z), 1, 2, 0)  # type: ignore[no-any-return]


@layer("LocallyConnected1D")
class LocallyConnected1D(LocallyConnected, LocallyConnected1DNames):
    """A convolution over time with weights of its own at each position, ``W`` (positions, kernel * n_in, n_out).

    Shapes: x (batch, n_in, time), time known -> (batch, n_out, out time).
    """

    preprocessor_rule: ClassVar[Rule] = automatic.to_recurrent
    reads_channels_first: ClassVar[bool] = True
    n_in: int = 0
    n_out: int = 0
    activation: Convertible[Activation | None] = Activation.TANH
    kernel: int = field(default=2, aliases=("kernel_size",))
    if TYPE_CHECKING:       # further names, which `aliases` make
        kernel_size: InitVar[int] = 2
        convolution_mode: InitVar[Any] = None
    stride: int = 1
    padding: int = 0
    padding_r: int = 0
    dilation: int = 1
    cm: Convertible[ConvolutionMode | None] = field(default=ConvolutionMode.Same, aliases=("convolution_mode",))
    has_bias: bool = True
    input_size: int = field(default=0, aliases=("set_input_size",))
    output_size: int = 0
    feature_dim: int = 0

    def validate_new(self) -> None:
        refuse_padding(self, self.cm)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return self.at_positions(sd, sd.call("base", "expand_dims", x, 3), params, False)

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        """The largest mask value of each window."""
        if mask is None:
            return None
        window = Window((self.kernel,), (self.stride,), (self.padding,), (self.dilation,), PAD_MODES.get(vars(self)["cm"], "VALID"))
        return sd.add_op(MaskWindows(window), [mask])  # type: ignore[no-any-return]

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        length = input_type.time_series_length if input_type.time_series_length > 0 else self.input_size
        if length < 1:
            raise ConfigurationError(
                f"{self.label} has weights for each step, but the length of the series is open: {input_type!r}; set "
                "InputType.recurrent(size, length) as the type of the network's input, or input_size of this layer")
        return InputType.recurrent(self.n_out, self._out(length))

    def _out(self, sizes: int) -> int:
        return convolved(self.label, sizes, self.kernel, self.stride, self.padding, self.dilation, self.cm)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        n_in = input_type.size if self.n_in <= 0 or override else self.n_in
        changed = self.replace(n_in=n_in, feature_dim=self.kernel * n_in)
        length = input_type.time_series_length if input_type.time_series_length > 0 else self.input_size
        if length < 1:
            return changed
        out, total = self._out(length), 0
        if self.cm in (ConvolutionMode.Same, ConvolutionMode.Causal):
            total = max(0, (out - 1) * self.stride + effective(self.kernel, self.dilation) - length)
            return changed.replace(input_size=length, output_size=out, padding=total // 2, padding_r=total - total // 2)
        return changed.replace(input_size=length, output_size=out)


@layer("LocallyConnected2D")
class LocallyConnected2D(LocallyConnected, LocallyConnected2DNames):
    """A convolution over images with weights of its own at each position, ``W`` (positions, kernel height * kernel width * n_in, n_out).

    Shapes: x (batch, n_in, height, width), size known -> (batch, n_out, out height, out width); NHWC likewise.

    Parameters
    ----------
    format : CNN2DFormat or str
        ``NCHW`` (default) or ``NHWC``; that of the input type where the network has one.

    Examples
    --------
    >>> layer = LocallyConnected2D(n_out=4, kernel=3).set_n_in(InputType.convolutional(6, 6, 2))
    >>> [(p.name, p.shape) for p in layer.parameter_table()]
    [('W', (36, 18, 4)), ('b', (4,))]
    """

    preprocessor_rule: ClassVar[Rule] = automatic.to_images
    n_in: int = 0
    n_out: int = 0
    activation: Convertible[Activation | None] = Activation.TANH
    kernel: Convertible[tuple[int, ...]] = field(default=(2, 2), aliases=("kernel_size",))
    if TYPE_CHECKING:       # further names, which `aliases` make
        kernel_size: InitVar[Any] = (2, 2)
        convolution_mode: InitVar[Any] = None
        data_format: InitVar[Any] = None
    stride: Convertible[tuple[int, ...]] = (1, 1)
    padding: Convertible[tuple[int, ...]] = (0, 0)
    padding_br: Convertible[tuple[int, ...] | None] = None
    dilation: Convertible[tuple[int, ...]] = (1, 1)
    cm: Convertible[ConvolutionMode | None] = field(default=ConvolutionMode.Same, aliases=("convolution_mode",))
    has_bias: bool = True
    input_size: Convertible[tuple[int, ...] | None] = field(default=None, aliases=("set_input_size",))
    output_size: Convertible[tuple[int, ...] | None] = None
    feature_dim: int = 0
    format: Convertible[CNN2DFormat] = field(default=CNN2DFormat.NCHW, aliases=("data_format",))

    def validate(self) -> None:
        for name in ("kernel", "stride", "padding", "dilation"):
            self._put(**{name: repeated(getattr(self, name), 2)})
        refuse_causal(self, self.cm)

    def validate_new(self) -> None:
        refuse_padding(self, self.cm)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """As in DL4J the positions, which run down the columns, are read as rows of the result."""
        last = self.format is CNN2DFormat.NHWC
        images = reshaped(self.at_positions(sd, x, params, last), (self.n_out, *self.shape()))
        return sd.call("base", "permute", images, 0, 2, 3, 1) if last else images  # type: ignore[no-any-return]

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
