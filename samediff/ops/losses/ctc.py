"""Connectionist temporal classification."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.named_axes import agree
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError
from ...families.indices import check_lengths, check_range
from ...ir.op import Op, Specs, op, require_floating

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

Array = np.ndarray[Any, Any]


@op("ctc_loss", api="loss.ctc_loss", inputs="target_labels logit_input target_label_lengths logit_input_lengths", is_loss=True,
    file=FileArgs(ints=("blank_index",)))
class CtcLoss(Op):
    """Negative log likelihood of label sequences, summed over all alignments with blanks (Graves et al. 2006).

    ``logit_input`` holds log-probabilities (a log-softmax over the classes); class ``blank_index`` is the blank.

    Shapes: labels (batch, length) integer, log-probabilities (batch, time, classes) floating, both lengths (batch) integer
    -> (batch). A sequence that no alignment gives has the loss infinity and the gradient 0.
    """

    blank_index: int = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        """One value for each example."""
        labels, logits, *lengths = specs
        require_floating(self.id, logits)
        for spec in (labels, *lengths):
            if not spec.dtype.is_integer:
                raise DataTypeError(f"labels and lengths must be integers, got {spec.dtype.name}")
        agree("target_labels N L, logit_input N T C, target_label_lengths N, logit_input_lengths N", specs)
        return TensorSpec(None if logits.shape is None else logits.shape[:1], logits.dtype)

    def compute(self, xp: Any, labels: Any, logits: Any, label_lengths: Any, logit_lengths: Any) -> Any:
        """By the forward recursion."""
        examples = _examples(self, labels, logits, label_lengths, logit_lengths)
        return np.array([-e.forward()[1] for e in examples], logits.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Minus the probability of each class at each time, given the labels."""
        return [None, inputs[0].sd.add_op(CtcSlope(self.blank_index), [*inputs, output_grads[0]]), None, None]


