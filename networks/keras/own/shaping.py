"""Changes of shape for arrays of any number of axes; sizes and axes are those without the batch."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ....layers.base.base import NoParamLayer, layer
from ....samediff.configuration.declaring import Convertible
from ....samediff.errors import ConfigurationError
from ....samediff.ir.op import OPS
from ..shapes import Shape
from .result_shapes import ShapedResult

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable


@layer()
class Unmasking(ShapedResult, NoParamLayer):
    """A layer behind which no mask is known."""

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return None


@layer("dl4py.keras.Reshape")
class ReshapeLayer(Unmasking):
    """Each example in another shape, in C order.

    Parameters
    ----------
    sizes : tuple of int
        Its shape; one size may be -1.
    """

    sizes: Convertible[tuple[int, ...]] = ()

    def result_shape(self, shape: Shape) -> Shape:
        if -1 not in self.sizes or None in shape:
            return tuple(None if n < 0 else n for n in self.sizes)
        open_size = math.prod(n or 1 for n in shape) // max(1, -math.prod(self.sizes))
        return tuple(open_size if n < 0 else n for n in self.sizes)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        if -1 not in self.sizes:
            return sd.call("base", "reshape", x, -1, *self.sizes)  # type: ignore[no-any-return]
        batch = sd.call("base", "expand_dims", sd.call("base", "size_at", x, 0), 0)
        sizes = sd.constant(np.array(self.sizes, np.int64))
        return sd.call("base", "reshape", x, sd.call("base", "concat", 0, batch, sizes))  # type: ignore[no-any-return]


@layer("dl4py.keras.Permute")
class PermuteLayer(Unmasking):
    """The axes of each example in another order.

    Parameters
    ----------
    order : tuple of int
        Axes of the input in their new order, counted from 1.
    """

    order: Convertible[tuple[int, ...]] = ()

    def result_shape(self, shape: Shape) -> Shape:
        return tuple(shape[i - 1] for i in self.order)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return sd.call("base", "permute", x, 0, *self.order)  # type: ignore[no-any-return]


@layer("dl4py.keras.Padding")
class Padding(Unmasking):
    """A number around each example.

    Parameters
    ----------
    before, after : tuple of int
        How often along each axis.
    value : float
        The number; 0 by default.
    """

    before: Convertible[tuple[int, ...]] = ()
    after: Convertible[tuple[int, ...]] = ()
    value: float = 0.0

    def result_shape(self, shape: Shape) -> Shape:
        return tuple(None if n is None else n + a + b for n, a, b in zip(shape, self.before, self.after))

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        edges = np.array([(0, 0), *zip(self.before, self.after)])
        return sd.call("nn", "pad", x, sd.constant(edges), self.value)  # type: ignore[no-any-return]


@layer("dl4py.keras.Cropping")
class Cropping(Unmasking):
    """Each example without its edges.

    Parameters
    ----------
    before, after : tuple of int
        How much is left out along each axis.
    """

    before: Convertible[tuple[int, ...]] = ()
    after: Convertible[tuple[int, ...]] = ()

    def result_shape(self, shape: Shape) -> Shape:
        return tuple(None if n is None else n - a - b for n, a, b in zip(shape, self.before, self.after))

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return x[(slice(None), *(slice(a, -b if b else None) for a, b in zip(self.before, self.after)))]


@layer("dl4py.keras.Repetition")
class RepetitionLayer(Unmasking):
    """Every value several times along each axis.

    Parameters
    ----------
    times : tuple of int
        How often, by axis.
    """

    times: Convertible[tuple[int, ...]] = ()

    def result_shape(self, shape: Shape) -> Shape:
        return tuple(None if n is None else n * t for n, t in zip(shape, self.times))

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        for axis, count in enumerate(self.times, 1):
            if count > 1:
                wide = sd.call("base", "expand_dims", x, axis + 1)
                repeated = sd.call("base", "concat", axis + 1, *[wide] * count)
                x = joined(sd, repeated, axis, len(x.spec.shape or ()))
        return x


@layer("dl4py.keras.ResizedPictures")
class ResizedPictures(Unmasking):
    """Pictures of another size, by interpolation between the centres of pixels.

    Parameters
    ----------
    size : tuple of int
        Height and width of the result.
    method : str
        "nearest", "bilinear" or "bicubic".
    channels_first : bool
        Whether channels stand in front of the axes of space.
    """

    size: Convertible[tuple[int, ...]] = ()
    method: str = "bilinear"
    channels_first: bool = False

    def validate(self) -> None:
        super().validate()
        if self.method not in ("nearest", "bilinear", "bicubic") or len(self.size) != 2:
            raise ConfigurationError(f"{self.label}: two sizes and the method nearest, bilinear or bicubic are expected; got {self.size} "
                                     f"and {self.method!r}")

    def result_shape(self, shape: Shape) -> Shape:
        return (shape[0], *self.size) if self.channels_first else (*self.size, shape[-1])

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        x = x.permute(0, 2, 3, 1) if self.channels_first else x
        sizes = sd.constant(np.array(self.size, np.int32))
        if self.method == "nearest":
            x = sd.add_op(OPS["resize_nearest_neighbor"](align_corners=False, half_pixel_centers=True), [x, sizes])
        elif self.method == "bilinear":
            x = sd.call("image", "resize_bilinear", x, *self.size, False, True)
        else:
            x = sd.call("image", "resize_bicubic", x, sizes, False, True)
        return x.permute(0, 3, 1, 2) if self.channels_first else x


def joined(sd: SameDiff, x: SDVariable, axis: int, rank: int) -> SDVariable:
    """Axes ``axis`` and the next as one; sizes are known when it runs."""
    sizes = [sd.call("base", "size_at", x, i) for i in range(rank + 1)]
    merged = [*sizes[:axis], sizes[axis] * sizes[axis + 1], *sizes[axis + 2:]]
    shape = sd.call("base", "concat", 0, *(sd.call("base", "expand_dims", n, 0) for n in merged))
    return sd.call("base", "reshape", x, shape)  # type: ignore[no-any-return]
