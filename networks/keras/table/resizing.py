"""Edges, and values that are repeated."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....layers.standard.spatial import Cropping2D, Upsampling2D, ZeroPaddingLayer
from ..layer_reading import KerasLayer, Made
from ..own.shaping import Cropping, Padding, RepetitionLayer, ResizedPictures
from ..registry import keras_layer
from ..shapes import Shape
from .convolution import image_format


def edges(k: KerasLayer, option: str, count: int) -> list[tuple[int, int]]:
    """Both edges of each axis: of one number, one for each axis, or a pair for each axis."""
    value = k.get(option)
    if isinstance(value, int):
        return [(value, value)] * count
    if count == 1:
        value = [value]
    pairs = [(v, v) if isinstance(v, int) else tuple(v) for v in value]
    if len(pairs) != count or any(len(p) != 2 or not all(isinstance(n, int) for n in p) for p in pairs):
        raise k.unsupported(f"{option}={k.get(option)!r:.60}")
    return pairs


def _all_axes(k: KerasLayer, pairs: list[Any], neutral: Any) -> list[Any]:
    """With the axis of the channels."""
    return [neutral, *pairs] if k.channels_first() else [*pairs, neutral]


def _resized(shape: Shape, changes: list[int]) -> Shape:
    return tuple(None if n is None else n + c for n, c in zip(shape, changes))


def _at_the_edges(k: KerasLayer, option: str, count: int, sign: int, pictures: Callable[..., Any], other: Callable[..., Any]) -> Made:
    """Adds (``sign`` 1) or takes away (-1) so much at the edges of the axes of space: DL4J's layer for pictures, an other one else."""
    k.rank(count + 1)
    pairs = edges(k, option, count)
    every = _all_axes(k, pairs, (0, 0))
    shape = _resized(k.shape, [sign * (a + b) for a, b in every])
    if count == 2:
        return k.made(pictures(**{option: tuple(n for p in pairs for n in p)}, data_format=image_format(k)), shape=shape, masked=False)
    return k.made(other(before=tuple(a for a, _ in every), after=tuple(b for _, b in every)), shape=shape, masked=False)


def _dimensions(k: KerasLayer) -> int:
    """The number of axes of space, which the name of the class says."""
    return int(k.class_name[-2])


def _padded(k: KerasLayer) -> Made:
    return _at_the_edges(k, "padding", _dimensions(k), 1, ZeroPaddingLayer, Padding)


def _cropped(k: KerasLayer) -> Made:
    return _at_the_edges(k, "cropping", _dimensions(k), -1, Cropping2D, Cropping)


keras_layer("ZeroPadding2D", becomes="`ZeroPaddingLayer`")(_padded)
keras_layer("ZeroPadding1D", "ZeroPadding3D", becomes="a layer that pads")(_padded)
keras_layer("Cropping2D", becomes="`Cropping2D`")(_cropped)
keras_layer("Cropping1D", "Cropping3D", becomes="a layer that crops")(_cropped)


def _larger(k: KerasLayer, times: list[int]) -> Shape:
    return tuple(None if n is None else n * t for n, t in zip(k.shape, times))


def _interpolated(k: KerasLayer, size: tuple[int, int]) -> Made:
    """Pictures of a size, by the option ``interpolation``."""
    method = k.get("interpolation", "bilinear")
    if method not in ("nearest", "bilinear", "bicubic") or None in k.spatial():
        raise k.unsupported(f"interpolation={method!r:.60} of pictures of {k.spatial()}")
    return k.made(ResizedPictures(size=size, method=method, channels_first=k.channels_first()),
                  shape=k.with_channels(size, k.channels()), masked=False)


@keras_layer("Resizing", becomes="a layer that resizes pictures",
             lossy="other methods than nearest, bilinear and bicubic, and options that keep the shape of pictures are refused")
def resizing(k: KerasLayer) -> Made:
    k.rank(3)
    k.refuse(crop_to_aspect_ratio=False, pad_to_aspect_ratio=False, antialias=False)
    return _interpolated(k, (int(k.get("height")), int(k.get("width"))))


@keras_layer("UpSampling2D", becomes="`Upsampling2D`; with `interpolation` a layer that resizes pictures",
             lossy="other methods than nearest, bilinear and bicubic are refused")
def upsampling2d(k: KerasLayer) -> Made:
    k.rank(3)
    size = k.several("size", 2, 2)
    if k.get("interpolation", "nearest") != "nearest" and None not in k.spatial():
        height, width = (int(n or 0) * s for n, s in zip(k.spatial(), size))
        return _interpolated(k, (height, width))
    k.refuse(interpolation="nearest")
    return k.made(Upsampling2D(size=size, format=image_format(k)), shape=_larger(k, _all_axes(k, list(size), 1)), masked=False)


@keras_layer("UpSampling1D", "UpSampling3D", becomes="a layer that repeats values")
def upsampling(k: KerasLayer) -> Made:
    count = int(k.class_name[-2])
    k.rank(count + 1)
    times = _all_axes(k, list(k.several("size", count, 2)), 1)
    return k.made(RepetitionLayer(times=tuple(times)), shape=_larger(k, times), masked=False)


@keras_layer("CenterCrop", becomes="a layer that crops", lossy="pictures smaller than the result are refused")
def center_crop(k: KerasLayer) -> Made:
    k.rank(3)
    sizes = [n for n in k.spatial() if n is not None]
    wanted = (int(k.get("height")), int(k.get("width")))
    if len(sizes) < 2 or any(n < m for n, m in zip(sizes, wanted)):
        raise k.unsupported(f"pictures of {k.spatial()}, smaller than {wanted} or of open size,")
    before = [(n - m) // 2 for n, m in zip(sizes, wanted)]
    after = [n - m - b for n, m, b in zip(sizes, wanted, before)]
    every = _all_axes(k, list(zip(before, after)), (0, 0))
    return k.made(Cropping(before=tuple(a for a, _ in every), after=tuple(b for _, b in every)),
                  shape=k.with_channels(wanted, k.channels()))
