"""Resizing of images by the nearest pixel and by areas, as kernels of their own."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import GraphError
from ...ir.op import Specs, attributes, op
from . import resampling as rs
from .resize import Resize


@attributes
class SizedResize(Resize):
    """The size as attributes, or as an input that counts more."""

    inputs = "x size?"
    height: int = 0
    width: int = 0

    def asked(self, size: Any) -> tuple[int, int]:
        """Height and width from the size input or, without one, from the attributes."""
        return (self.height, self.width) if size is None else super().asked(size)


@op("resize_nearest_neighbor", inputs="x size?", signatures=("x, height, width, align_corners, half_pixel_centers",
                                                              "x, size, align_corners, half_pixel_centers"),
    file=FileArgs(ints=("height", "width"), bools=("align_corners", "half_pixel_centers")))
class ResizeNearestNeighbor(SizedResize):
    """Images of another size, each pixel the nearest of the old ones, in the same type.

    ``align_corners`` lays the outer pixels on one another, ``half_pixel_centers`` the outer edges; else a pixel covers what begins
    in it.

    Shapes: x ([batch,] height, width, channels), size (2) integer -> ([batch,] size[0], size[1], channels).
    """

    height: int = 0
    width: int = 0
    align_corners: bool = False
    half_pixel_centers: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """The new size, the same type."""
        if self.align_corners and self.half_pixel_centers:
            raise GraphError("align_corners and half_pixel_centers exclude one another")
        found = super().infer(*specs)
        return TensorSpec(found.shape, specs[0].dtype) if isinstance(found, TensorSpec) else found

    def places(self, old: int, new: int) -> Any:
        """The position of the old pixel for each new one."""
        i = np.arange(new)
        if self.align_corners:
            exact = np.floor(i * ((old - 1) / (new - 1) if new > 1 else old / new) + 0.5)
        else:
            exact = np.floor((i + (0.5 if self.half_pixel_centers else 0.0)) * (old / new))
        return np.minimum(exact, old - 1).astype(np.int64)

    def weights(self, old: int, new: int) -> Any:
        """Weights that pick one old pixel for each new one."""
        return rs.picked(self.places(old, new), old)

    def compute(self, xp: Any, x: Any, size: Any = None) -> Any:
        """Picked without arithmetic, so that any type and infinities pass."""
        rows, columns = (self.places(a, b) for a, b in zip(x.shape[-3:-1], self.size_for(x.shape[-3:-1], self.asked(size))))
        return x.take(xp.asarray(rows), axis=-3).take(xp.asarray(columns), axis=-2)


@op("resize_area", inputs="x size?", signatures=("x, height, width, align_corners", "x, size, align_corners"), file=FileArgs(
    ints=("height", "width"), bools=("align_corners",), properties={"alignCorners": "b:align_corners"}))
class ResizeArea(SizedResize):
    """Images of another size, each pixel the mean of the area that it covers; integers give FLOAT.

    ``align_corners`` makes the areas as wide as when the outer pixels lie on one another.

    Shapes: x ([batch,] height, width, channels), size (2) integer -> ([batch,] size[0], size[1], channels).
    """

    height: int = 0
    width: int = 0
    align_corners: bool = False

    def weights(self, old: int, new: int) -> Any:
        """Weights that average the old pixels a new one covers."""
        if not self.align_corners or new == 1:
            return rs.area(old, new)
        edges = np.arange(new + 1) * ((old - 1) / (new - 1))
        low, high = np.maximum(edges[:-1, None], np.arange(old)), np.minimum(edges[1:, None], np.arange(1, old + 1))
        shares = np.maximum(high - low, 0)
        shares[np.arange(new), np.floor(edges[:-1]).astype(np.int64)] += shares.sum(axis=1) == 0    # areas of width 0: all rows are one
        return rs.normalized(shares)
