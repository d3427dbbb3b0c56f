"""Layers that act at each position of series, images and volumes with channels last, and convolutions over time as images."""
from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ....layers.base.affine import activated
from ....layers.base.base import FeedForwardLayer, Layer, layer
from ....layers.ops.series_ops import PositionRows, RowPositions
from ....layers.preprocessors import InputPreProcessor
from ....layers.standard.convolution import Deconvolution2D, DepthwiseConvolution2D, SeparableConvolution2D
from ....layers.standard.feed_forward import DenseLayer
from ....layers.standard.inside import inside
from ....layers.standard.normalization import BatchNormalization
from ....layers.standard.wrappers import BaseWrapperLayer
from ....layers.types.formats import CNN2DFormat
from ....layers.types.input_type import InputType
from ....layers.types.parameters import ParameterTable
from ....samediff.configuration.declaring import Convertible
from ..shapes import Shape
from .result_shapes import ShapedResult

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable


@layer("dl4py.keras.PositionDense")
class PositionDense(ShapedResult, DenseLayer):
    """A dense layer at each position; masks pass it. Shapes: x (batch, ..., n_in) -> (batch, ..., n_out)."""


    def result_shape(self, shape: Shape) -> Shape:
        return (*shape[:-1], self.n_out)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        if len(x.spec.shape or ()) == 2:
            return activated(self, sd, self.pre_output(sd, x, params))
        rows = activated(self, sd, self.pre_output(sd, sd.add_op(PositionRows(True), [x]), params))
        return sd.add_op(RowPositions(True), [rows, x])  # type: ignore[no-any-return]


@layer("dl4py.keras.EinsumDense")
class EinsumDense(ShapedResult, FeedForwardLayer):
    """A product with weights as ``numpy.einsum`` writes it, a bias, and an activation.

    Parameters
    ----------
    equation : str
        Axes of the input with its batch and of the weights, and of the result: "abc,cde->abde".
    weight_shape, bias_shape : tuple of int
        Shapes of ``W`` and ``b``; without a bias the second is empty.
    result : tuple of int
        The shape of the result without the batch, -1 where a size is open.
    """

    weight_names: ClassVar[tuple[str, ...]] = ("W",)
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    equation: str = "ab,bc->ac"
    weight_shape: Convertible[tuple[int, ...]] = ()
    bias_shape: Convertible[tuple[int, ...]] = ()
    result: Convertible[tuple[int, ...]] = ()

    def result_shape(self, shape: Shape) -> Shape:
        return tuple(None if n < 0 else n for n in self.result)

    def with_n_in(self, size: int, override: bool) -> Self:
        return self

    def define_parameters(self, params: ParameterTable) -> None:
        """W, and b where there is one."""
        fans = math.prod(self.weight_shape)
        params.weight("W", self.weight_shape, fan_in=fans / self.weight_shape[-1], fan_out=self.weight_shape[-1])
        if self.bias_shape:
            params.bias("b", self.bias_shape, init=self.bias_init)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        arrays: list[Any] = [x, params["W"]]                # variables are arrays to NumPy
        made: Any = np.einsum(self.equation, *arrays)
        return activated(self, sd, made + params["b"] if self.bias_shape else made)


@layer("dl4py.keras.PositionNormalization")
class PositionNormalization(ShapedResult, BatchNormalization):
    """Batch normalization of channels over all positions, of arrays with any number of axes.

    Parameters
    ----------
    axis : int
        The axis of the channels: 1, or the last.
    scale, center : bool
        Whether gamma and beta train; else they stay as they are.
    """

    axis: int = 1
    scale: bool = True
    center: bool = True

    def result_shape(self, shape: Shape) -> Shape:
        return shape

    def with_n_in(self, size: int, override: bool) -> Self:
        return self if self.n_in > 0 else self.replace(n_in=size, n_out=size)

    def define_parameters(self, params: ParameterTable) -> None:
        own = ParameterTable(params.owner)
        super().define_parameters(own)
        fixed = {name for name, trains in (("gamma", self.scale), ("beta", self.center)) if not trains}
        for p in own:
            params.add(replace(p, role="statistic") if p.name in fixed else p)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        rank = len(x.spec.shape or ())
        if rank == 2:
            return super().define_layer(sd, x, params, None)
        last = self.axis == rank - 1
        rows = super().define_layer(sd, sd.add_op(PositionRows(last), [x]), params, None)
        return sd.add_op(RowPositions(last), [rows, x])  # type: ignore[no-any-return]


@layer("dl4py.keras.EachStep")
class EachStep(ShapedResult, BaseWrapperLayer):
    """A layer at each step of a series of images, volumes or series. Shapes: x (batch, time, *shape) -> (batch, time, *result).

    Parameters
    ----------
    steps : int
        Number of steps.
    shape, result : tuple of int
        Shapes of one step before and behind the layer.
    """

    steps: int = 1
    shape: tuple[int, ...] = ()
    result: tuple[int, ...] = ()

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return None

    def result_shape(self, shape: Shape) -> Shape:
        return (self.steps, *self.result)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        rows = sd.call("base", "reshape", x, -1, *self.shape)
        done = inside(self.underlying, sd, rows, params, None)
        return sd.call("base", "reshape", done, -1, self.steps, *self.result)  # type: ignore[no-any-return]

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return mask


class OverTime(ShapedResult, Layer):
    """Mix-in: a layer of images on series, which are images of width 1."""

    def result_shape(self, shape: Shape) -> Shape:
        given: Any = self
        return (None if shape[0] is None else given.sizes(shape[0], 1)[0], given.n_out)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        axis = 2 if vars(self)["data_format"] is CNN2DFormat.NHWC else 3
        images = sd.call("base", "expand_dims", x, axis)
        return sd.call("base", "squeeze", super().define_layer(sd, images, params, None), axis)  # type: ignore[no-any-return]

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return None


@layer("dl4py.keras.SeparableConvolution1D")
class SeparableConvolution1D(OverTime, SeparableConvolution2D):
    """A separable convolution over time; the second number of each window is 1."""


@layer("dl4py.keras.DepthwiseConvolution1D")
class DepthwiseConvolution1D(OverTime, DepthwiseConvolution2D):
    """A depthwise convolution over time; the second number of each window is 1."""


@layer("dl4py.keras.Deconvolution1D")
class Deconvolution1D(OverTime, Deconvolution2D):
    """A transposed convolution over time; the second number of each window is 1."""
