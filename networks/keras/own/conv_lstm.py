"""An LSTM whose products are convolutions, over series of pictures."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ....layers.base.base import FeedForwardLayer, layer
from ....layers.functions.activations import ActivationHardSigmoid, IActivation
from ....layers.functions.weight_init import IWeightInit
from ....samediff.configuration.declaring import Convertible, field
from ....samediff.ops.conv.cnn_configuration import Conv2DConfig, Conv3DConfig
from ..shapes import Shape, windowed
from .result_shapes import ShapedResult

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope, ParameterTable
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable


@layer("dl4py.keras.ConvolutionalLSTM")
class ConvolutionalLSTM(ShapedResult, FeedForwardLayer):
    """An LSTM whose states are series, pictures or volumes. Shapes: x (batch, time, height, width, n_in) -> (batch, time, rows, columns,
    n_out), or the last step alone; as many axes as ``kernel_size`` has numbers.

    Gates stand in the order i, f, c, o.

    Parameters
    ----------
    kernel_size, stride, dilation : tuple of int
        Of the convolution of the input, a number for each axis; that of the state keeps its size.
    same : bool
        Whether pictures are padded, so that stride 1 keeps their size.
    recurrent_activation : IActivation
        Of the gates.
    has_bias : bool
        Whether there is ``b``; True by default.
    return_sequences : bool
        Whether all steps are the result, or the last alone.
    go_backwards : bool
        Whether the series is read from its end.
    channels_first : bool
        Whether channels stand in front of the axes of pictures, in states too.
    weight_init_recurrent : IWeightInit, optional
        First values of ``RW``; those of ``weight_init`` where left out.
    """

    weight_names: ClassVar[tuple[str, ...]] = ("W", "RW")
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    kernel_size: Convertible[tuple[int, ...]] = (3, 3)
    stride: Convertible[tuple[int, ...]] = (1, 1)
    dilation: Convertible[tuple[int, ...]] = (1, 1)
    same: bool = False
    recurrent_activation: Convertible[IActivation] = field(default=ActivationHardSigmoid())
    has_bias: bool = True
    return_sequences: bool = True
    go_backwards: bool = False
    channels_first: bool = False
    states: ClassVar[tuple[str, ...]] = ("h", "c")
    weight_init_recurrent: Convertible[IWeightInit | None] = None

    def result_shape(self, shape: Shape) -> Shape:
        padding = "same" if self.same else "valid"
        given = shape[2:] if self.channels_first else shape[1:-1]
        sizes = tuple(windowed(n, k, s, padding, d) for n, k, s, d in zip(given, self.kernel_size, self.stride, self.dilation))
        picture = (self.n_out, *sizes) if self.channels_first else (*sizes, self.n_out)
        return (shape[0], *picture) if self.return_sequences else picture

    def define_parameters(self, params: ParameterTable) -> None:
        """W (rows, columns, n_in, 4 n_out), RW (rows, columns, n_out, 4 n_out), b (4 n_out)."""
        cells, width = math.prod(self.kernel_size), 4 * self.n_out
        for name, channels, init in (("W", self.n_in, None), ("RW", self.n_out, self.weight_init_recurrent)):
            params.weight(name, (*self.kernel_size, channels, width), fan_in=cells * channels, fan_out=cells * width, order="f", init=init)
        if self.has_bias:
            params.bias("b", (width,), init=self._first_bias)

    def _first_bias(self, rng: Any, shape: tuple[int, ...], order: str, dtype: Any) -> Any:
        """Forget gates are open at first."""
        bias = np.zeros(shape, dtype)
        bias[self.n_out:2 * self.n_out] = 1
        return bias

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        series, last = self.run(sd, x, params, mask)
        return series if self.return_sequences else last[0]

    def run(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None,
            first: list[SDVariable] | None = None) -> tuple[SDVariable, list[SDVariable]]:
        """The results of all steps, (batch, time, ...), and the states behind them; ``first`` are those in front."""
        n, axes = self.n_out, len(self.kernel_size)
        inner_axes = tuple(range(1, axes + 1))                  # of pictures with channels last
        if self.go_backwards:
            x, mask = sd.call("base", "reverse", x, 1), None if mask is None else sd.call("base", "reverse", mask, 1)
        if self.channels_first:
            x = sd.call("base", "permute", x, 0, 1, *(a + 2 for a in inner_axes), 2)
            first = [sd.call("base", "permute", state, 0, *(a + 1 for a in inner_axes), 1) for state in first or []]
        sequences = [sd.call("base", "permute", x, 1, 0, *(a + 1 for a in inner_axes), axes + 2)]
        if mask is not None:
            wide = mask.permute(1, 0)
            for axis in range(2, axes + 3):
                wide = sd.call("base", "expand_dims", wide, axis)
            sequences.append(wide)
        weights, activation = params["RW"], self.activation
        assert activation is not None

        def step(inner: SameDiff, carries: list[SDVariable], elements: list[SDVariable]) -> Any:
            gates = self._of_input(inner, elements[0], params) + self._convolved(inner, carries[0], weights, True, (1,) * axes, (1,) * axes)
            i, f, c, o = (gates[(slice(None),) * (axes + 1) + (slice(k * n, (k + 1) * n),)] for k in range(4))
            i, f, o = (self.recurrent_activation.define(inner, v) for v in (i, f, o))
            cell = f * carries[1] + i * activation.define(inner, c)
            new = [o * activation.define(inner, cell), cell]
            if mask is not None:
                new = [a * elements[1] + b * (1.0 - elements[1]) for a, b in zip(new, carries)]
            return new, [new[0]]

        if not first:
            seen = self._of_input(sd, x[:, 0], params)
            nothing = sd.call("base", "zeros_like", seen[(slice(None),) * (axes + 1) + (slice(0, n),)])
            first = [nothing, nothing]
        last, (steps,) = sd.scan(step, first, sequences)
        series = sd.call("base", "permute", steps, 1, 0, *(a + 1 for a in inner_axes), axes + 2)
        if not self.channels_first:
            return series, list(last)
        return (sd.call("base", "permute", series, 0, 1, axes + 2, *(a + 1 for a in inner_axes)),
                [sd.call("base", "permute", state, 0, axes + 1, *inner_axes) for state in last])

    def _of_input(self, sd: SameDiff, x: SDVariable, params: LayerScope) -> SDVariable:
        """What a step of the input gives to the gates."""
        seen = self._convolved(sd, x, params["W"], self.same, self.stride, self.dilation)
        return seen + params["b"] if self.has_bias else seen

    def _convolved(self, sd: SameDiff, x: SDVariable, weights: SDVariable, same: bool, stride: tuple[int, ...],
                   dilation: tuple[int, ...]) -> SDVariable:
        """A convolution along one to three axes, with channels last."""
        mode = "SAME" if same else "VALID"
        if len(stride) == 3:
            (d, h, w), (sd_, sh, sw), (dd, dh, dw) = self.kernel_size, stride, dilation
            return sd.cnn.conv3d(x, weights, Conv3DConfig(k_d=d, k_h=h, k_w=w, s_d=sd_, s_h=sh, s_w=sw, d_d=dd, d_h=dh, d_w=dw,
                                                          padding_mode=mode, data_format="NDHWC"))
        if len(stride) == 1:
            wide, kernel = sd.call("base", "expand_dims", x, 1), sd.call("base", "expand_dims", weights, 0)
            size, stride, dilation = (1, *self.kernel_size), (1, *stride), (1, *dilation)
        else:
            wide, kernel, size = x, weights, self.kernel_size
        found = sd.cnn.conv2d(wide, kernel, Conv2DConfig(k_h=size[0], k_w=size[1], s_h=stride[0], s_w=stride[1], d_h=dilation[0],
                                                         d_w=dilation[1], padding_mode=mode, data_format="NHWC"))
        return sd.call("base", "squeeze", found, 1) if len(self.kernel_size) == 1 else found

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return mask if self.return_sequences else None
