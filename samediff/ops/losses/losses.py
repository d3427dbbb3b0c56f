"""Losses: elementwise ones by their formula, the others with their own terms."""
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.spec import Shape, TensorSpec, broadcast, normalize_axis
from ...codecs.file_args import FileArgs
from ...errors import GraphError, ShapeError
from ...expressions.arrays import centred, sum_over
from ...families.composite import Composite
from ...families.families import Elementwise
from ...families.in_float import in_float
from ...families.sizes import axis_size
from ...ir.op import Specs, op, require_floating
from .loss import FILE, ElementLoss, LossOp, element_loss, with_float

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def _hinge(xp: Any, p: Any, y: Any) -> Any:
    margin = 1 - (2 * y - 1) * p
    return xp.where(margin > 0, margin, 0)


def softplus(xp: Any, x: Any) -> Any:
    """ln(1 + e^x) without overflow."""
    return xp.logaddexp(x, 0)


element_loss("absolute_difference_loss", "absolute_difference", lambda xp, p, y: abs(p - y), "|p - y|.")
element_loss("mean_sqerr_loss", "mean_squared_error", lambda xp, p, y: (p - y) * (p - y), "(p - y)^2.")
element_loss("hinge_loss", "hinge_loss", _hinge, "max(0, 1 - (2 y - 1) p) for labels y in {0, 1}.")


@op("huber_loss", api="loss.huber_loss", file=with_float("delta"))
class Huber(ElementLoss):
    """e^2 / 2 for e = |p - y| up to ``delta``, beyond it delta (e - delta / 2) (Huber 1964)."""

    delta: float = 1.0

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of every loss; GraphError for a negative ``delta``."""
        if not self.delta >= 0:
            raise GraphError(f"delta of the Huber loss must not be negative, got {self.delta}")
        return super().infer(*specs)

    def terms(self, xp: Any, predictions: Any, label: Any) -> Any:
        """Quadratic for small errors, linear for large ones."""
        e = abs(predictions - label)
        return xp.where(e <= self.delta, 0.5 * e * e, self.delta * (e - 0.5 * self.delta))


@op("log_loss", api="loss.log_loss", file=with_float("epsilon"))
class Log(ElementLoss):
    """-(y ln(p + epsilon) + (1 - y) ln(1 - p + epsilon))."""

    epsilon: float = 0.0

    def terms(self, xp: Any, predictions: Any, label: Any) -> Any:
        """Binary cross-entropy of probabilities."""
        return -(label * xp.log(predictions + self.epsilon) + (1 - label) * xp.log(1 - predictions + self.epsilon))


@op("log_poisson_loss", api="loss.log_poisson", file=replace(FILE, ints=(*FILE.ints, "full:bool"), properties={"full": "b:full"}))
class LogPoisson(ElementLoss):
    """e^p - y p for p = ln(rate); ``full`` adds Stirling's y ln y - y + ln(2 pi y) / 2."""

    full: bool = False

    def terms(self, xp: Any, predictions: Any, label: Any) -> Any:
        loss = xp.exp(predictions) - label * predictions
        return loss + label * xp.log(label) - label + 0.5 * xp.log(2 * float(np.pi) * label) if self.full else loss


@op("sigm_cross_entropy_loss", api="loss.sigmoid_cross_entropy", file=with_float("label_smoothing", "labelsSmoothing"))
class SigmoidCrossEntropy(ElementLoss):
    """max(z, 0) - z y + ln(1 + e^-|z|) for logits z; smoothing s replaces y by (1 - s) y + s / 2."""

    label_smoothing: float = 0.0

    def terms(self, xp: Any, predictions: Any, label: Any) -> Any:
        """Computed without overflow for any logit."""
        if self.label_smoothing:
            label = (1 - self.label_smoothing) * label + 0.5 * self.label_smoothing
        return softplus(xp, predictions) - predictions * label


