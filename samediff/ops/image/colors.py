"""Colours of images with the channels red, green and blue in the last axis."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.composite import Composite
from ...families.families import Elementwise
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op, require_floating

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

Channels = tuple[Any, Any, Any]


def rgb_to_hsv(xp: Any, r: Any, g: Any, b: Any) -> Channels:
    """Hue, saturation and value of colours, all within 0 and 1."""
    top, low = xp.maximum(xp.maximum(r, g), b), xp.minimum(xp.minimum(r, g), b)
    chroma = top - low
    safe = xp.where(chroma == 0, 1, chroma)
    hue = xp.where(r == top, (g - b) / safe, xp.where(g == top, (b - r) / safe + 2, (r - g) / safe + 4)) / 6
    hue = xp.where(chroma == 0, 0, xp.where(hue < 0, hue + 1, hue))
    return hue, xp.where(top > 0, chroma / xp.where(top > 0, top, 1), 0), top


def hsv_to_rgb(xp: Any, h: Any, s: Any, v: Any) -> Channels:
    """Red, green and blue from hue, saturation and value."""
    def clip(x: Any) -> Any:
        return xp.minimum(xp.maximum(x, 0), 1)
    shares = clip(abs(6 * h - 3) - 1), clip(2 - abs(6 * h - 2)), clip(2 - abs(6 * h - 4))
    r, g, b = ((1 - s + s * d) * v for d in shares)
    return r, g, b


def _of_pixels(image: TensorSpec) -> tuple[int, ...] | None:
    """The shape of an image, whose last axis must hold three channels."""
    shape = image.shape
    if shape is not None and (not shape or shape[-1] not in (3, -1)):
        raise ShapeError(f"the last axis holds the 3 channels, got shape {shape}")
    return shape


class Colors(Composite):
    """New channels from the three channels of each pixel.  Shapes: x (…, 3) floating -> the same."""

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, specs[0])
        return TensorSpec(_of_pixels(specs[0]), specs[0].dtype)

    def channels(self, xp: Any, a: Any, b: Any, c: Any) -> Channels:
        """The three new channels from the three old ones, as elementwise array code."""
        raise NotImplementedError(f"{type(self).__name__} must implement channels(self, xp, a, b, c)")

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.stack(self.channels(xp, x[..., 0], x[..., 1], x[..., 2]), axis=-1)

    def expand(self, *inputs: Any) -> Any:
        """An elementwise node for each channel."""
        sd = inputs[0].sd
        parts = [sd.add_op(ColorChannel(i), [inputs[0]]) for i in range(3)]
        return sd.add_op(JoinChannels(), [sd.add_op(ColorPart(self, i), parts) for i in range(3)])


@op("color_part", inputs="a b c")
class ColorPart(Elementwise):
    """One of the new channels (made by gradients)."""

    of: Colors
    index: int

    def compute(self, xp: Any, a: Any, b: Any, c: Any) -> Any:
        """One channel of the colour map's result."""
        return self.of.channels(xp, a, b, c)[self.index]


@op("color_channel")
class ColorChannel(Op):
    """One channel of an image, an index of the last axis (made by gradients)."""

    index: int

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape without the last axis."""
        shape = _of_pixels(specs[0])
        return TensorSpec(None if shape is None else shape[:-1], specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return x[..., self.index]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient in this channel, 0 in the others."""
        g = output_grads[0]
        zero = g.sd.call("base", "zeros_like", g)
        return [g.sd.add_op(JoinChannels(), [g if i == self.index else zero for i in range(3)])]


