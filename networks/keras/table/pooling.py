"""Pooling."""
from __future__ import annotations

from typing import Any

from ....layers.standard.pooling import GlobalPoolingLayer, Subsampling1DLayer, Subsampling3DLayer, SubsamplingLayer
from ....layers.types.formats import PoolingType
from .. import shapes
from ..layer_reading import KerasLayer, Made
from ..own.masking import Unmasked
from ..registry import keras_layer
from .convolution import image_format, mode, volume_format


def _kind(k: KerasLayer) -> PoolingType:
    return PoolingType.MAX if "Max" in k.class_name else PoolingType.AVG


def _pooling(k: KerasLayer, count: int, layer: Any, form: Any) -> Made:
    k.rank(count + 1)
    size = k.several("pool_size", count, 2)
    stride = size if k.get("strides", None) is None else k.several("strides", count)
    sizes = tuple(shapes.windowed(n, w, s, k.get("padding", "valid")) for n, w, s in zip(k.spatial(), size, stride))
    more = (1,) if count == 1 else ()
    conf = layer(pooling_type=_kind(k), kernel_size=size + more, stride=stride + more, padding=(0,) * (count + len(more)),
                 dilation=(1,) * (count + len(more)), convolution_mode=mode(k), data_format=form(k))
    return k.made(conf, shape=k.with_channels(sizes, k.channels()), masked=False)


@keras_layer("MaxPooling1D", "AveragePooling1D", becomes="`Subsampling1DLayer`")
def pooling1d(k: KerasLayer) -> Made:
    return _pooling(k, 1, Subsampling1DLayer, image_format)


@keras_layer("MaxPooling2D", "AveragePooling2D", becomes="`SubsamplingLayer`")
def pooling2d(k: KerasLayer) -> Made:
    return _pooling(k, 2, SubsamplingLayer, image_format)


@keras_layer("MaxPooling3D", "AveragePooling3D", becomes="`Subsampling3DLayer`")
def pooling3d(k: KerasLayer) -> Made:
    return _pooling(k, 3, Subsampling3DLayer, volume_format)


@keras_layer("GlobalMaxPooling1D", "GlobalAveragePooling1D", "GlobalMaxPooling2D", "GlobalAveragePooling2D", "GlobalMaxPooling3D",
             "GlobalAveragePooling3D", becomes="`GlobalPoolingLayer`")
def global_pooling(k: KerasLayer) -> Made:
    count = int(k.class_name[-2])
    k.rank(count + 1)
    first, keep = k.channels_first(), bool(k.get("keepdims", False))
    axes = tuple(range(2, count + 2)) if first else tuple(range(1, count + 1))
    conf = GlobalPoolingLayer(pooling_type=_kind(k), pooling_dimensions=axes, collapse_dimensions=not keep)
    shape = k.with_channels((1,) * count, k.channels()) if keep else (k.channels(),)
    ignores = k.input.masked and _kind(k) is PoolingType.MAX
    return k.made([Unmasked(), conf] if ignores else conf, shape=shape, masked=False)
