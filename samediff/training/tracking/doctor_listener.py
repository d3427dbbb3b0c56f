"""A listener that looks for what goes wrong while a network trains."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import ConfigurationError
from ..listeners.listener import Listener
from ..listeners.listeners import report, score_of
from ..listeners.operation import At, Operation
from .findings import Finding, of_activations, of_gradients

__all__ = ["DoctorListener"]

_RISEN = 10.0           # times the best score so far


class DoctorListener(Listener):
    """Reports dead units, saturated activations, exploding and vanishing gradients and scores that run away, each with what helps.

    Every finding is reported once, to the logger ``dl4py.training`` or standard error, and kept in ``findings``.

    Parameters
    ----------
    frequency : int, default 100
        Look every so many iterations; iterations between run as without it.

    Examples
    --------
    >>> DoctorListener(50).findings
    []
    """

    def __init__(self, frequency: int = 100) -> None:
        if frequency < 1:
            raise ConfigurationError(f"DoctorListener: the frequency must be at least 1, got {frequency}")
        self.frequency = frequency
        self.findings: list[Finding] = []
        self._best = math.inf

    def is_active(self, operation: Operation) -> bool:
        return operation is Operation.TRAINING

    def hears(self, hook: str, iteration: int) -> bool:
        return iteration % self.frequency == 0 or hook not in ("on_forward_pass", "on_gradient_calculation")

    def on_forward_pass(self, model: Any, activations: Any) -> None:
        if self.hears("on_forward_pass", int(model.get_iteration_count())):
            self._note(of_hidden_layers(model, activations))

    def on_gradient_calculation(self, model: Any) -> None:
        if self.hears("on_gradient_calculation", int(model.get_iteration_count())):
            rows = max(int(model.batch_size()), 1)
            gradients = {n: np.asarray(g) / rows for n, g in model.gradient().gradient_for_variable().items()}
            self._note(of_gradients(gradients, model.param_table()))

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Any = None) -> None:
        score = score_of(model, loss)
        if not math.isfinite(score) or (self._best < math.inf and score > _RISEN * max(abs(self._best), 1.0)):
            self._note([Finding("score runs away", "training", f"it is {score:.4g} at iteration {at.iteration()}, after {self._best:.4g}",
                                "a lower learning rate (net.find_learning_rate(data) tries some), clipped gradients, normalized data")])
        self._best = min(self._best, score) if math.isfinite(score) else self._best

    def _note(self, found: list[Finding]) -> None:
        known = {(f.kind, f.where) for f in self.findings}
        for finding in found:
            if (finding.kind, finding.where) not in known:
                self.findings.append(finding)
                report(str(finding))


def of_hidden_layers(network: Any, activations: Any) -> list[Finding]:
    """Findings in the activations before the outputs: a list that begins with the input, or a dictionary for a graph."""
    members = [m for m in network.structure.members if m.key not in network.structure.outputs]
    arrays = [activations[m.key] for m in members] if isinstance(activations, dict) else activations[1:]
    return [finding for m, array in zip(members, arrays) for finding in of_activations(m.label, array, activation_of(m.conf))]


def activation_of(conf: Any) -> str:
    """The name of a layer's activation function, in lower-case letters.

    Examples
    --------
    >>> from dl4py.layers import DenseLayer
    >>> activation_of(DenseLayer(n_in=2, n_out=2, activation="relu"))
    'relu'
    """
    found = getattr(conf, "activation", None)
    return "" if found is None else type(found).__name__.lower().removeprefix("activation").removesuffix("activation")
