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
    """An LSTM whose states are pictures. Shapes: x (batch, time, height, width, n_in) -> (batch, time, rows, columns, n_out), or the last
    step alone.

    Gates stand in the order i, f, c, o.

    Parameters
    ----------
    kernel_size, stride, dilation : tuple of int
        Of the convolution of pictures, two numbers each; that of the state keeps its size.
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
    weight_init_recurrent: Convertible[IWeightInit | None] = None

    def result_shape(self, shape: Shape) -> Shape:
        padding = "same" if self.same else "valid"
        sizes = (windowed(n, k, s, padding, d) for n, k, s, d in zip(shape[1:3], self.kernel_size, self.stride, self.dilation))
        picture = (*sizes, self.n_out)
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
        if self.go_backwards:
            x = sd.call("base", "reverse", x, 1)
        n, (rows, columns) = self.n_out, self.kernel_size
        of_all = Conv3DConfig(k_d=1, k_h=rows, k_w=columns, s_d=1, s_h=self.stride[0], s_w=self.stride[1], d_d=1, d_h=self.dilation[0],
                              d_w=self.dilation[1], padding_mode="SAME" if self.same else "VALID", data_format="NDHWC")
        of_state = Conv2DConfig(k_h=rows, k_w=columns, padding_mode="SAME", data_format="NHWC")
        seen = sd.cnn.conv3d(x, sd.call("base", "expand_dims", params["W"], 0), of_all)             # the pictures of all steps at once
        steps = (seen + params["b"] if self.has_bias else seen).permute(1, 0, 2, 3, 4)
        nothing = sd.call("base", "zeros_like", steps[0, :, :, :, :n])
        weights, activation = params["RW"], self.activation
        assert activation is not None

        def step(inner: SameDiff, carries: list[SDVariable], elements: list[SDVariable]) -> Any:
            gates = elements[0] + inner.cnn.conv2d(carries[0], weights, of_state)
            i, f, c, o = (gates[:, :, :, k * n:(k + 1) * n] for k in range(4))
            i, f, o = (self.recurrent_activation.define(inner, v) for v in (i, f, o))
            cell = f * carries[1] + i * activation.define(inner, c)
            new = o * activation.define(inner, cell)
            return [new, cell], [new]

        last, (states,) = sd.scan(step, [nothing, nothing], [steps])
        return states.permute(1, 0, 2, 3, 4) if self.return_sequences else last[0]
