"""Boxes in images: drawn, and chosen by their overlaps."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.named_axes import expect
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...ir.op import Op, Specs, op, require_floating


@op("draw_bounding_boxes", api="image.draw_bounding_boxes", inputs="images boxes colors", gradient="none", file=FileArgs())
class DrawBoundingBoxes(Op):
    """Images with lines of one pixel around boxes, later boxes on top; box i has the colour i modulo their number.

    Shapes: images (N, height, width, channels) floating, boxes (N, n, 4) as (y1, x1, y2, x2) with 0 and 1 at the borders of the
    image, colors (m, at least channels) -> images.
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        images, boxes, colors = specs
        require_floating(self.id, images)
        expect("images", images, (-1, -1, -1, -1))
        expect("boxes", boxes, (-1 if images.shape is None else images.shape[0], -1, 4))
        expect("colors", colors, (-1, -1))
        if images.shape is not None and colors.shape is not None and -1 not in (images.shape[3], colors.shape[1]) \
                and not (colors.shape[0] and colors.shape[1] >= images.shape[3]):
            raise ShapeError(f"colors have a number for each of the {images.shape[3]} channels, got shape {colors.shape}")
        return TensorSpec(images.shape, images.dtype)

    def compute(self, xp: Any, images: Any, boxes: Any, colors: Any) -> Any:
        """Box by box; those outside of their image leave no trace."""
        made = np.array(images)
        height, width, depth = made.shape[1:]
        for image, its_boxes in zip(made, boxes):
            for i, (y1, x1, y2, x2) in enumerate(its_boxes.astype(np.float64)):
                color = colors[i % len(colors), :depth]
                top, bottom = (int(y * (height - 1)) for y in (y1, y2))
                left, right = (int(x * (width - 1)) for x in (x1, x2))
                rows, columns = slice(max(top, 0), max(bottom + 1, 0)), slice(max(left, 0), max(right + 1, 0))
                for y in {top, bottom} & set(range(height)):
                    image[y, columns] = color
                for x in {left, right} & set(range(width)):
                    image[rows, x] = color
        return made


@op("non_max_suppression_overlaps", api="image.non_max_suppression_overlaps", inputs="overlaps scores", gradient="zero",
    file=FileArgs(ints=("max_out_size",), floats=("overlap_threshold", "score_threshold")))
class NonMaxSuppressionOverlaps(Op):
    """Indices of boxes by descending score, without those whose overlap with a chosen one exceeds ``overlap_threshold``.

    Boxes below ``score_threshold`` are left out; at most ``max_out_size`` are chosen.

    Shapes: overlaps (n, n), scores (n) -> INT (m), m known when run.
    """

    max_out_size: int
    overlap_threshold: float = 0.5
    score_threshold: float = float("-inf")

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, *specs)
        count = (-1,) if specs[1].shape is None else specs[1].shape
        expect("scores", specs[1], (-1,))
        expect("overlaps", specs[0], (*count, *count))
        return TensorSpec((-1,), DataType.INT)

    def compute(self, xp: Any, overlaps: Any, scores: Any) -> Any:
        order = np.argsort(-scores, kind="stable")
        order = order[scores[order] >= self.score_threshold]
        hidden = overlaps[np.ix_(order, order)] > self.overlap_threshold
        chosen: list[int] = []
        for i in range(len(order)):
            if len(chosen) < self.max_out_size and not hidden[i, chosen].any():
                chosen.append(i)
        return order[chosen].astype(np.int32)
