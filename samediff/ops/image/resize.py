"""Resizing and cropping of images (batch, height, width, channels)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType, is_floating
from ...base.enums import ImageResizeMethod
from ...base.named_axes import expect
from ...base.spec import TensorSpec, size
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError, ShapeError
from ...families.in_float import in_float
from ...families.indices import check_range, require_integer
from ...ir.op import Op, Specs, op, require_floating
from . import resampling as rs

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class Resize(Op):
    """Linear in the image, one axis at a time; ``size`` (height, width) may be a variable."""

    inputs = "x size"

    def infer(self, *specs: TensorSpec) -> Specs:
        x = specs[0]
        if x.shape is not None and len(x.shape) not in (3, 4):
            raise ShapeError(f"images have the axes ([batch,] height, width, channels), got shape {x.shape}")
        if len(specs) > 1 and not specs[1].dtype.is_integer:
            raise DataTypeError(f"a size must consist of integers, got {specs[1].dtype.name}")
        if len(specs) > 1 and size(specs[1].shape) not in (-1, 2):
            raise ShapeError(f"a size consists of height and width, got shape {specs[1].shape}")
        dtype = x.dtype if x.dtype.is_floating else DataType.FLOAT
        if x.shape is None:
            return TensorSpec(None, dtype)
        known = len(specs) < 2 or specs[1].value is not None
        asked = self.asked(specs[1].value if len(specs) > 1 else None) if known else (-1, -1)
        if known and -1 not in x.shape[-3:-1]:
            asked = self.size_for(x.shape[-3:-1], asked)
        elif known and self.keeps_ratio:
            asked = (-1, -1)
        return TensorSpec((*x.shape[:-3], *asked, x.shape[-1]), dtype)

    @property
    def keeps_ratio(self) -> bool:
        """True when the result may be smaller than asked for."""
        return False

    def asked(self, size: Any) -> tuple[int, int]:
        """Height and width in the size input."""
        height, width = (int(n) for n in size.reshape(-1))
        return height, width

    def size_for(self, old: Sequence[int], new: tuple[int, int]) -> tuple[int, int]:
        """Height and width of the result."""
        if min(new) < 1:
            raise ShapeError(f"the new size must be positive, got {new}")
        return new

    def weights(self, old: int, new: int) -> Any:
        """Matrix (new, old) for one axis."""
        raise NotImplementedError(f"{type(self).__name__} must implement weights(self, old, new)")

    def matrices(self, x: Any, size: Any) -> list[Any]:
        """The weight matrices for height and width."""
        old = x.shape[-3:-1]
        dtype = x.dtype if is_floating(x.dtype) else np.dtype(np.float32)
        return [self.weights(a, b).astype(dtype) for a, b in zip(old, self.size_for(old, self.asked(size)))]

    def compute(self, xp: Any, x: Any, size: Any = None) -> Any:
        return apply(xp, x, *self.matrices(x, size))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(ResizeBack(self), [output_grads[0], *inputs]), None][:len(inputs)]


def apply(xp: Any, x: Any, rows: Any, columns: Any) -> Any:
    """An image resized by a matrix for its rows and one for its columns."""
    rows, columns = xp.asarray(rows), xp.asarray(columns)      # to the device that x is on
    lead, (height, width, channels) = x.shape[:-3], x.shape[-3:]
    y = xp.matmul(rows, x.reshape(*lead, height, width * channels).astype(rows.dtype))
    return xp.matmul(columns, y.reshape(*lead, len(rows), width, channels))


@op("resize_back", inputs="g x size?", shape_inputs=(1,))
class ResizeBack(Op):
    """Gradient of a resize for its image (made by gradients)."""

    of: Resize

    def infer(self, *specs: TensorSpec) -> Specs:
        resized: Any = self.of.infer(*specs[1:])
        expect("g", specs[0], resized.shape)
        return TensorSpec(specs[1].shape, specs[0].dtype)

    @in_float
    def compute(self, xp: Any, g: Any, x: Any, size: Any = None) -> Any:
        rows, columns = self.of.matrices(x, size)
        return apply(xp, g, rows.T, columns.T)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(self.of, [output_grads[0], *inputs[2:]]), None, None][:len(inputs)]


#: DL4J's numbers of the methods in files; the enumeration has those of its API.
_METHODS = ("ResizeBilinear|ResizeNearest|ResizeBicubic|ResizeArea|ResizeGaussian|ResizeLanczos3|ResizeLanczos5|"
            "ResizeMitchellcubic")


@op("image_resize", api="image.image_resize", signatures=(
    "x, size, preserve_aspect_ratio, antialias, method", "x, size, method"), file=FileArgs(
        ints=(f"method:{_METHODS}",), bools=("preserve_aspect_ratio", "antialias")))
class ImageResize(Resize):
    """Images of another size, sampled at half-pixel centres.

    ``method`` names the kernel; ``antialias`` widens it when the image shrinks. ``preserve_aspect_ratio`` takes the smaller
    of both scales for both axes.

    Shapes: x ([batch,] height, width, channels), size (2) integer -> ([batch,] size[0], size[1], channels).
    """

    method: ImageResizeMethod
    preserve_aspect_ratio: bool = False
    antialias: bool = False

    @property
    def keeps_ratio(self) -> bool:
        return self.preserve_aspect_ratio

    def size_for(self, old: Sequence[int], new: tuple[int, int]) -> tuple[int, int]:
        """Height and width of the result; smaller than asked for where the aspect ratio is kept."""
        height, width = super().size_for(old, new)
        if not self.preserve_aspect_ratio:
            return height, width
        scale = min(height / old[0], width / old[1])
        return max(1, int(np.floor(old[0] * scale + 0.5))), max(1, int(np.floor(old[1] * scale + 0.5)))

    def weights(self, old: int, new: int) -> Any:
        if self.method is ImageResizeMethod.ResizeNearest:
            return rs.nearest(old, new)
        if self.method is ImageResizeMethod.ResizeArea:
            return rs.area(old, new)
        return rs.by_kernel(old, new, rs.KERNELS[self.method.name], self.antialias)


@op("resize_bilinear", api="image.resize_bi_linear image.resize_bilinear", inputs="x", file=FileArgs(
    ints=("height", "width"), bools=("align_corners", "half_pixel_centers"),
    properties={"alignCorners": "b:align_corners", "halfPixelCenters": "b:half_pixel_centers"}))
class ResizeBilinear(Resize):
    """Images of another size by linear interpolation.

    ``align_corners`` lays the outer pixels on one another, ``half_pixel_centers`` the outer edges.
    """

    inputs = "x"
    height: int
    width: int
    align_corners: bool = False
    half_pixel_centers: bool = False

    def asked(self, size: Any) -> tuple[int, int]:
        return self.height, self.width

    def weights(self, old: int, new: int) -> Any:
        return rs.linear_at(rs.positions(old, new, self.align_corners, self.half_pixel_centers), old)


@op("resize_bicubic", api="image.resize_bi_cubic image.resize_bicubic", file=FileArgs(
    bools=("align_corners", "align_pixel_centers"),
    properties={"alignCorners": "b:align_corners", "alignPixelCenters": "b:align_pixel_centers"}))
class ResizeBicubic(Resize):
    """Images of another size by cubic interpolation (Keys 1981), with a = -0.5 for aligned pixel centres, else -0.75."""

    align_corners: bool = False
    align_pixel_centers: bool = False

    def weights(self, old: int, new: int) -> Any:
        where = rs.positions(old, new, self.align_corners, self.align_pixel_centers)
        return rs.cubic_at(where, old, -0.5 if self.align_pixel_centers else -0.75, not self.align_pixel_centers)


@op("crop_and_resize", api="image.crop_and_resize", inputs="image crop_boxes box_indices crop_out_size", signatures=(
    "image, crop_boxes, box_indices, crop_out_size, extrapolation_value",), file=FileArgs(
        ints=("method",), floats=("extrapolation_value",), properties={"extrapolationValue": "d:extrapolation_value"}))
class CropAndResize(Op):
    """Parts of images, each resized: boxes (y1, x1, y2, x2) relative to the image that ``box_indices`` names.

    ``method`` 0 interpolates, 1 takes the nearest pixel; pixels outside get ``extrapolation_value``. Boxes have no gradient.

    Shapes: image (batch, height, width, channels), crop_boxes (n, 4), box_indices (n) and crop_out_size (2) integer
    -> (n, size[0], size[1], channels).
    """

    extrapolation_value: float = 0.0
    method: int = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        """One image for each box."""
        image, boxes, indices, size = specs
        require_floating(self.id, image, boxes)
        require_integer("box indices", indices)
        require_integer("the size of crops", size)
        expect("box_indices", indices, None if boxes.shape is None else boxes.shape[:1])
        expect("crop_boxes", boxes, None if boxes.shape is None else (-1, 4))
        expect("crop_out_size", size, (2,))
        if image.rank not in (None, 4):
            raise ShapeError(f"expected images (batch, height, width, channels), got {image.shape}")
        height, width = (int(n) for n in size.value.reshape(-1)) if size.value is not None else (-1, -1)
        return TensorSpec((-1 if boxes.shape is None else boxes.shape[0], height, width, -1 if image.shape is None else image.shape[-1]),
                          image.dtype)

    def matrices(self, shape: Sequence[int], box: Any, size: Any, dtype: Any) -> list[Any]:
        """The weight matrices for height and width of one box."""
        make = rs.nearest_crop if self.method else rs.crop
        height, width = (int(n) for n in size.reshape(-1))
        return [make(shape[-3 + k], n, float(box[k]), float(box[k + 2])).astype(dtype) for k, n in enumerate((height, width))]

    @in_float
    def compute(self, xp: Any, image: Any, boxes: Any, indices: Any, size: Any) -> Any:
        check_range(f"{self.id}: box index", indices, len(image), "a number of images of")
        height, width = (int(n) for n in size.reshape(-1))
        out = np.empty((len(boxes), height, width, image.shape[-1]), image.dtype)
        for k, (box, i) in enumerate(zip(boxes, indices)):
            rows, columns = self.matrices(image.shape, box, size, image.dtype)
            inside = (rows.any(axis=1)[:, None] & columns.any(axis=1)[None, :])[..., None]
            out[k] = np.where(inside, apply(np, image[int(i)], rows, columns), image.dtype.type(self.extrapolation_value))
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradients of all boxes, added up in the images."""
        return [inputs[0].sd.add_op(CropBack(self), [output_grads[0], *inputs]), None, None, None]


@op("crop_back", inputs="g image crop_boxes box_indices crop_out_size", shape_inputs=(1,))
class CropBack(Op):
    """Gradient of crops for their images (made by gradients)."""

    of: CropAndResize

    def infer(self, *specs: TensorSpec) -> Specs:
        """The images' shape; they, boxes and sizes must be such as can be cropped."""
        self.of.infer(*specs[1:])
        return TensorSpec(specs[1].shape, specs[0].dtype)

    @in_float
    def compute(self, xp: Any, g: Any, image: Any, boxes: Any, indices: Any, size: Any) -> Any:
        check_range(f"{self.id}: box index", indices, len(image), "a number of images of")
        out = np.zeros(image.shape, g.dtype)
        for k, (box, i) in enumerate(zip(boxes, indices)):
            rows, columns = self.of.matrices(image.shape, box, size, g.dtype)
            out[int(i)] += apply(np, g[k], rows.T, columns.T)
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient cropped again, with 0 outside."""
        op_ = self.of.replace(extrapolation_value=0.0)
        return [inputs[0].sd.add_op(op_, [output_grads[0], *inputs[2:]]), None, None, None, None]
