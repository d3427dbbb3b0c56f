"""Convolutions."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....layers.standard.convolution import (
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    Deconvolution2D,
    Deconvolution3D,
    DepthwiseConvolution2D,
    SeparableConvolution2D,
)
from ....layers.types.formats import CNN2DFormat, CNN3DFormat, ConvolutionMode, RNNFormat
from .. import shapes
from ..layer_reading import Array, KerasLayer, Made
from ..own.convolution import CutDeconvolution, GroupedConvolution
from ..own.positions import Deconvolution1D, DepthwiseConvolution1D, SeparableConvolution1D
from ..registry import keras_layer
from .core import biased

MODES = {"valid": ConvolutionMode.Truncate, "same": ConvolutionMode.Same, "causal": ConvolutionMode.Causal}


def image_format(k: KerasLayer) -> CNN2DFormat:
    return CNN2DFormat.NCHW if k.channels_first() else CNN2DFormat.NHWC


def series_format(k: KerasLayer) -> RNNFormat:
    return RNNFormat.NCW if k.channels_first() else RNNFormat.NWC


def volume_format(k: KerasLayer) -> CNN3DFormat:
    return CNN3DFormat.NCDHW if k.channels_first() else CNN3DFormat.NDHWC


def mode(k: KerasLayer, *more: str) -> ConvolutionMode:
    """The mode of an option ``padding``."""
    given = k.get("padding", "valid")
    if given not in ("valid", "same", *more):
        raise k.unsupported(f"padding={given!r}")
    return MODES[given]


class KernelWindow:
    """The options of windows along some axes, and the sizes that follow.

    Parameters
    ----------
    k : the layer.
    count : number of axes.
    """

    def __init__(self, k: KerasLayer, count: int) -> None:
        k.rank(count + 1)
        self.k, self.count = k, count
        self.kernel = k.several("kernel_size", count)
        self.stride = k.several("strides", count, 1)
        self.dilation = k.several("dilation_rate", count, 1)
        self.channels = k.channels()
        self.groups = int(k.get("groups", 1))
        if self.groups < 1 or self.channels % self.groups:
            raise k.unsupported(f"groups={self.groups} of {self.channels} channels")

    def fields(self, *causal: str, thin: bool = False) -> dict[str, Any]:
        """Fields of a layer; ``thin`` ones have a second axis of size 1."""
        more = (1,) if thin else ()
        return {"n_in": self.channels // self.groups, "kernel_size": self.kernel + more, "stride": self.stride + more,
                "dilation": self.dilation + more, "padding": (0,) * (self.count + len(more)), "convolution_mode": mode(self.k, *causal),
                "has_bias": bool(self.k.get("use_bias", True)), "activation": self.k.activation()}

    def behind(self, channels: int) -> tuple[int | None, ...]:
        """The shape of the result."""
        padding = self.k.get("padding", "valid")
        sizes = tuple(shapes.windowed(n, kernel, s, padding, d) for n, kernel, s, d in
                      zip(self.k.spatial(), self.kernel, self.stride, self.dilation))
        return self.k.with_channels(sizes, channels)

    def cut(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What Keras cuts off of the cells that the windows of a transposed convolution reach: in front, and behind."""
        same, given = self.k.get("padding", "valid") == "same", self.k.get("output_padding", None)
        more = (None,) * self.count if given is None else self.k.several("output_padding", self.count)
        before, after = [], []
        for kernel, stride, dilation, extra in zip(self.kernel, self.stride, self.dilation, more):
            reach = (kernel - 1) * dilation + 1
            if same:
                padded = stride + reach - 2 if extra is None else reach + reach % 2 - 2 + extra
                first = min(padded // 2 + padded % 2, reach - 1)
            else:
                first = reach - 1
                padded = first + reach - 1 + (max(reach, stride) - reach if extra is None else extra)
            before.append(reach - 1 - first)
            after.append(reach - 1 - (padded - first))
        return tuple(before), tuple(after)


def grouped(k: KerasLayer, window: KernelWindow, conf: Any) -> Any:
    """A convolution, in groups where it has some."""
    if window.groups == 1:
        return conf
    if conf.n_out % window.groups:
        raise k.unsupported(f"groups={window.groups} of {conf.n_out} filters")
    return GroupedConvolution(underlying=conf, groups=window.groups)


def turned(k: KerasLayer, count: int) -> Any:
    """A kernel as Keras 2 has it: those of Theano are mirrored."""
    def kernel(w: Any) -> Array:
        found: Array = w["kernel"]
        return found[(slice(None, None, -1),) * count] if k.theano else found
    return kernel


@keras_layer("Conv1D", becomes="`Convolution1DLayer`, in a layer of groups with `groups`")
def conv1d(k: KerasLayer) -> Made:
    window, units, kernel = KernelWindow(k, 1), int(k.get("filters")), turned(k, 1)
    conf = Convolution1DLayer(n_out=units, rnn_data_format=series_format(k), cnn2d_data_format=image_format(k), **window.fields("causal"),
                              **k.trained())

    def weight(arrays: Any) -> Array:
        """DL4J reads the values of (out, in, k, 1) as (k, in, out)."""
        parts = np.split(kernel(arrays), window.groups, axis=-1)
        return np.concatenate([part.reshape(-1, conf.n_in, window.kernel[0], 1) for part in parts])
    weights, names = biased({"W": weight}, ("kernel",), conf.has_bias)
    return k.made(grouped(k, window, conf), weights, names, shape=window.behind(units))


@keras_layer("Conv2D", becomes="`ConvolutionLayer`, in a layer of groups with `groups`")
def conv2d(k: KerasLayer) -> Made:
    window, units, kernel = KernelWindow(k, 2), int(k.get("filters")), turned(k, 2)
    conf = ConvolutionLayer(n_out=units, data_format=image_format(k), **window.fields(), **k.trained())
    weights, names = biased({"W": lambda w: kernel(w).transpose(3, 2, 0, 1)}, ("kernel",), conf.has_bias)
    return k.made(grouped(k, window, conf), weights, names, shape=window.behind(units))


@keras_layer("Conv3D", becomes="`Convolution3D`, in a layer of groups with `groups`")
def conv3d(k: KerasLayer) -> Made:
    window, units = KernelWindow(k, 3), int(k.get("filters"))
    conf = Convolution3D(n_out=units, data_format=volume_format(k), **window.fields(), **k.trained())
    weights, names = biased({"W": lambda w: w["kernel"].transpose(4, 3, 0, 1, 2)}, ("kernel",), conf.has_bias)
    return k.made(grouped(k, window, conf), weights, names, shape=window.behind(units))


def _transposed(k: KerasLayer, count: int, kind: Any, weight: Any) -> Made:
    """DL4J's transposed convolution, or one whose result is cut where Keras cuts it elsewhere."""
    window, units = KernelWindow(k, count), int(k.get("filters"))
    if k.get("padding", "valid") not in ("valid", "same"):
        raise k.unsupported(f"padding={k.get('padding')!r}")
    before, after = window.cut()
    cut = CutDeconvolution(n_in=window.channels, n_out=units, kernel_size=window.kernel, stride=window.stride, dilation=window.dilation,
                           channels_first=k.channels_first(), has_bias=bool(k.get("use_bias", True)), activation=k.activation(),
                           before=before, after=after, **k.trained())
    plain = k.get("output_padding", None) is None and max(window.dilation) == 1 and all(
        s <= n for s, n in zip(window.stride, window.kernel))
    conf: Any = kind(n_out=units, data_format=volume_format(k) if count == 3 else image_format(k), **window.fields(thin=count == 1),
                     **k.trained()) if plain else cut
    weights, names = biased({"W": weight if plain else lambda w: w["kernel"]}, ("kernel",), conf.has_bias)
    return k.made(conf, weights, names, shape=cut.result_shape(k.shape), masked=False)


@keras_layer("Conv2DTranspose", becomes="`Deconvolution2D`; with `output_padding`, dilation or gaps a layer that cuts its result")
def conv2d_transpose(k: KerasLayer) -> Made:
    return _transposed(k, 2, Deconvolution2D, lambda w: w["kernel"].transpose(3, 2, 0, 1))


@keras_layer("Conv3DTranspose", becomes="`Deconvolution3D`; with `output_padding`, dilation or gaps a layer that cuts its result")
def conv3d_transpose(k: KerasLayer) -> Made:
    return _transposed(k, 3, Deconvolution3D, lambda w: w["kernel"])


@keras_layer("Conv1DTranspose",
             becomes="`Deconvolution2D` on series as images of width 1; with `output_padding`, dilation or gaps a layer that cuts "
                     "its result")
def conv1d_transpose(k: KerasLayer) -> Made:
    return _transposed(k, 1, Deconvolution1D, lambda w: w["kernel"][:, None].transpose(3, 2, 0, 1))


def _separable(k: KerasLayer, count: int, kind: Any, wide: Any) -> Made:
    window, units = KernelWindow(k, count), int(k.get("filters"))
    many = int(k.get("depth_multiplier", 1))
    conf = kind(n_out=units, depth_multiplier=many, data_format=image_format(k), **window.fields(thin=count == 1),
                **k.trained("depthwise"))
    weights, names = biased({"W": lambda w: wide(w["depthwise"]).transpose(3, 2, 0, 1),
                             "pW": lambda w: wide(w["pointwise"]).transpose(3, 2, 0, 1)}, ("depthwise", "pointwise"), conf.has_bias)
    return k.made(conf, weights, names, shape=window.behind(units))


@keras_layer("SeparableConv2D", becomes="`SeparableConvolution2D`", lossy="regularization of the pointwise kernel is that of the other one")
def separable_conv2d(k: KerasLayer) -> Made:
    return _separable(k, 2, SeparableConvolution2D, lambda a: a)


@keras_layer("SeparableConv1D", becomes="`SeparableConvolution2D` on series as images of width 1",
             lossy="regularization of the pointwise kernel is that of the other one")
def separable_conv1d(k: KerasLayer) -> Made:
    return _separable(k, 1, SeparableConvolution1D, lambda a: a[:, None])


def _depthwise(k: KerasLayer, count: int, kind: Any, wide: Any) -> Made:
    window, many = KernelWindow(k, count), int(k.get("depth_multiplier", 1))
    units = window.channels * many
    conf = kind(n_out=units, depth_multiplier=many, data_format=image_format(k), **window.fields(thin=count == 1),
                **k.trained("depthwise"))
    weights, names = biased({"W": lambda w: wide(w["depthwise"])}, ("depthwise",), conf.has_bias)
    return k.made(conf, weights, names, shape=window.behind(units))


@keras_layer("DepthwiseConv2D", becomes="`DepthwiseConvolution2D`")
def depthwise_conv2d(k: KerasLayer) -> Made:
    return _depthwise(k, 2, DepthwiseConvolution2D, lambda a: a)


@keras_layer("DepthwiseConv1D", becomes="`DepthwiseConvolution2D` on series as images of width 1")
def depthwise_conv1d(k: KerasLayer) -> Made:
    return _depthwise(k, 1, DepthwiseConvolution1D, lambda a: a[:, None])