@op("color_join", inputs="a b c")
class JoinChannels(Op):
    """Three channels in a new last axis (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        shape = specs[0].shape
        return TensorSpec(None if shape is None else (*shape, 3), specs[0].dtype)

    def compute(self, xp: Any, *channels: Any) -> Any:
        return xp.stack(channels, axis=-1)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(ColorChannel(i), [output_grads[0]]) for i in range(3)]


@op("rgb_to_hsv", api="image.rgb_to_hsv", file=FileArgs())
class RgbToHsv(Colors):
    """Hue, saturation and value (all within 0 and 1) of red, green and blue."""

    def channels(self, xp: Any, a: Any, b: Any, c: Any) -> Channels:
        """Hue, saturation and value, from the largest channel."""
        return rgb_to_hsv(xp, a, b, c)


@op("hsv_to_rgb", api="image.hsv_to_rgb", file=FileArgs())
class HsvToRgb(Colors):
    """Red, green and blue of hue, saturation and value."""

    def channels(self, xp: Any, a: Any, b: Any, c: Any) -> Channels:
        """Red, green and blue, from the distance of the hue to theirs."""
        return hsv_to_rgb(xp, a, b, c)


@op("adjust_hue", api="image.adjust_hue", file=FileArgs(floats=("delta",)))
class AdjustHue(Colors):
    """Colours with the hue turned by ``delta`` (1 is the whole circle)."""

    delta: float

    def channels(self, xp: Any, a: Any, b: Any, c: Any) -> Channels:
        """The hue shifted between the least and the largest channel, which stay, also below 0."""
        least = xp.minimum(xp.minimum(a, b), c)
        h, s, v = rgb_to_hsv(xp, a - least, b - least, c - least)
        h = h + self.delta
        a, b, c = hsv_to_rgb(xp, h - xp.floor(h), s, v)
        return a + least, b + least, c + least


@op("adjust_saturation", api="image.adjust_saturation", file=FileArgs(floats=("factor",)))
class AdjustSaturation(Colors):
    """Colours with the saturation times ``factor``, at most 1."""

    factor: float

    def channels(self, xp: Any, a: Any, b: Any, c: Any) -> Channels:
        """The saturation scaled, by way of hue, saturation and value."""
        h, s, v = rgb_to_hsv(xp, a, b, c)
        return hsv_to_rgb(xp, h, xp.minimum(xp.maximum(s * self.factor, 0), 1), v)


class LinearColors(Colors):
    """A matrix applied to the three channels."""

    matrix: ClassVar[Any] = np.eye(3)

    def channels(self, xp: Any, a: Any, b: Any, c: Any) -> Channels:
        """Products of the matrix rows with the channels."""
        first, second, third = ((row[0] * a + row[1] * b + row[2] * c) for row in self.matrix.tolist())
        return first, second, third


_YUV = np.array([[0.299, 0.587, 0.114], [-0.14714119, -0.28886916, 0.43601035], [0.61497538, -0.51496512, -0.10001026]])
_YIQ = np.array([[0.299, 0.587, 0.114], [0.59590059, -0.27455667, -0.32134392], [0.21153661, -0.52273617, 0.31119955]])
_YIQ_OF_DL4J = np.where(_YIQ == 0.21153661, 0.2115, _YIQ)      # one entry is rounded there, its inverse is not


#: Shares of red, green and blue in a grey, as they are rounded in DL4J.
_LUMA = np.array([0.2989, 0.587, 0.114])


def _linear(name: str, matrix: Any, doc: str) -> None:
    @op(name, api=f"image.{name}", file=FileArgs())
    class Declared(LinearColors):
        pass

    Declared.matrix, Declared.__doc__ = matrix, doc
    Declared.__name__ = Declared.__qualname__ = "".join(p.title() for p in name.split("_"))


_linear("rgb_to_yuv", _YUV, "Luma and two colour differences (PAL) of red, green and blue.")
_linear("yuv_to_rgb", np.linalg.inv(_YUV), "Red, green and blue of luma and colour differences (PAL).")
_linear("rgb_to_yiq", _YIQ_OF_DL4J, "Luma and two colour differences (NTSC 1953) of red, green and blue.")
_linear("yiq_to_rgb", np.linalg.inv(_YIQ), "Red, green and blue of luma and colour differences (NTSC 1953).")


@op("adjust_contrast_v2", api="image.adjust_contrast", file=FileArgs(floats=("factor",)))
class AdjustContrast(Composite):
    """(x - mean) * factor + mean, with the mean of each channel of each image.  Shapes: x (…, height, width, channels)."""

    factor: float

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, specs[0])
        if specs[0].rank is not None and specs[0].rank < 3:
            raise ShapeError(f"an image has the axes height, width and channels, got shape {specs[0].shape}")
        return TensorSpec(specs[0].shape, specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any) -> Any:
        mean = x.sum(axis=(-3, -2), keepdims=True, dtype=x.dtype) / x.dtype.type(x.shape[-3] * x.shape[-2])
        return (x - mean) * x.dtype.type(self.factor) + mean

    def expand(self, *inputs: Any) -> Any:
        """Deviations from the mean, scaled."""
        mean = inputs[0].mean(True, -3, -2)
        return (inputs[0] - mean) * self.factor + mean


@op("rgb_to_grs", api="image.rgb_to_grs image.rgb_to_grayscale", file=FileArgs())
class RgbToGrayscale(Composite):
    """The luma of red, green and blue.  Shapes: x (…, 3) floating -> (…, 1)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, specs[0])
        shape = _of_pixels(specs[0])
        return TensorSpec(None if shape is None else (*shape[:-1], 1), specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return (x * xp.asarray(_LUMA, dtype=x.dtype)).sum(axis=-1, keepdims=True, dtype=x.dtype)

    def expand(self, *inputs: Any) -> Any:
        """A weighted sum of the channels."""
        (x,) = inputs
        return (x * x.sd.constant(_LUMA.astype(x.dtype.numpy))).sum(True, -1)