@op("weighted_cross_entropy_with_logits", api="loss.weighted_cross_entropy_with_logits", inputs="targets logits weights", file=FileArgs())
class WeightedCrossEntropyWithLogits(Elementwise):
    """(1 - t) z + (1 + (w - 1) t) ln(1 + e^-z): cross-entropy of logits z with weight w for positive targets; not reduced."""

    is_loss = True

    def infer(self, *specs: TensorSpec) -> Specs:
        """The broadcast shape, in the type of the logits."""
        require_floating(self.id, specs[1])
        return TensorSpec(broadcast(*(s.shape for s in specs)), specs[1].dtype)

    def compute(self, xp: Any, targets: Any, logits: Any, weights: Any) -> Any:
        """Computed without overflow for any logit."""
        return (1 - targets) * logits + (1 + (weights - 1) * targets) * softplus(xp, -logits)


@op("l2_loss", api="loss.l2_loss", inputs="var", file=FileArgs())
class L2(Composite):
    """sum(x^2) / 2, a scalar."""

    is_loss = True

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, *specs)
        return TensorSpec((), specs[0].dtype)

    @in_float
    def compute(self, xp: Any, var: Any) -> Any:
        """Half the sum of squares."""
        return 0.5 * sum_over(var * var)

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops."""
        return (inputs[0] * inputs[0]).sum() * 0.5


@op("cosine_distance_loss", api="loss.cosine_distance", file=replace(FILE, ints=(*FILE.ints, "dimension"), properties={}))
class CosineDistanceLoss(LossOp):
    """1 - sum(y p) along ``dimension``, which stays as size 1; p and y are expected to have unit length."""

    dimension: int = -1

    def term_shape(self, shape: Shape) -> Shape:
        """The shape with size 1 along the dimension."""
        axis = normalize_axis(self.dimension, len(shape), "dimension")
        return (*shape[:axis], 1, *shape[axis + 1:])

    def terms(self, xp: Any, predictions: Any, label: Any) -> Any:
        return 1 - (predictions * label).sum(axis=self.dimension, keepdims=True, dtype=predictions.dtype)

    def term_nodes(self, predictions: SDVariable, label: SDVariable) -> SDVariable:
        """The terms as a composition of other ops."""
        return 1.0 - (predictions * label).sum(True, self.dimension)  # type: ignore[no-any-return]


@op("mean_pairwssqerr_loss", api="loss.mean_pairwise_squared_error")
class MeanPairwiseSquaredError(LossOp):
    """Mean squared difference of differences between all pairs of elements of an example.

    4 (n sum(d^2) - sum(d)^2) / (n (n - 1)) with d = p - y, over the axes but the first; n is the size of axis 1. One value
    per example, of shape (examples, 1) for matrices.
    """

    def term_shape(self, shape: Shape) -> Shape:
        if len(shape) < 2:
            raise ShapeError(f"labels need an axis of examples and at least one more, got {shape}")
        return (shape[0], 1) if len(shape) == 2 else shape[:1]

    def terms(self, xp: Any, predictions: Any, label: Any) -> Any:
        """The mean over pairs, from sums and sums of squares."""
        d = predictions - label.astype(predictions.dtype)
        axes, n = tuple(range(1, d.ndim)), d.shape[1]
        keep = d.ndim == 2
        d = centred(d, axes)[1].astype(d.dtype) if keep else d          # a common offset cancels out of the pairs of a row
        squares = (d * d).sum(axis=axes, keepdims=keep, dtype=d.dtype)
        total = d.sum(axis=axes, keepdims=keep, dtype=d.dtype)
        return (n * squares - total * total) * d.dtype.type(4 / max(n * (n - 1), 1))

    def term_nodes(self, predictions: SDVariable, label: SDVariable) -> SDVariable:
        """The terms as a composition of other ops."""
        d = predictions - label
        if d.spec.rank is None:
            raise ShapeError("the gradient of the mean pairwise squared error needs inputs of known rank")
        axes, keep = tuple(range(1, d.spec.rank)), d.spec.rank == 2
        n = axis_size(d, 1)
        d = d - d.mean(True, 1) if keep else d
        total = d.sum(keep, *axes)
        pairs = d.sd.call("math", "max", n * (n - 1.0), 1.0)         # one element has no pairs, and no difference
        return (n * (d * d).sum(keep, *axes) - total * total) * 4.0 / pairs  # type: ignore[no-any-return]
