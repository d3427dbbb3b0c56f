"""Graphs with gradients, made of a network's graph."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...samediff.errors import GradientError, GraphError
from ...samediff.families.gradient import gradients
from ...samediff.graph.graph import SameDiff
from ...samediff.training.steps.step import TrainingStep
from ..structure.structure import Structure
from .build import NetworkGraph, epsilon_name, input_name
from .parameters import Parameters


@dataclass(frozen=True)
class InputGradients:
    """The graph with the gradients of the inputs, and their names: None where the loss does not depend on an input."""

    sd: SameDiff
    names: tuple[str | None, ...]


@dataclass(frozen=True)
class Backward:
    """A step with external errors at some outputs, and the gradients of the inputs."""

    step: TrainingStep
    made: NetworkGraph
    below: tuple[str | None, ...]


def training_step(made: NetworkGraph, parameters: Parameters) -> TrainingStep:
    """Forward and backward of a graph with a loss, then the update."""
    fork, trained, structure = made.sd.fork(), parameters.trained(), parameters.structure
    found = gradients(fork, [fork.variable(n) for n in made.losses], [fork.variable(s.name) for s in trained])
    names = {n: g.name() for n, g in found.items() if g is not None}
    if not names and trained:
        raise GradientError("the loss depends on none of the parameters of the network")
    reached = structure.trained()           # below a frozen layer statistics stay as well
    still = {s.name for s, (m, _) in zip(parameters.slots, parameters.owners) if m.key not in reached}
    names.update((n, step) for n, step in made.statistic_updates.items() if n not in still)
    return TrainingStep(fork, names, parameters.flat, [*made.losses, *made.states.values()], structure.descends)


def input_gradients(made: NetworkGraph, inputs: int) -> InputGradients:
    """The gradient of the summed loss for each input."""
    fork, names = made.sd.fork(), [input_name(i) for i in range(inputs)]
    found = gradients(fork, [fork.variable(n) for n in made.losses], [fork.variable(n) for n in names])
    return InputGradients(fork, tuple(None if (g := found[n]) is None else g.name() for n in names))


def backward(made: NetworkGraph, parameters: Parameters, structure: Structure, epsilons: Sequence[Any]) -> Backward:
    """Gradients given those of the outputs of the structure, which may be a part of the network; None takes the loss of an output."""
    fork = made.sd.fork()
    losses = [fork.variable(n) for n in made.losses]
    for i, (name, e) in enumerate(zip(structure.outputs, epsilons)):
        if e is not None:
            external = fork.placeholder(epsilon_name(i), structure.dtype, *[-1] * e.ndim)
            losses.append((fork.variable(made.activations[name]) * external).sum())
    if not losses:
        raise GraphError("nothing to propagate: give gradients of outputs, or set labels")
    names = [input_name(i) for i in range(len(structure.inputs))]
    own = [s.name for s in parameters.trained() if fork.has_variable(s.name)]       # of a layer alone: its own
    found = gradients(fork, losses, [fork.variable(n) for n in (*own, *names)])
    named = {n: None if g is None else g.name() for n, g in found.items()}
    below = tuple(named.pop(n) for n in names)
    slopes = {n: g for n, g in named.items() if g is not None}
    step = TrainingStep(fork, slopes | made.statistic_updates, parameters.flat, [n for n in below if n])
    return Backward(step, made, below)
