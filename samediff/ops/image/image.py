"""Selection of boxes, random crops, patches of images."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.named_axes import expect
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError, ShapeError
from ...families.composite import Composite
from ...ir.op import Op, Specs, op, require_floating
from ..conv.patches import ExtractImagePatches

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("non_max_suppression", api="image.non_max_suppression", inputs="boxes scores", gradient="zero", file=FileArgs(
        ints=("max_out_size",), floats=("iou_threshold", "score_threshold")))
class NonMaxSuppression(Op):
    """Indices of boxes by descending score, without those that overlap a chosen one by more than ``iou_threshold``.

    Boxes below ``score_threshold`` are left out; at most ``max_out_size`` are chosen.

    Shapes: boxes (n, 4) as (y1, x1, y2, x2), scores (n) -> INT (m), m known when run.
    """

    max_out_size: int
    iou_threshold: float = 0.5
    score_threshold: float = float("-inf")

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, *specs)
        if specs[0].shape is not None and (len(specs[0].shape) != 2 or specs[0].shape[1] not in (4, -1)):
            raise ShapeError(f"boxes must have the shape (n, 4), got {specs[0].shape}")
        expect("scores", specs[1], (-1,) if specs[0].shape is None else specs[0].shape[:1])
        return TensorSpec((-1,), DataType.INT)

    def compute(self, xp: Any, boxes: Any, scores: Any) -> Any:
        boxes = boxes.astype(np.float64)                     # products of small sides leave the range of FLOAT
        low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
        size = (high - low).prod(axis=1)
        left = [int(i) for i in np.argsort(-scores, kind="stable") if scores[i] >= self.score_threshold]
        chosen: list[int] = []
        while left and len(chosen) < self.max_out_size:
            best, *rest = left
            chosen.append(best)
            common = np.maximum(0, np.minimum(high[rest], high[best]) - np.maximum(low[rest], low[best])).prod(axis=1)
            union = size[rest] + size[best] - common
            left = [i for i, c, u in zip(rest, common, union) if not (u > 0 and c / u > self.iou_threshold)]
        return np.array(chosen, np.int32)


@op("random_crop", api="image.random_crop", inputs="x shape", stateful=True, file=FileArgs())
class RandomCrop(Op):
    """A block of the given shape from a random place.  Shapes: x (*S), shape (rank) integer -> shape."""

    def infer(self, *specs: TensorSpec) -> Specs:
        x, shape = specs
        if not shape.dtype.is_integer:
            raise DataTypeError(f"a shape must consist of integers, got {shape.dtype.name}")
        if shape.value is None:
            return TensorSpec(None if x.shape is None else (-1,) * len(x.shape), x.dtype)
        sizes = tuple(int(n) for n in shape.value.reshape(-1))
        if x.shape is not None and (len(sizes) != len(x.shape) or any(n != -1 and not 0 <= m <= n for m, n in zip(sizes, x.shape))):
            raise ShapeError(f"a block of shape {sizes} does not fit into {x.shape}")
        return TensorSpec(sizes, x.dtype)

    def compute(self, xp: Any, x: Any, shape: Any, *, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        """A block at a random position."""
        return x[place(x.shape, shape, context)]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient put into zeros at the position of the block."""
        node = outputs[0].sd.producer(outputs[0].name())
        return [inputs[0].sd.add_op(RandomCropBack(node.name), [output_grads[0], *inputs]), None]  # type: ignore[union-attr]


def place(whole: Sequence[int], shape: Any, context: Any) -> tuple[slice, ...]:
    """A random block of the given shape, as slices."""
    sizes = [int(m) for m in shape.reshape(-1)]
    starts = context.random().integers(0, [n - m + 1 for n, m in zip(whole, sizes)])
    return tuple(slice(int(s), int(s) + m) for s, m in zip(starts, sizes))


@op("random_crop_back", inputs="g x shape", stateful=True, shape_inputs=(1,))
class RandomCropBack(Op):
    """Zeros with the gradient at the place of the crop ``of`` (made by gradients)."""

    of: str

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[1].shape, specs[0].dtype)

    def compute(self, xp: Any, g: Any, x: Any, shape: Any, *, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        """The block at the position that the forward pass drew."""
        out = np.zeros(x.shape, g.dtype)
        out[place(x.shape, shape, context.at(self.of))] = g
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(RandomCropAgain(self.of), [output_grads[0], inputs[2]]), None, None]


@op("random_crop_again", inputs="x shape", stateful=True, file=None)
class RandomCropAgain(RandomCrop):
    """The block at the place of the crop ``of`` (made by gradients)."""

    of: str

    def compute(self, xp: Any, x: Any, shape: Any, *, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        """The block at the position that the forward pass drew."""
        return x[place(x.shape, shape, context.at(self.of))]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient put into zeros at the position of the block."""
        return [inputs[0].sd.add_op(RandomCropBack(self.of), [output_grads[0], *inputs]), None]


@op("extract_image_patches_sizes", api="image.extract_image_patches",
    file=FileArgs(op_name="extract_image_patches", ints=("*k_sizes", "*strides", "*rates", "same_mode:bool")))
class ExtractPatches(Composite):
    """As ``cnn.extract_image_patches``, with pairs (height, width) of sizes, strides and rates."""

    k_sizes: tuple[int, ...]
    strides: tuple[int, ...]
    rates: tuple[int, ...] = (1, 1)
    same_mode: bool = False

    def single(self) -> Op:
        """The op that takes height and width as separate numbers."""
        if not len(self.k_sizes) == len(self.strides) == len(self.rates) == 2:
            raise ShapeError(f"sizes {self.k_sizes}, strides {self.strides} and rates {self.rates} must be pairs (height, width)")
        return ExtractImagePatches(*self.k_sizes, *self.strides, *self.rates, self.same_mode)

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of the op :meth:`single`."""
        return self.single().infer(*specs)

    def compute(self, xp: Any, x: Any) -> Any:
        """The values of the op :meth:`single`."""
        return self.single().compute(xp, x)

    def expand(self, *inputs: Any) -> Any:
        """The op :meth:`single` as a node."""
        return inputs[0].sd.add_op(self.single(), list(inputs))
