"""Convolutions that DL4J has not: of groups of channels, and transposed ones whose result is cut or padded anywhere."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ....layers.base.affine import activated
from ....layers.base.base import FeedForwardLayer, layer
from ....layers.standard.wrappers import BaseWrapperLayer
from ....layers.types.input_type import InputType
from ....samediff.configuration.declaring import Convertible
from ....samediff.errors import ConfigurationError
from ....samediff.ops.conv.cnn_configuration import DeConv2DConfig, DeConv3DConfig
from ..shapes import Shape
from .result_shapes import ShapedResult

if TYPE_CHECKING:
    from ....layers.preprocessors import InputPreProcessor
    from ....layers.types.parameters import LayerScope, ParameterTable
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable


@layer("dl4py.keras.GroupedConvolution")
class GroupedConvolution(BaseWrapperLayer):
    """A convolution in which each group of output channels sees one group of input channels.

    Parameters
    ----------
    underlying : Layer
        The convolution: its ``n_in`` is the size of one group, its ``n_out`` that of all.
    groups : int
        Number of groups.
    """

    groups: int = 1

    def validate(self) -> None:
        super().validate()
        if self.groups < 1 or self.n_out % self.groups:
            raise ConfigurationError(f"{self.label}: {self.n_out} output channels are no multiple of groups={self.groups}")

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        return self

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return None

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        inner: Any = self.underlying
        form = getattr(inner, "rnn_data_format", None) or inner.data_format
        axis = 1 if form.name.startswith("NC") else len(x.spec.shape or ()) - 1
        size, count = inner.n_in, inner.n_out // self.groups
        one = inner.replace(activation="identity", n_out=count)
        parts = []
        for group in range(self.groups):
            channels = (slice(None),) * axis + (slice(group * size, (group + 1) * size),)
            own = {name: value[group * count:(group + 1) * count] for name, value in params.items()}
            parts.append(one.define_layer(sd, x[channels], params.changed(own), mask))
        return activated(inner, sd, sd.call("base", "concat", axis, *parts))


@layer("dl4py.keras.CutDeconvolution")
class CutDeconvolution(ShapedResult, FeedForwardLayer):
    """A transposed convolution along one to three axes: every cell adds its window to the result, whose ends are cut off then.

    Shapes: x (batch, ..., n_in) -> (batch, ..., n_out).

    Parameters
    ----------
    kernel_size, stride, dilation : tuple of int
        Of the windows, a number for each axis.
    before, after : tuple of int
        Cells that are cut off in front of and behind each axis; negative numbers put zeros behind it.
    channels_first : bool
        Whether channels stand in front of the other axes.
    has_bias : bool
        Whether there is ``b``; True by default.
    """

    weight_names: ClassVar[tuple[str, ...]] = ("W",)
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    kernel_size: Convertible[tuple[int, ...]] = (1,)
    stride: Convertible[tuple[int, ...]] = (1,)
    dilation: Convertible[tuple[int, ...]] = (1,)
    before: Convertible[tuple[int, ...]] = (0,)
    after: Convertible[tuple[int, ...]] = (0,)
    channels_first: bool = False
    has_bias: bool = True

    def result_shape(self, shape: Shape) -> Shape:
        given = shape[1:] if self.channels_first else shape[:-1]
        reach = [(k - 1) * d + 1 for k, d in zip(self.kernel_size, self.dilation)]
        sizes = tuple(None if n is None else (n - 1) * s + r - a - b
                      for n, s, r, a, b in zip(given, self.stride, reach, self.before, self.after))
        return (self.n_out, *sizes) if self.channels_first else (*sizes, self.n_out)

    def define_parameters(self, params: ParameterTable) -> None:
        """W (*kernel_size, n_out, n_in), b (n_out,)."""
        cells = math.prod(self.kernel_size)
        params.weight("W", (*self.kernel_size, self.n_out, self.n_in), fan_in=cells * self.n_in, fan_out=cells * self.n_out)
        if self.has_bias:
            params.bias("b", (self.n_out,), init=self.bias_init)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        axes = tuple(range(1, len(self.kernel_size) + 1))
        if self.channels_first:
            x = sd.call("base", "permute", x, 0, *(a + 1 for a in axes), 1)
        made = self._spread(sd, x, params["W"])
        made = made[(slice(None), *(slice(a, -b if b > 0 else None) for a, b in zip(self.before, self.after)))]
        if min(self.after) < 0:
            edges = [(0, 0), *((0, max(0, -b)) for b in self.after), (0, 0)]
            made = sd.call("nn", "pad", made, sd.constant(np.array(edges)), 0.0)
        made = activated(self, sd, made + params["b"] if self.has_bias else made)
        return sd.call("base", "permute", made, 0, axes[-1] + 1, *axes) if self.channels_first else made

    def _spread(self, sd: SameDiff, x: SDVariable, weights: SDVariable) -> SDVariable:
        """All cells that the windows reach, with channels last."""
        if len(self.kernel_size) == 3:
            (d, h, w), strides, dilation = self.kernel_size, self.stride, self.dilation
            return sd.cnn.deconv3d(x, weights, DeConv3DConfig(
                k_d=d, k_h=h, k_w=w, s_d=strides[0], s_h=strides[1], s_w=strides[2], d_d=dilation[0], d_h=dilation[1], d_w=dilation[2],
                padding_mode="VALID", data_format="NDHWC"))
        thin = len(self.kernel_size) == 1
        (h, w), (s_h, s_w), (d_h, d_w) = (((1,) if thin else ()) + numbers for numbers in (self.kernel_size, self.stride, self.dilation))
        if thin:
            x, weights = sd.call("base", "expand_dims", x, 1), sd.call("base", "expand_dims", weights, 0)
        made = sd.cnn.deconv2d(x, weights, DeConv2DConfig(k_h=h, k_w=w, s_h=s_h, s_w=s_w, d_h=d_h, d_w=d_w, padding_mode="VALID",
                                                          data_format="NHWC"))
        return sd.call("base", "squeeze", made, 1) if thin else made

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return None
