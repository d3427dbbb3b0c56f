"""Cross-entropy of logits with dense labels, not reduced."""
from __future__ import annotations

from typing import Any

from ...base.spec import TensorSpec, may_equal, normalize_axis
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError, GradientError, ShapeError
from ...families.composite import Composite
from ...families.in_float import in_float
from ...ir.op import Specs, op, require_floating
from .cross_entropy import CrossEntropyTerms, cross_entropy


@op("softmax_cross_entropy_loss_with_logits", inputs="logits labels",
    file=FileArgs(ints=("classes_dim",), properties={"classesDim": "l:classes_dim"}))
class SoftmaxCrossEntropyWithLogits(Composite):
    """-sum(y log_softmax(z)) over the axis ``classes_dim``: one value per example, not reduced.

    Shapes: logits and labels (*S) -> S without the axis of the classes, in the type of the logits.
    """

    classes_dim: int = -1

    def infer(self, *specs: TensorSpec) -> Specs:
        logits, labels = specs
        require_floating(self.id, logits)
        if not labels.dtype.is_numeric:
            raise DataTypeError(f"labels must be numbers, got {labels.dtype.name}")
        if logits.shape == ():
            raise ShapeError("logits need an axis of classes, got a scalar")
        if not may_equal(logits.shape, labels.shape):
            raise ShapeError(f"labels {labels.shape} must have the shape of the logits {logits.shape}")
        if logits.shape is None:
            return logits.with_shape(None)
        at = normalize_axis(self.classes_dim, len(logits.shape))
        return logits.with_shape(tuple(n for i, n in enumerate(logits.shape) if i != at))

    @in_float
    def compute(self, xp: Any, logits: Any, labels: Any) -> Any:
        """Computed without overflow for any logit."""
        if logits.shape != labels.shape:
            raise ShapeError(f"labels {labels.shape} must have the shape of the logits {logits.shape}")
        z, y = (xp.moveaxis(v, self.classes_dim, -1) for v in (logits, labels.astype(logits.dtype)))
        return cross_entropy(xp, z, y)

    def expand(self, *inputs: Any) -> Any:
        """A single op that has a gradient of its own."""
        logits, labels = inputs
        sd, rank = logits.sd, logits.spec.rank
        if rank is None:
            raise GradientError(f"{self.id}: the rank of the logits must be known to differentiate")
        if labels.dtype is not logits.dtype:
            labels = sd.call("base", "cast_to", labels, logits.dtype)
        at = normalize_axis(self.classes_dim, rank)
        if at != rank - 1:
            order = [*(i for i in range(rank) if i != at), at]
            logits, labels = (sd.call("base", "permute", v, *order) for v in (logits, labels))
        return sd.add_op(CrossEntropyTerms(), [logits, labels])