@op("ctc_slope", inputs="target_labels logit_input target_label_lengths logit_input_lengths upstream")
class CtcSlope(Op):
    """Gradient of the CTC loss for the log-probabilities (made by gradients)."""

    blank_index: int = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[1].shape, specs[1].dtype)

    def compute(self, xp: Any, labels: Any, logits: Any, label_lengths: Any, logit_lengths: Any, upstream: Any) -> Any:
        """By the forward and the backward recursion."""
        slope = np.zeros_like(logits)
        for i, example in enumerate(_examples(self, labels, logits, label_lengths, logit_lengths)):
            example.add_to(slope[i], -upstream[i] * example.posterior())
        return slope

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The Hessian times the gradient, and the slope of each example along it."""
        sd, given, (h,) = inputs[0].sd, inputs[:4], output_grads
        ones = sd.call("base", "ones_like", inputs[4])
        along = (h * sd.add_op(self, [*given, ones])).sum(2).sum(1)
        return [None, sd.add_op(CtcCurvature(self.blank_index), [*inputs, h]), None, None, along]


@op("ctc_curvature", inputs="target_labels logit_input target_label_lengths logit_input_lengths upstream direction", gradient="none")
class CtcCurvature(Op):
    """Derivative of ``ctc_slope`` by the log-probabilities along ``direction``: minus the covariance of the classes over the
    alignments, times the direction (made by gradients).
    """

    blank_index: int = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[1].shape, specs[1].dtype)

    def compute(self, xp: Any, labels: Any, logits: Any, label_lengths: Any, logit_lengths: Any, upstream: Any, direction: Any) -> Any:
        """By both recursions with their derivatives."""
        found = np.zeros_like(logits)
        for i, example in enumerate(_examples(self, labels, logits, label_lengths, logit_lengths)):
            along = direction[i, :len(example.log_p), example.states].T
            example.add_to(found[i], -upstream[i] * example.posterior_slope(along))
        return found


def _examples(op: CtcLoss | CtcSlope | CtcCurvature, labels: Array, logits: Array, label_lengths: Array,
              logit_lengths: Array) -> list[_Example]:
    """The sequences of a batch; ShapeError for a class or length out of range."""
    time, classes = logits.shape[1:]
    check_lengths(f"{op.id}: label length", label_lengths, labels.shape[1])
    check_lengths(f"{op.id}: logit length", logit_lengths, time)
    check_range(f"{op.id}: blank index", np.asarray(op.blank_index), classes, "a number of classes of")
    read = labels[np.arange(labels.shape[1]) < label_lengths.reshape(-1, 1)]
    check_range(f"{op.id}: label", read, classes, "a number of classes of")
    rows = zip(logits, labels, label_lengths, logit_lengths)
    return [_Example(given[:int(n)], row[:int(k)], op.blank_index) for given, row, k, n in rows]


class _Example:
    """One example; its states are the labels with blanks between and around them."""

    def __init__(self, log_p: Array, labels: Array, blank: int) -> None:
        self.states = np.full(2 * len(labels) + 1, blank)
        self.states[1::2] = labels
        self.log_p = log_p[:, self.states].astype(np.float64)
        skips = np.zeros(len(self.states), bool)
        skips[2:] = (self.states[2:] != blank) & (self.states[2:] != self.states[:-2])
        self.skips = skips

    def _recursion(self, log_p: Array, skips: Array, direction: Array | None = None) -> tuple[Array, Array]:
        """Log-probabilities of all prefixes, and their derivatives when the steps change by ``direction``."""
        found, slope = np.full(log_p.shape, -np.inf), np.zeros(log_p.shape)
        found[0, :2] = log_p[0, :2]
        slope[0, :2] = 0 if direction is None else direction[0, :2]
        for t in range(1, len(log_p)):
            ways = _ways(found[t - 1], skips, -np.inf)
            total = np.logaddexp.reduce(ways)
            found[t] = total + log_p[t]
            if direction is not None:
                shares = np.exp(ways - np.where(np.isfinite(total), total, 0))
                slope[t] = (shares * _ways(slope[t - 1], skips, 0.0)).sum(0) + direction[t]
        return found, slope

    def _both(self, direction: Array | None = None) -> tuple[Array, Array, Array, Array]:
        """The recursion forward and backward: values and derivatives of each."""
        back = np.zeros_like(self.skips)
        back[2:] = self.skips[::-1][:-2]
        flipped = None if direction is None else direction[::-1, ::-1]
        beta, beta_slope = self._recursion(self.log_p[::-1, ::-1], back, flipped)
        return (*self._recursion(self.log_p, self.skips, direction), beta[::-1, ::-1], beta_slope[::-1, ::-1])

    def forward(self) -> tuple[Array, float]:
        """Log-probabilities of all prefixes, and of the whole."""
        if not len(self.log_p):
            return self.log_p, 0.0 if len(self.states) == 1 else -np.inf
        alpha, _ = self._recursion(self.log_p, self.skips)
        return alpha, float(np.logaddexp.reduce(alpha[-1, -2:]))

    def posterior(self) -> Array:
        """Probability of each state at each time, given the labels."""
        if not np.isfinite(total := self.forward()[1]) or not len(self.log_p):
            return np.zeros_like(self.log_p)
        alpha, _, beta, _ = self._both()
        posterior: Array = np.exp(alpha + beta - self.log_p - total)
        return posterior

    def posterior_slope(self, direction: Array) -> Array:
        """Derivative of the posterior when the log-probabilities of the states change by ``direction``."""
        if not np.isfinite(total := self.forward()[1]) or not len(self.log_p):
            return np.zeros_like(self.log_p)
        alpha, alpha_slope, beta, beta_slope = self._both(direction)
        last = np.exp(alpha[-1, -2:] - total)
        slope: Array = np.exp(alpha + beta - self.log_p - total) * (
            alpha_slope + beta_slope - direction - (last * alpha_slope[-1, -2:]).sum())
        return slope

    def add_to(self, classes: Array, by_state: Array) -> None:
        """Add values of states to those of their classes (time, classes)."""
        np.add.at(classes, (np.arange(len(by_state))[:, None], self.states[None, :]), by_state)


def _ways(before: Array, skips: Array, nothing: float) -> Array:
    """Log probabilities of reaching each state: by staying, from the state before, and past a blank."""
    ways = np.full((3, *before.shape), nothing)
    ways[0], ways[1, 1:], ways[2, 2:] = before, before[:-1], np.where(skips[2:], before[:-2], nothing)
    return ways
