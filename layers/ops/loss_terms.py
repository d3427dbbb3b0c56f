"""Losses as sums of one term per output: the terms and their slopes, as graph ops."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.base.spec import TensorSpec, may_equal
from ...samediff.errors import ShapeError
from ...samediff.families.families import Elementwise
from ...samediff.families.indices import check_range, check_whole
from ...samediff.ir.op import Op, Specs, op

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable


@dataclass(frozen=True)
class LossTerm:
    """``score(xp, labels, output, eps)`` and its derivative by the output; without ``slope`` that of the trace."""

    score: Callable[[Any, Any, Any, float], Any]
    slope: Callable[[Any, Any, Any, float], Any] | None = None


def clip(xp: Any, x: Any, eps: float) -> Any:
    """x within [eps, 1 - eps]; NaN passes."""
    return xp.where(x < eps, eps, xp.where(x > 1 - eps, 1 - eps, x))


def _above(xp: Any, x: Any, eps: float) -> Any:
    """x within [eps, 1]; NaN becomes eps."""
    return xp.where(x > eps, xp.where(x > 1, 1, x), eps)


def _binary(xp: Any, y: Any, p: Any, eps: float) -> Any:
    p = clip(xp, p, eps)
    return -(y * xp.log(p) + (1 - y) * xp.log(1 - p))


def _binary_slope(xp: Any, y: Any, p: Any, eps: float) -> Any:
    p = clip(xp, p, eps)
    return (p - y) / (p * (1 - p))


def _log_ratio(xp: Any, y: Any, p: Any) -> Any:
    return xp.log((p + 1) / (y + 1))


def _hinge(xp: Any, y: Any, p: Any) -> Any:
    margin = 1 - y * p
    return xp.where(margin <= 0, 0, margin)


#: By name. Where a score is clipped its slope is not 0 but that at the clipped (or unclipped) output, as in DL4J.
TERMS = {
    "squared": LossTerm(lambda xp, y, p, e: (p - y) * (p - y)),
    "absolute": LossTerm(lambda xp, y, p, e: abs(p - y), lambda xp, y, p, e: xp.where(p > y, 1, xp.where(p < y, -1, 0)).astype(p.dtype)),
    "percentage": LossTerm(lambda xp, y, p, e: 100 * abs((y - p) / y), lambda xp, y, p, e: -100 * xp.sign(y - p) / abs(y)),
    "log_ratio": LossTerm(lambda xp, y, p, e: _log_ratio(xp, y, p) * _log_ratio(xp, y, p),
                      lambda xp, y, p, e: 2 / (p + 1) * _log_ratio(xp, y, p)),
    "binary": LossTerm(_binary, _binary_slope),
    "binary_of_softmax": LossTerm(lambda xp, y, p, e: -(y * xp.log(p)), _binary_slope),
    "log": LossTerm(lambda xp, y, p, e: -(y * xp.log(p)), lambda xp, y, p, e: -y / p),
    "divergence": LossTerm(lambda xp, y, p, e: _above(xp, y, e) * xp.log(_above(xp, y, e) / _above(xp, p, e)), lambda xp, y, p, e: -y / p),
    "hinge": LossTerm(lambda xp, y, p, e: _hinge(xp, y, p)),
    "squared_hinge": LossTerm(lambda xp, y, p, e: _hinge(xp, y, p) * _hinge(xp, y, p)),
    "poisson": LossTerm(lambda xp, y, p, e: p - y * xp.log(p), lambda xp, y, p, e: 1 - y / p),
    "product": LossTerm(lambda xp, y, p, e: y * p),
}


def same_shapes(loss: str, labels: TensorSpec, output: TensorSpec) -> None:
    """ShapeError unless labels and outputs can have one shape."""
    a, b = labels.shape, output.shape
    if a is not None and b is not None and not may_equal(a, b):
        hint = ""
        if len(a) == 1 and b[1:] == (1,):
            hint = ": labels.reshape(-1, 1) is such a column"
        elif a[1:] in ((), (1,)) and len(b) == 2:
            hint = ": numbers of classes become such rows by np.eye(classes)[labels.ravel()], or go into fit as whole numbers in one axis"
        raise ShapeError(f"{loss}: labels of shape {list(a)} do not fit outputs of shape {list(b)}; both must have the same shape, "
                         f"one column per output of the layer{hint}")


@op("layer_loss_terms", inputs="labels output")
class LayerLossTerms(Elementwise):
    """One term per example and output, by the name of its formula.

    Shapes: labels and output (batch, outputs) -> the same.
    """

    kind: str
    loss: str
    eps: float = 0.0
    width: int = 0              # number of weights, 0 without

    def infer(self, *specs: TensorSpec) -> Specs:
        labels, output = specs[:2]
        same_shapes(self.loss, labels, output)
        if self.width and output.shape and output.shape[-1] not in (-1, self.width):
            raise ShapeError(f"{self.loss}: {self.width} weights do not fit outputs of shape {list(output.shape)}; "
                             "one weight per output is needed")
        return TensorSpec(output.shape, output.dtype)

    def compute(self, xp: Any, labels: Any, output: Any) -> Any:
        return TERMS[self.kind].score(xp, labels, output, self.eps)

    def partial(self, i: int, inputs: Sequence[SDVariable], upstream: SDVariable) -> SDVariable | None:
        """The gradient for the output from the slope in the table; for the others by tracing."""
        if i == 0 or TERMS[self.kind].slope is None:
            return super().partial(i, inputs, upstream)
        return inputs[0].sd.add_op(LossSlope(self.kind, self.eps), [*inputs, upstream])  # type: ignore[no-any-return]


@op("layer_loss_slope", inputs="labels output upstream")
class LossSlope(Elementwise):
    """Gradient of :class:`LayerLossTerms` by the output (made by gradients)."""

    kind: str
    eps: float = 0.0

    def compute(self, xp: Any, labels: Any, output: Any, upstream: Any) -> Any:
        slope = TERMS[self.kind].slope
        assert slope is not None
        return upstream * slope(xp, labels, output, self.eps)


@op("layer_softmax_terms", inputs="labels p z")
class SoftmaxTerms(Elementwise):
    """-labels * ln(p) for p = softmax(z), clipped to [eps, 1 - eps]; the gradient goes to z at once and is not clipped."""

    loss: str
    eps: float = 1e-10
    width: int = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        return LayerLossTerms("log", self.loss, self.eps, self.width).infer(specs[0], specs[2])

    def compute(self, xp: Any, labels: Any, p: Any, z: Any) -> Any:
        return -(labels * xp.log(clip(xp, p, self.eps)))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient through the softmax: p sum(g labels) - g labels."""
        labels, p, _ = inputs
        pulled = output_grads[0] * labels
        return [self.partial(0, inputs, output_grads[0]), None, p * pulled.sum(True, -1) - pulled]


