"""Losses that look at all outputs of an example, or at the whole batch, at once."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.base.spec import TensorSpec
from ...samediff.errors import GradientError, ShapeError
from ...samediff.families.in_float import in_float
from ...samediff.ir.op import Op, Specs, op
from .loss_terms import same_shapes

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable


class RowLoss(Op):
    """One score per example, with a gradient in closed form. Shapes: labels and output (batch, outputs) -> (batch,)."""

    inputs = "labels output"

    def check(self, labels: TensorSpec, output: TensorSpec) -> None:
        """ShapeError for labels and outputs whose shapes do not fit."""
        same_shapes(self.name(), labels, output)

    def name(self) -> str:
        """Name of the loss in messages."""
        return f"Loss{type(self).__name__}"

    def infer(self, *specs: TensorSpec) -> Specs:
        """One value for each row."""
        self.check(*specs)
        output = specs[1]
        return TensorSpec((output.shape[0] if output.shape else -1,), output.dtype)

    def slope(self, xp: Any, labels: Any, output: Any) -> Any:
        """Derivative of each score by the outputs of its row."""
        raise NotImplementedError

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient for the outputs, from its closed form; labels have none."""
        return [None, inputs[0].sd.add_op(RowSlope(self), [*inputs, output_grads[0]])]


@op("layer_row_slope", inputs="labels output upstream")
class RowSlope(Op):
    """Gradient of a row loss by the outputs (made by gradients)."""

    of: RowLoss

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[1].shape, specs[1].dtype)

    @in_float
    def compute(self, xp: Any, labels: Any, output: Any, upstream: Any) -> Any:
        """The slope of each row times its upstream gradient."""
        return self.of.slope(xp, labels, output) * upstream.reshape(-1, 1)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        raise GradientError(f"{self.of.name()} has no second derivative")


#: ln(sqrt(2 pi)) of DL4J's single-precision constant.
_LOG_ROOT = math.log(float(np.float32(math.sqrt(2 * math.pi))))


def _unit(xp: Any, x: Any) -> tuple[Any, Any]:
    """Rows of length 1, and their lengths; lengths below 1e-5 count as 1e-5. Squares are those of shares of the largest element."""
    largest = abs(x).max(axis=1, keepdims=True)
    scale = xp.where((largest > 0) & (largest < xp.inf), largest, 1).astype(x.dtype)
    shares = x / scale
    length = xp.maximum(scale * xp.sqrt((shares * shares).sum(axis=1, keepdims=True, dtype=x.dtype)), xp.asarray(1e-5, x.dtype))
    return x / length, length


@op("layer_cosine_proximity")
class CosineProximity(RowLoss):
    """-cos of the angle between labels and output; norms below 1e-5 count as 1e-5."""

    @in_float
    def compute(self, xp: Any, labels: Any, output: Any) -> Any:
        """Negative cosine of the angle between labels and output."""
        return -(_unit(xp, labels)[0] * _unit(xp, output)[0]).sum(axis=1, dtype=output.dtype)

    def slope(self, xp: Any, labels: Any, output: Any) -> Any:
        """-(y |p|^2 - p (y p)) / (|y| |p|^3): 0 at p = 0, where only the norm below the line counts as 1e-5."""
        (y, _), (p, length) = _unit(xp, labels), _unit(xp, output)
        squared, inner = ((v * p).sum(axis=1, keepdims=True, dtype=output.dtype) for v in (p, y))
        return -(y * squared - p * inner) / length


@op("layer_multi_label")
class MultiLabel(RowLoss):
    """Mean of exp(p_l - p_k) over pairs of a positive label k and a negative one l; 0 without such pairs."""

    def _parts(self, xp: Any, labels: Any, output: Any) -> tuple[Any, Any, Any]:
        positive, negative = labels * xp.exp(-output), (1 - labels) * xp.exp(output)
        count = labels.sum(axis=1, keepdims=True) * (1 - labels).sum(axis=1, keepdims=True)
        return positive, negative, xp.where(count > 0, 1 / xp.where(count > 0, count, 1), 0).astype(output.dtype)

    @in_float
    def compute(self, xp: Any, labels: Any, output: Any) -> Any:
        """The double sum is a product of two sums."""
        positive, negative, scale = self._parts(xp, labels, output)
        return (positive.sum(axis=1, keepdims=True) * negative.sum(axis=1, keepdims=True) * scale).reshape(-1)

    def slope(self, xp: Any, labels: Any, output: Any) -> Any:
        """Each label against all of the other kind."""
        positive, negative, scale = self._parts(xp, labels, output)
        return (negative * positive.sum(axis=1, keepdims=True) - positive * negative.sum(axis=1, keepdims=True)) * scale


