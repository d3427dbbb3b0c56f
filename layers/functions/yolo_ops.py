"""The loss of YOLO object detection (Redmon and Farhadi, 2016), with its gradient, and its activations.

In this file: N examples, B boxes per cell, C classes, (H, W) cells. Coordinates are in units of cells.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.base.spec import TensorSpec
from ...samediff.errors import ShapeError
from ...samediff.families.in_float import in_float
from ...samediff.ir.op import Op, Specs, op
from .loss_base import ILossFunction
from .losses import LossL2

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable

Priors = tuple[tuple[float, float], ...]


def _sigmoid(xp: Any, x: Any) -> Any:
    return 1 / (1 + xp.exp(-x))


def _boxes(x: Any, count: int) -> Any:
    """(N, B * (5 + C), H, W) to (N, B, 5 + C, H, W)."""
    n, channels, h, w = x.shape
    return x.reshape(n, count, channels // count, h, w)


def _sizes(priors: Priors, dtype: Any) -> Any:
    """The priors as an array (1, B, 2, 1, 1)."""
    return np.asarray(priors, dtype).reshape(1, len(priors), 2, 1, 1)


def check_boxes(x: TensorSpec, priors: Priors) -> None:
    """ShapeError unless the channels are those of the boxes."""
    if x.shape is not None and (len(x.shape) != 4 or (x.shape[1] != -1 and (x.shape[1] % len(priors) or x.shape[1] // len(priors) < 5))):
        raise ShapeError(f"Yolo2OutputLayer with {len(priors)} bounding boxes needs input (batch, {len(priors)} * (5 + classes), "
                         f"height, width); got {list(x.shape)}")


@op("yolo_activations", gradient="none")
class YoloActivations(Op):
    """Centers and confidence through the sigmoid, sizes as ``prior * e^x``, classes through the softmax. Shapes: as x."""

    priors: Priors

    def infer(self, *specs: TensorSpec) -> Specs:
        check_boxes(specs[0], self.priors)
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        b = _boxes(x, len(self.priors))
        classes = xp.exp(b[:, :, 5:] - b[:, :, 5:].max(axis=2, keepdims=True)) if b.shape[2] > 5 else b[:, :, 5:]
        parts = [_sigmoid(xp, b[:, :, :2]), xp.exp(b[:, :, 2:4]) * xp.asarray(_sizes(self.priors, x.dtype)), _sigmoid(xp, b[:, :, 4:5]),
                 classes / classes.sum(axis=2, keepdims=True)]
        return xp.concatenate(parts, axis=2).reshape(x.shape)


@dataclass(frozen=True)
class YoloTerm:
    """One loss: labels and outputs as rows of positions, their weights, and the positions where they apply."""

    loss: ILossFunction
    labels: Any
    output: Any
    activation: str
    mask: Any
    factor: float

    def _rows(self, a: Any) -> Any:
        return np.ascontiguousarray(np.moveaxis(a, 2, -1)).reshape(-1, a.shape[2])

    def _seen(self, a: Any) -> Any:
        """Rows of positions, 0 where the term does not apply: whatever stands there, it reaches nothing."""
        return self._rows(np.where(self.mask != 0, a, np.zeros((), a.dtype)))

    def scores(self) -> Any:
        """The term's score for each image, (N,)."""
        rows = self.loss.compute_score_array(self._rows(self.labels), self._seen(self.output), self.activation, self._rows(self.mask))
        return self.factor * rows.reshape(len(self.output), -1).sum(axis=1)

    def slope(self, chain: Any) -> Any:
        """Gradient by what the output is made of, in its shape; ``chain`` is the derivative of the output by that."""
        d = self.loss.compute_gradient(self._rows(self.labels), self._seen(self.output), self.activation, self._rows(self.mask))
        n, b, k, h, w = self.output.shape
        return np.where(self.mask != 0, self.factor * np.moveaxis(d.reshape(n, b, h, w, k), -1, 2) * chain, np.zeros((), d.dtype))


def overlaps(low: Any, high: Any, middle: Any, size: Any) -> tuple[Any, Any, Any]:
    """Intersection over union of boxes, given by corners and by center and size, and its slopes by center and size."""
    inside_high, inside_low = middle + size / 2 < high, middle - size / 2 > low
    sides = np.minimum(high, middle + size / 2) - np.maximum(low, middle - size / 2)
    meet = (sides > 0).all(axis=2, keepdims=True)
    sides = sides * meet
    common = sides.prod(axis=2, keepdims=True)
    union = size.prod(axis=2, keepdims=True) + (high - low).prod(axis=2, keepdims=True) - common
    union = np.where(union > 0, union, np.ones((), size.dtype))       # neither an object nor a box that is seen
    share = common / union
    other_side, other_size = sides[:, :, ::-1] / union, size[:, :, ::-1] / union
    by_middle = (inside_high.astype(size.dtype) - inside_low) * other_side * (1 + share)
    by_size = 0.5 * (inside_high.astype(size.dtype) + inside_low) * other_side * (1 + share) - share * other_size
    return share, by_middle * meet, by_size * meet