@op("layer_masked_gradient", inputs="x mask")
class MaskedGradient(Op):
    """x; where a mask with one entry per output is 0, so is the gradient."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, mask: Any) -> Any:
        return x

    def same_as(self, *specs: TensorSpec) -> int | None:
        return 0

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """0 where the mask is, unless that has one entry per example."""
        return [inputs[0].sd.add_op(PerOutput(), [output_grads[0], inputs[1]]), None]


@op("layer_per_output", inputs="x mask")
class PerOutput(Op):
    """x, and 0 where a mask of its shape is 0; x itself for a mask with one entry per example (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, mask: Any) -> Any:
        """Zeros where a mask of the shape of x is 0; x itself for a mask of another shape."""
        return xp.where(mask != 0, x, x.dtype.type(0)) if mask.shape == x.shape else x

    def same_as(self, *specs: TensorSpec) -> int | None:
        """Input 0, which the result equals for a mask of another shape."""
        return None if specs[0].shape == specs[1].shape else 0

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(self, [output_grads[0], inputs[1]]), None]


@op("layer_one_hot_labels", inputs="labels output", shape_inputs=(1,), gradient="zero")
class OneHotLabels(Op):
    """Rows with a 1 in the column of the label. Shapes: labels (batch, 1), output (batch, outputs) -> as output."""

    loss: str

    def infer(self, *specs: TensorSpec) -> Specs:
        labels, output = specs
        if labels.shape is not None and (len(labels.shape) > 2 or labels.shape[1:] not in ((), (1,), (-1,))):
            raise ShapeError(f"{self.loss}: labels must be class indices of shape [batch, 1]; got {list(labels.shape)} for outputs "
                             f"of shape {output.shape}")
        if labels.shape and output.shape and labels.shape[0] != output.shape[0] and -1 not in (labels.shape[0], output.shape[0]):
            raise ShapeError(f"{self.loss}: labels of shape {list(labels.shape)} do not fit outputs of shape {list(output.shape)}")
        return TensorSpec(output.shape, output.dtype)

    def compute(self, xp: Any, labels: Any, output: Any) -> Any:
        """Label numbers compared with the column numbers."""
        n = output.shape[-1]
        index = labels.reshape(-1, 1)
        check_whole(f"{self.loss}: label", index)
        check_range(f"{self.loss}: label", index, n, "a number of classes of")
        return (index == np.arange(n)).astype(output.dtype)