@op("layer_mixture_density")
class MixtureDensity(RowLoss):
    """-ln of the density of a mixture of ``mixtures`` Gaussians at the label.

    Shapes: labels (batch, width), output (batch, mixtures * (2 + width)) as [ln weights | ln sigma | means] -> (batch,).
    """

    mixtures: int
    width: int

    def check(self, labels: TensorSpec, output: TensorSpec) -> None:
        """Labels have ``width`` columns, outputs ``mixtures * (2 + width)``."""
        for what, spec, n in (("labels", labels, self.width), ("outputs", output, self.mixtures * (2 + self.width))):
            if spec.shape is not None and (len(spec.shape) != 2 or spec.shape[1] not in (-1, n)):
                raise ShapeError(f"LossMixtureDensity: {what} must have shape [batch, {n}] for {self.mixtures} mixtures of labels of width "
                                 f"{self.width}; got {list(spec.shape)}")

    def _parts(self, xp: Any, labels: Any, output: Any) -> tuple[Any, Any, Any, Any]:
        m = self.mixtures
        weights, log_sigma, means = output[:, :m], output[:, m:2 * m], output[:, 2 * m:].reshape(-1, m, self.width)
        top = weights.max(axis=1, keepdims=True)
        log_alpha = weights - top - xp.log(xp.exp(weights - top).sum(axis=1, keepdims=True))
        away = labels[:, None, :] - means
        inverse = xp.exp(-2 * log_sigma)
        log_density = -0.5 * (away * away).sum(axis=2) * inverse - self.width * (log_sigma + _LOG_ROOT)
        return log_alpha, log_alpha + log_density, away, inverse

    @in_float
    def compute(self, xp: Any, labels: Any, output: Any) -> Any:
        """ln of the sum from its largest term."""
        _, joint, _, _ = self._parts(xp, labels, output)
        top = joint.max(axis=1, keepdims=True)
        return -(top[:, 0] + xp.log(xp.exp(joint - top).sum(axis=1)))

    def slope(self, xp: Any, labels: Any, output: Any) -> Any:
        """The gradient, from the share of each Gaussian in the density."""
        log_alpha, joint, away, inverse = self._parts(xp, labels, output)
        top = joint.max(axis=1, keepdims=True)
        share = xp.exp(joint - top)
        share = share / share.sum(axis=1, keepdims=True)
        for_sigma = share * (self.width - (away * away).sum(axis=2) * inverse)
        for_means = -(share * inverse)[:, :, None] * away
        return xp.concatenate([xp.exp(log_alpha) - share, for_sigma, for_means.reshape(len(output), -1)], axis=1).astype(output.dtype)


@op("layer_f_measure", inputs="labels output mask?")
class FMeasure(RowLoss):
    """1 - F_beta of a batch from soft counts, an equal share of it for each example; binary, with 1 or 2 outputs."""

    beta: float

    def check(self, labels: TensorSpec, output: TensorSpec, mask: TensorSpec | None = None) -> None:
        """ShapeError unless there are one or two columns."""
        same_shapes(self.name(), labels, output)
        if output.shape is not None and (len(output.shape) != 2 or output.shape[1] not in (-1, 1, 2)):
            raise ShapeError(f"LossFMeasure is for two classes, with 1 or 2 outputs; got outputs of shape {list(output.shape)}")
        if mask is not None and mask.shape is not None and (len(mask.shape) != 2 or mask.shape[1] not in (-1, 1)):
            raise ShapeError(f"LossFMeasure takes a mask with one value per example, [batch, 1]; got {list(mask.shape)} "
                             f"for outputs of shape {output.shape}")

    def _counts(self, xp: Any, labels: Any, output: Any, mask: Any) -> tuple[Any, Any, Any, Any]:
        y, p = labels[:, -1], output[:, -1]
        other = output[:, 0] if output.shape[1] == 2 else 1 - p
        m = 1 if mask is None else mask[:, 0]
        hits, missed, false = (m * y * p).sum(), (m * y * other).sum(), (m * (1 - y) * p).sum()
        top = (1 + self.beta ** 2) * hits
        bottom = top + self.beta ** 2 * missed + false
        return m, top, xp.where(bottom != 0, bottom, 1), bottom != 0

    @in_float
    def compute(self, xp: Any, labels: Any, output: Any, mask: Any = None) -> Any:
        """The score of the batch, divided evenly among its rows."""
        _, top, bottom, counted = self._counts(xp, labels, output, mask)
        n = len(output)
        return xp.broadcast_to(xp.where(counted, 1 - top / bottom, 0).astype(output.dtype) / n, (n,))

    def slope(self, xp: Any, labels: Any, output: Any, mask: Any = None) -> Any:
        """The gradient by the quotient rule; zero for the first of two outputs."""
        m, top, bottom, counted = self._counts(xp, labels, output, mask)
        found = m * (top - (1 + self.beta ** 2) * labels[:, -1] * bottom) / (bottom * bottom)
        last = xp.where(counted, found, 0).astype(output.dtype)[:, None]
        return last if output.shape[1] == 1 else xp.concatenate([xp.zeros_like(last), last], axis=1)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The whole for the mean upstream gradient."""
        return [None, inputs[0].sd.add_op(FMeasureSlope(self), [output_grads[0], *inputs])]


@op("layer_f_measure_slope", inputs="upstream labels output mask?")
class FMeasureSlope(Op):
    """Gradient of the F-measure by the outputs (made by gradients)."""

    of: FMeasure

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[2].shape, specs[2].dtype)

    @in_float
    def compute(self, xp: Any, upstream: Any, labels: Any, output: Any, mask: Any = None) -> Any:
        """The gradient of the batch's score times the mean upstream gradient."""
        return self.of.slope(xp, labels, output, mask) * upstream.mean()


@op("layer_masked_rows", inputs="scores mask")
class MaskedRows(Op):
    """Scores times a mask with one value per example. Shapes: scores (batch,), mask (batch, 1) -> (batch,)."""

    loss: str

    def infer(self, *specs: TensorSpec) -> Specs:
        mask = specs[1].shape
        if mask is not None and (len(mask) > 2 or mask[1:] not in ((), (1,), (-1,))):
            raise ShapeError(f"{self.loss} takes a mask with one value per example, [batch, 1]; got {list(mask)} "
                             f"for {specs[0].shape} scores")
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, scores: Any, mask: Any) -> Any:
        m = mask.reshape(-1)
        return xp.where(m != 0, scores * m, scores.dtype.type(0))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(self, [output_grads[0], inputs[1]]), None]