@op("yolo_loss", inputs="x labels mask?")
class YoloLoss(Op):
    """The loss of each image.

    Shapes: x (N, B * (5 + C), H, W), labels (N, 4 + C, H, W) with [x1, y1, x2, y2, one-hot class] in the cell of the object, mask
    (N, 1 or 4 + C, 1 or H, 1 or W) with 0 in cells that do not count -> (N,).
    The box with the largest overlap answers for an object; its overlap is the confidence that it should have.
    """

    priors: Priors
    coordinates: float
    no_object: float
    position: ILossFunction
    classes: ILossFunction

    def infer(self, *specs: TensorSpec) -> Specs:
        """One score for each image."""
        x, labels = specs[:2]
        check_boxes(x, self.priors)
        if x.shape and labels.shape and -1 not in x.shape + labels.shape:
            wanted = (x.shape[0], x.shape[1] // len(self.priors) - 1, *x.shape[2:])
            if labels.shape != wanted:
                raise ShapeError(f"Yolo2OutputLayer needs labels of shape {list(wanted)} (batch, 4 + classes, height, width) for input "
                                 f"{list(x.shape)}; got {list(labels.shape)}")
        return TensorSpec((x.shape[0] if x.shape else -1,), x.dtype)

    def terms(self, x: Any, labels: Any, mask: Any = None) -> tuple[list[tuple[slice, Any, YoloTerm]], Any]:
        """For each term its slice of the box, the derivative of its operand by x, and the term; last the derivative by overlaps."""
        b = _boxes(x, len(self.priors))
        shape = (len(x), len(self.priors), -1, *x.shape[2:])
        low, high = labels[:, None, :2], labels[:, None, 2:4]
        center = 0.5 * (low + high)
        xy, wh = _sigmoid(np, b[:, :, :2]), np.exp(b[:, :, 2:4]) * _sizes(self.priors, x.dtype)
        confidence, root = _sigmoid(np, b[:, :, 4:5]), np.sqrt(wh)
        rows, columns = np.meshgrid(np.arange(x.shape[2], dtype=x.dtype), np.arange(x.shape[3], dtype=x.dtype), indexing="ij")
        middle = xy + np.stack([columns, rows])[None, None]
        overlap, by_middle, by_size = overlaps(low, high, middle, wh)
        counts = 1 if mask is None else mask.max(axis=1)[:, None, None].astype(x.dtype)
        present = labels[:, None, 4:].sum(axis=2, keepdims=True)
        best = (np.arange(len(self.priors)).reshape(1, -1, 1, 1, 1) == overlap.argmax(axis=1, keepdims=True)) * present
        best = best.astype(x.dtype)

        def all_boxes(a: Any) -> Any:
            return np.broadcast_to(a, (shape[0], shape[1], a.shape[2], *shape[3:]))

        sized, one = slice(2, 4), slice(4, 5)
        nothing = np.zeros((), x.dtype)
        expected = np.where(best != 0, overlap, nothing) * best
        best, free = best * counts, (1 - best) * counts
        towards = 2 * (overlap - confidence) * best
        slopes = np.concatenate([towards * by_middle * xy * (1 - xy), towards * by_size * wh], axis=2)
        by_overlap = np.where(best != 0, slopes, nothing)
        return [
            (slice(0, 2), xy * (1 - xy), YoloTerm(self.position, all_boxes(center - np.floor(center)), xy, "identity", best,
                                                          self.coordinates)),
            (sized, root / 2, YoloTerm(self.position, all_boxes(np.sqrt(high - low)), root, "identity", best, self.coordinates)),
            (one, confidence * (1 - confidence), YoloTerm(LossL2(), expected, confidence, "identity", best, 1.0)),
            (one, confidence * (1 - confidence), YoloTerm(LossL2(), expected, confidence, "identity", free, self.no_object)),
            (slice(5, None), 1, YoloTerm(self.classes, all_boxes(labels[:, None, 4:]), b[:, :, 5:], "softmax", best, 1.0)),
        ], by_overlap

    @in_float
    def compute(self, xp: Any, x: Any, labels: Any, mask: Any = None) -> Any:
        """The sum of all terms."""
        with np.errstate(over="ignore", invalid="ignore"):          # of boxes that answer for no object
            return sum(term.scores() for _, _, term in self.terms(x, labels, mask)[0])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient of all terms, and of the overlaps that confidences are compared with."""
        x, labels, *mask = inputs
        return [x.sd.add_op(YoloSlope(self), [x, labels, output_grads[0], *mask]), None, *(None for _ in mask)]


@op("yolo_slope", inputs="x labels upstream mask?", gradient="none")
class YoloSlope(Op):
    """Gradient of the loss by the input (made by gradients)."""

    of: YoloLoss

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any, labels: Any, upstream: Any, mask: Any = None) -> Any:
        d = np.zeros_like(_boxes(x, len(self.of.priors)))
        with np.errstate(over="ignore", invalid="ignore"):
            terms, by_overlap = self.of.terms(x, labels, mask)
            for where, chain, term in terms:
                d[:, :, where] += term.slope(chain)
        d[:, :, :4] += by_overlap
        return d.reshape(x.shape) * upstream.reshape(-1, 1, 1, 1)
