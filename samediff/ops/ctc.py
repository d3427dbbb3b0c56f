"""Connectionist temporal classification."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataTypeError, ShapeError
from ..files.file_args import FileArgs
from ..op import Op, Specs, op, require_floating
from ..spec import TensorSpec

if TYPE_CHECKING:
    from ..variable import SDVariable

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
        """One value per example."""
        labels, logits, *lengths = specs
        require_floating(self.id, logits)
        for spec in (labels, *lengths):
            if not spec.dtype.is_integer:
                raise DataTypeError(f"labels and lengths must be integers, got {spec.dtype.name}")
        if labels.rank not in (None, 2) or logits.rank not in (None, 3):
            raise ShapeError("expected labels (batch, length) and log-probabilities (batch, time, classes), "
                             f"got {labels.shape} and {logits.shape}")
        return TensorSpec(None if logits.shape is None else logits.shape[:1], logits.dtype)

    def compute(self, xp: Any, labels: Any, logits: Any, label_lengths: Any, logit_lengths: Any) -> Any:
        """By the forward recursion."""
        examples = [_Example(logits[i, :int(logit_lengths[i])], labels[i, :int(label_lengths[i])], self.blank_index)
                    for i in range(len(logits))]
        return np.array([-e.forward()[1] for e in examples], logits.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Minus the probability of each class at each time, given the labels."""
        return [None, inputs[0].sd.add_op(CtcSlope(self.blank_index), [*inputs, output_grads[0]]), None, None]


@op("ctc_slope", inputs="target_labels logit_input target_label_lengths logit_input_lengths upstream", gradient="none")
class CtcSlope(Op):
    """Gradient of the CTC loss for the log-probabilities (made by gradients)."""

    blank_index: int = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        """As the log-probabilities."""
        return TensorSpec(specs[1].shape, specs[1].dtype)

    def compute(self, xp: Any, labels: Any, logits: Any, label_lengths: Any, logit_lengths: Any, upstream: Any) -> Any:
        """By the forward and the backward recursion."""
        slope = np.zeros_like(logits)
        for i, given in enumerate(logits):
            time = int(logit_lengths[i])
            example = _Example(given[:time], labels[i, :int(label_lengths[i])], self.blank_index)
            np.add.at(slope[i], (np.arange(time)[:, None], example.states[None, :]), -upstream[i] * example.posterior())
        return slope


class _Example:
    """One sequence: states are the labels with blanks around them."""

    def __init__(self, log_p: Array, labels: Array, blank: int) -> None:
        classes = log_p.shape[-1]
        if labels.size and (labels.min() < 0 or labels.max() >= classes):
            raise ShapeError(f"labels {labels.tolist()} must lie between 0 and {classes - 1}")
        self.states = np.full(2 * len(labels) + 1, blank)
        self.states[1::2] = labels
        self.log_p = log_p[:, self.states].astype(np.float64)
        skips = np.zeros(len(self.states), bool)
        skips[2:] = (self.states[2:] != blank) & (self.states[2:] != self.states[:-2])
        self.skips = skips

    def _recursion(self, log_p: Array, skips: Array) -> Array:
        found = np.full(log_p.shape, -np.inf)
        found[0, :2] = log_p[0, :2]
        for t in range(1, len(log_p)):
            before = found[t - 1]
            stay, step, skip = before, np.full_like(before, -np.inf), np.full_like(before, -np.inf)
            step[1:] = before[:-1]
            skip[2:] = np.where(skips[2:], before[:-2], -np.inf)
            found[t] = np.logaddexp(np.logaddexp(stay, step), skip) + log_p[t]
        return found

    def forward(self) -> tuple[Array, float]:
        """Log-probabilities of all prefixes, and of the whole."""
        if not len(self.log_p):
            return self.log_p, 0.0 if len(self.states) == 1 else -np.inf
        alpha = self._recursion(self.log_p, self.skips)
        return alpha, float(np.logaddexp.reduce(alpha[-1, -2:]))

    def posterior(self) -> Array:
        """Probability of each state at each time, given the labels."""
        alpha, total = self.forward()
        if not len(self.log_p) or not np.isfinite(total):
            return np.zeros_like(self.log_p)
        back = np.zeros_like(self.skips)
        back[2:] = self.skips[::-1][:-2]
        beta = self._recursion(self.log_p[::-1, ::-1], back)[::-1, ::-1]
        posterior: Array = np.exp(alpha + beta - self.log_p - total)
        return posterior
