"""Back-propagation of gradients that come from outside of the network."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...samediff.errors import GraphError, ShapeError
from ...samediff.expressions.arrays import as_array
from ...samediff.families.gradient import gradients
from ...samediff.training.steps.step import FlatParameters, TrainingStep
from ..engine.batch import Batch
from ..engine.build import NetworkGraph, Variant, input_name
from ..engine.gradient import Gradient
from .network import Network


@dataclass
class _Backward:
    """The gradient graph of a variant with external errors at some outputs."""

    step: TrainingStep
    made: NetworkGraph
    below: list[str | None]         # gradient of each input, None where nothing depends on it


class ExternalErrors(Network):
    """The part of a network that takes gradients of its outputs instead of labels."""

    def __init__(self, configuration: Any) -> None:
        super().__init__(configuration)
        self._backwards: dict[tuple[Variant, tuple[int, ...]], _Backward] = {}
        self._backwards_of: FlatParameters | None = None

    def _backprop(self, epsilons: Sequence[Any]) -> tuple[Gradient, list[Any]]:
        """Gradients of the parameters and of the inputs that were set, given those of the outputs (None: by the labels that were set)."""
        engine, outputs = self.engine, self.engine.structure.outputs
        if self._batch is None:
            raise GraphError("backprop_gradient works on the input that was set; call set_input or set_inputs first")
        if len(epsilons) == len(outputs) + 1 and epsilons[-1] is None:      # DL4J's workspace manager
            epsilons = epsilons[:-1]
        if len(epsilons) != len(outputs):
            raise GraphError(f"backprop_gradient needs a gradient for each output ({', '.join(outputs)}), {len(epsilons)} were given")
        given = [None if e is None else as_array(e).astype(engine.structure.dtype.numpy, copy=False) for e in epsilons]
        labels = self._batch.labels or [None] * len(outputs)
        batch = Batch(self._batch.inputs, [y if e is None else None for e, y in zip(given, labels)], *self._masks)
        with engine.lock:
            back = self._backward(batch, given)
            back.step.clear_others()
            engine.computed = back.step.names
            feeds = engine.feeds(batch, back.made) | {_epsilon(i): e for i, e in enumerate(given) if e is not None}
            found = dict(zip([n for n in back.below if n], back.step.compute(feeds, engine.context(True))))
            self._last_batch_size = batch.size
            below = [np.zeros(x.shape, engine.structure.dtype.numpy) if n is None else found[n] for n, x in zip(back.below, batch.inputs)]
            arrays = {n: a for n, a in engine.flat.gradient_arrays.items() if n in back.step.names}
            return Gradient(engine.flat.gradients, arrays, below), below

    def _backward(self, batch: Batch, epsilons: Sequence[Any]) -> _Backward:
        engine = self.engine
        if self._backwards_of is not engine.flat:
            self._backwards, self._backwards_of = {}, engine.flat
        variant = engine.variant(batch)
        made = engine.graph(variant)
        for name, e in zip(engine.structure.outputs, epsilons):
            if e is not None:
                _check_shape(name, e, made.sd.variable(made.activations[name]).get_shape(), batch.size)
        key = variant, tuple(-1 if e is None else e.ndim for e in epsilons)
        if key not in self._backwards:
            self._backwards[key] = self._build(made, batch, epsilons)
        return self._backwards[key]

    def _build(self, made: NetworkGraph, batch: Batch, epsilons: Sequence[Any]) -> _Backward:
        engine, fork = self.engine, made.sd.fork()
        losses = [fork.variable(n) for n in made.losses]
        for i, (name, e) in enumerate(zip(engine.structure.outputs, epsilons)):
            if e is not None:
                external = fork.placeholder(_epsilon(i), engine.structure.dtype, *[-1] * e.ndim)
                losses.append((fork.variable(made.activations[name]) * external).sum())
        if not losses:
            raise GraphError("nothing to propagate: give gradients of outputs, or set labels")
        inputs = [input_name(i) for i in range(len(batch.inputs))]
        found = gradients(fork, losses, [fork.variable(n) for n in (*[s.name for s in engine.trained()], *inputs)])
        named = {n: None if g is None else g.name() for n, g in found.items()}
        below = [named.pop(n) for n in inputs]
        step = TrainingStep(fork, {n: g for n, g in named.items() if g is not None} | made.moves, engine.flat, [n for n in below if n])
        return _Backward(step, made, below)


def _epsilon(i: int) -> str:
    return f"epsilon_{i}"


def _check_shape(output: str, epsilon: Any, shape: Sequence[int] | None, batch_size: int) -> None:
    wanted = None if shape is None else (batch_size, *shape[1:])
    if wanted is not None and (epsilon.ndim != len(wanted) or any(w not in (-1, g) for w, g in zip(wanted, epsilon.shape))):
        raise ShapeError(f"the gradient of output {output!r} must have the shape of its activations {tuple(wanted)} (-1: any), "
                         f"got {epsilon.shape}")
