"""Cross-entropy of logits: with dense labels and with class indices."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.enums import LossReduce
from ...base.named_axes import expect, expect_broadcast
from ...base.spec import Shape, TensorSpec, may_equal
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError, ShapeError
from ...expressions.arrays import as_rows
from ...families.composite import Composite
from ...families.in_float import in_float
from ...families.indices import check_range
from ...families.sizes import axis_size
from ...ir.op import Copies, Op, Specs, op, require_floating
from ..nn.softmax import LogSoftmax, Softmax, log_softmax, softmax
from .loss import LossOp, with_float

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("softmax_cross_entropy_loss", api="loss.softmax_cross_entropy", file=with_float("label_smoothing", "labelsSmoothing"))
class SoftmaxCrossEntropy(LossOp):
    """-sum(y log_softmax(z)) over the last axis for logits z, one value per example before the reduction.

    Smoothing s replaces y by (1 - s) y + s / K with K classes.

    Shapes: label and predictions (examples…, classes); weights scalar or (examples…) -> scalar, or (examples…) with
    ``LossReduce.NONE``; weights (examples…, 1) give a result (examples…, 1).
    """

    label_smoothing: float = 0.0

    def _is_column(self, predictions: Any, weights: Any) -> bool:
        """Weights with an axis for the classes give a result with one."""
        rank = None if predictions.shape is None else len(predictions.shape)
        return self.loss_reduce is LossReduce.NONE and weights is not None and weights.shape is not None and len(weights.shape) == rank

    def infer(self, *specs: TensorSpec) -> Specs:
        """A scalar, or one value per example."""
        result = super().infer(*specs)
        if isinstance(result, TensorSpec) and result.shape is not None and self._is_column(*specs[:2]):
            return result.with_shape((*result.shape, 1))
        return result

    def compute(self, xp: Any, predictions: Any, weights: Any, label: Any) -> Any:
        result = super().compute(xp, predictions, weights, label)
        return result[..., None] if self._is_column(predictions, weights) else result

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops."""
        predictions, weights, label = inputs
        result = super().expand(*inputs)
        column = weights is not None and self._is_column(predictions.spec, weights.spec)
        return LastAxis.stretch(result, label.sum(True, -1)) if column else result

    def term_shape(self, shape: Shape) -> Shape:
        if not shape:
            raise ShapeError("logits need an axis of classes, got a scalar")
        return shape[:-1]

    def terms(self, xp: Any, predictions: Any, label: Any) -> Any:
        """Computed without overflow for any logit."""
        if self.label_smoothing:
            kind, smoothing = predictions.dtype.type, self.label_smoothing
            label = label * kind(1 - smoothing) + kind(smoothing / max(label.shape[-1], 1))
        return cross_entropy(xp, predictions, label)

    def term_nodes(self, predictions: SDVariable, label: SDVariable) -> SDVariable:
        """A single op that has a gradient of its own."""
        sd = predictions.sd
        if label.dtype is not predictions.dtype:
            label = sd.call("base", "cast_to", label, predictions.dtype)
        if self.label_smoothing:
            label = label * (1 - self.label_smoothing) + self.label_smoothing / axis_size(label, -1)
        return sd.add_op(CrossEntropyTerms(), [predictions, label])  # type: ignore[no-any-return]


#: The smallest probability whose logarithm is taken, as in DL4J's LossMCXENT.
_SMALLEST = 1e-10


@op("cross_entropy_loss", api="loss.cross_entropy")
class CrossEntropy(LossOp):
    """-sum(y log(max(p, 1e-10))) over the last axis for probabilities p, such as the result of softmax; one value per example before the
    reduction. Of logits :class:`SoftmaxCrossEntropy` is exact.

    Shapes: predictions and label (examples…, classes); weights scalar or (examples…) -> scalar, or (examples…) with ``LossReduce.NONE``.
    """

    def term_shape(self, shape: Shape) -> Shape:
        if not shape:
            raise ShapeError("probabilities need an axis of classes, got a scalar")
        return shape[:-1]

    def terms(self, xp: Any, predictions: Any, label: Any) -> Any:
        """The sum over the classes for each example."""
        kind = predictions.dtype.type
        return -(label.astype(predictions.dtype) * xp.log(xp.maximum(predictions, kind(_SMALLEST)))).sum(axis=-1, dtype=predictions.dtype)

    def term_nodes(self, predictions: SDVariable, label: SDVariable) -> SDVariable:
        sd = predictions.sd
        label = label if label.dtype is predictions.dtype else sd.call("base", "cast_to", label, predictions.dtype)
        smallest = sd.constant(np.asarray(_SMALLEST, predictions.dtype.numpy))
        total: SDVariable = (label * sd.call("math", "log", sd.call("base", "max", predictions, smallest))).sum(False, -1)
        return -total


CrossEntropy.signatures = ("predictions, label, weights?, loss_reduce", "predictions, label, weights?")


def cross_entropy(xp: Any, logits: Any, label: Any) -> Any:
    """-sum(y log_softmax(z)) over the last axis."""
    return -xp.where(label == 0, 0, label * log_softmax(xp, logits, -1)).sum(axis=-1, dtype=logits.dtype)


@op("cross_entropy_terms", inputs="logits label")
class CrossEntropyTerms(Op):
    """-sum(y log_softmax(z)) over the last axis (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape without the last axis."""
        shape = specs[0].shape
        expect("label", specs[1], shape)
        return TensorSpec(None if shape is None else shape[:-1], specs[0].dtype)

    @in_float
    def compute(self, xp: Any, logits: Any, label: Any) -> Any:
        """Computed without overflow for any logit."""
        return cross_entropy(xp, logits, label)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """g (softmax(z) sum(y) - y) and -g log_softmax(z)."""
        (logits, label), sd = inputs, inputs[0].sd
        for_label = LastAxis.stretch(output_grads[0], label) * -sd.add_op(LogSoftmax(-1), [logits])
        return [sd.add_op(CrossEntropySlope(), [logits, label, output_grads[0]]), for_label]


@op("cross_entropy_slope", inputs="logits label upstream")
class CrossEntropySlope(Composite):
    """g (softmax(z) sum(y) - y): gradient of the cross-entropy for the logits (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        shape = specs[0].shape
        expect("label", specs[1], shape)
        expect("upstream", specs[2], None if shape is None else shape[:-1])
        return specs[0].with_shape(shape)

    @in_float
    def compute(self, xp: Any, logits: Any, label: Any, upstream: Any) -> Any:
        slope = softmax(xp, logits, -1)
        slope *= label.sum(axis=-1, keepdims=True, dtype=slope.dtype)
        slope -= label
        slope *= upstream[..., None]
        return slope

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops."""
        logits, label, upstream = inputs
        p = logits.sd.add_op(Softmax(-1), [logits])
        return LastAxis.stretch(upstream, label) * (p * label.sum(True, -1) - label)


@op("last_axis_spread", inputs="x like", shape_inputs=(1,))
class LastAxis(Op):
    """One value per row, repeated along the last axis of ``like`` (made by gradients)."""

    @classmethod
    def stretch(cls, x: SDVariable, like: SDVariable) -> SDVariable:
        """Add the node."""
        return x.sd.add_op(cls(), [x, like])  # type: ignore[no-any-return]

    def infer(self, *specs: TensorSpec) -> Specs:
        x, like = specs
        expect_broadcast("x", x, None if like.shape is None else like.shape[:-1])
        return TensorSpec(like.shape, x.dtype)

    def compute(self, xp: Any, x: Any, like: Any) -> Any:
        return xp.broadcast_to(x[..., None], like.shape)

    def copies(self, *specs: TensorSpec) -> Copies:
        return Copies(lambda x, like, out: [(np.broadcast_to(x[..., None], out.shape), out)])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [output_grads[0].sum(-1), None]


@op("sparse_softmax_cross_entropy_loss_with_logits", api="loss.sparse_softmax_cross_entropy", inputs="labels logits",
    signatures=("logits, labels",), is_loss=True, file=FileArgs())
class SparseSoftmaxCrossEntropy(Op):
    """-log_softmax(z)[label] for class indices: one value per example, not reduced.

    Shapes: logits (examples…, classes) floating, labels (examples…) integer -> (examples…).
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        labels, logits = specs
        require_floating(self.id, logits)
        if not labels.dtype.is_integer:
            raise DataTypeError(f"labels must be integers (class indices), got {labels.dtype.name}; "
                                "for one-hot labels use loss.softmax_cross_entropy")
        if logits.shape == () or (logits.shape is not None and not may_equal(labels.shape, logits.shape[:-1])):
            raise ShapeError(f"labels {labels.shape} must have the shape of the logits {logits.shape} without the last axis")
        return TensorSpec(labels.shape, logits.dtype)

    @in_float
    def compute(self, xp: Any, labels: Any, logits: Any) -> Any:
        """Computed without overflow for any logit."""
        check_range(f"{self.id}: label", labels, logits.shape[-1], "a number of classes of")
        index = labels[..., None].astype(np.int64)
        return -xp.take_along_axis(log_softmax(xp, logits, -1), index, axis=-1)[..., 0]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The upstream gradient times (softmax(z) - one_hot(label))."""
        return [None, inputs[1].sd.add_op(SparseCrossEntropySlope(), [*inputs, output_grads[0]])]


@op("sparse_cross_entropy_slope", inputs="labels logits upstream")
class SparseCrossEntropySlope(Op):
    """g (softmax(z) - one_hot(label)) (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        examples = None if specs[1].shape is None else specs[1].shape[:-1]
        expect("labels", specs[0], examples)
        expect("upstream", specs[2], examples)
        return TensorSpec(specs[1].shape, specs[1].dtype)

    @in_float
    def compute(self, xp: Any, labels: Any, logits: Any, upstream: Any) -> Any:
        slope = softmax(xp, logits, -1)
        rows = as_rows(slope)
        check_range(f"{self.id}: label", labels, rows.shape[-1], "a number of classes of")
        rows[xp.arange(len(rows)), labels.reshape(-1)] -= 1
        return rows.reshape(slope.shape) * upstream[..., None]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Through the softmax; for the upstream gradient sum(h (softmax - one_hot))."""
        labels, logits, upstream = inputs
        sd, (h,) = logits.sd, output_grads
        per_row = LastAxis.stretch(upstream, logits)
        for_logits = sd.call("nn", "softmax_derivative", logits, h * per_row, -1)
        ones = sd.call("base", "ones_like", upstream)
        return [None, for_logits, (h * sd.add_op(self, [labels, logits, ones])).sum(-1)]
