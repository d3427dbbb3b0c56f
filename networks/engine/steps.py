"""Steps of a network: gradients, the updates of its parameters, and what is known of batches that have the form of an earlier one."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...samediff.base.bounded_cache import BoundedCache
from ...samediff.base.environment import uses_reference
from ...samediff.executor.session import run
from ...samediff.ir.run_context import RunContext
from ...samediff.plans.plan import Plan
from ...samediff.training.steps.step import PlannedStep, TrainingStep
from ...samediff.training.updaters.normalization import Normalization
from ..batches.batch import NetworkBatch
from ..batches.batch_checks import Explained, explain_not_finite
from .build import NetworkGraph, epsilon_name
from .graphs import Graphs
from .placement import Place, in_device_scope
from .progress import Progress


class CachedStep(PlannedStep):
    """A plan and where in a batch its placeholders are.

    Parameters
    ----------
    step, plan, normalization, counter : as in :class:`.PlannedStep`
    places : for each placeholder of the plan which part of a batch, and which array of it
    divisors : by what the losses are divided
    rows : what sums over examples are divided by
    scale : what sums of gradients are multiplied by

    Attributes
    ----------
    most : how many of these to take in one call, at most
    in_order : whether the plan takes features and labels, in this order, and nothing else
    """

    def __init__(self, step: TrainingStep, plan: Plan, places: list[tuple[int, int]], divisors: list[int], rows: int,
                 scale: float, normalization: Normalization | None, counter: Any) -> None:
        super().__init__(step, plan, normalization, counter)
        self.places, self.divisors, self.rows, self.scale = places, divisors, rows, scale
        self.in_order = places == [(0, 0), (1, 0)]

    @property
    def most(self) -> int:
        return 1 if self.compiled is None else self.compiled.most

    @staticmethod
    def places_of(feeds: Mapping[str, Any], plan: Plan, batch: NetworkBatch) -> list[tuple[int, int]] | None:
        """The places in a batch of a plan's placeholders; None where one is not taken from the batch as it is."""
        where = {id(a): (k, i) for k, part in enumerate(batch.parts()) for i, a in enumerate(part) if a is not None}
        found = [where.get(id(feeds[n])) for n in plan.feeds]
        return None if None in found else found  # type: ignore[return-value]

    def feeds(self, batch: NetworkBatch) -> list[Any]:
        """The arrays of a batch in the order of the plan's inputs."""
        parts = batch.parts()
        return [parts[k][i] for k, i in self.places]

    def run(self, batch: NetworkBatch, context: RunContext | None) -> float:
        """The summed losses, divided; the gradients land in the flat vector."""
        return self._total(self.step.run_plan(self.plan, self.feeds(batch), context))

    def run_compiled(self, batches: Sequence[Sequence[Any]], iteration: int, epoch: int, seed: int) -> float:
        """Take compiled steps, with updates, for the feeds of one batch or of several in turn; returns the score of the last."""
        compiled = self.compiled
        assert compiled is not None
        if len(batches) > 1:
            return self._total(compiled.run_many(batches, iteration, epoch, self.scale, seed))
        return self._total(compiled(batches[0], iteration, epoch, self.scale, seed))

    def _total(self, results: Sequence[Any]) -> float:
        total = 0.0
        for value, divisor in zip(results, self.divisors):
            total += value.item() / divisor
        return total


def form_of(x: Any, y: Any) -> Any:
    """Shapes and types of one input and its labels: batches of one form run in the same way."""
    return x.shape, x.dtype.num, y.shape, y.dtype.num


def form_of_batch(batch: NetworkBatch) -> Any:
    """Shapes and types of all arrays of a batch."""
    if batch.features_masks or batch.labels_masks or len(batch.inputs) != 1 or len(batch.labels) != 1:
        return tuple([None if a is None else (a.shape, a.dtype.num) for part in batch.parts() for a in (*part, None)])
    x, y = batch.inputs[0], batch.labels[0]
    return (x.shape, x.dtype.num) if y is None else form_of(x, y)


class Steps:
    """Runs the graphs with gradients, one step at a time.

    Attributes
    ----------
    lock : held for a step
    known : how batches of a form run, by the form
    last : what computed the last gradient
    computed : names of the parameters that have one since then
    """

    def __init__(self, graphs: Graphs, progress: Progress, place: Place, lock: Any) -> None:
        self.graphs, self.progress, self.place, self.lock = graphs, progress, place, lock
        self.parameters, self.structure = graphs.parameters, graphs.structure
        self.rules = self.parameters.rules
        self.known: BoundedCache[Any, CachedStep] = place.forms.table()
        self.last: TrainingStep | None = None
        self.computed = frozenset(s.name for s in self.parameters.slots)

    @in_device_scope
    def gradient(self, batch: NetworkBatch, states: Mapping[str, Any] | None = None,
                 stateful: bool = False) -> tuple[float, dict[str, Any]]:
        """Forward and backward: the score without regularization; the flat gradient then holds sums over examples."""
        with self.lock:         # others may be in the midst of a step
            return self._gradient(batch, states, stateful)

    def _gradient(self, batch: NetworkBatch, states: Mapping[str, Any] | None, stateful: bool) -> tuple[float, dict[str, Any]]:
        plain = states is None and not stateful and not uses_reference()
        form = form_of_batch(batch) if plain else None
        known = self.known.get(form) if plain else None
        if known is not None:
            self.begin(known.step)
            return known.run(batch, self.progress.context(True) if known.plan.needs_rng else None), {}
        step, made = self.graphs.step(batch, stateful)
        self.begin(step)
        feeds = self.graphs.feeds(batch, made, states)
        with Explained(self.structure, batch):
            results = step.compute(feeds, self.progress.context(True))
        if plain:
            self._remember(form, step, made, feeds, batch)
        n = len(made.losses)
        return made.total(results[:n], batch), dict(zip(made.states, results[n:]))

    def _remember(self, form: Any, step: TrainingStep, made: NetworkGraph, feeds: Mapping[str, Any], batch: NetworkBatch) -> None:
        """Note how batches of that form run: the next ones need no checks."""
        plan = step.last_plan
        places = None if plan is None else CachedStep.places_of(feeds, plan, batch)
        if plan is not None and places is not None:
            self.known[form] = CachedStep(step, plan, places, made.divisors(batch), batch.rows, self.rules.scale(batch.rows),
                                         self.rules.normalization, self.progress.counter)

    def begin(self, step: TrainingStep) -> None:
        """Note that a step is what computes the gradients."""
        if not step.is_complete:
            step.clear_others()
        self.computed, self.last = step.names, step

    @property
    def is_compiled(self) -> bool:
        """Whether everything from gradients to new parameters is compiled code."""
        return bool(self.parameters.slots) and self.rules.is_compiled

    def compiled(self, form: Any) -> CachedStep | None:
        """The compiled step for batches of a form; None where it is not made yet, or not possible."""
        known = self.known.get(form)
        return None if known is None or known.compiled is None else known

    def fit_known(self, x: Any, y: Any) -> bool:
        """Take the compiled step for features and labels; whether there is one."""
        known = self.compiled(form_of(x, y))
        if known is None or not known.in_order:
            return False
        self.run_compiled(known, [(x, y)])
        return True

    def run_compiled(self, known: CachedStep, batches: Sequence[Sequence[Any]]) -> None:
        """Compiled steps for the feeds of some batches of a form, one after the other."""
        at = self.progress
        with self.lock:
            self.begin(known.step)
            at.rows, penalty, iteration = known.rows, 0.0, at.counter.item()
            if self.rules.penalizes:        # penalties of the last step belong to the parameters before it
                if len(batches) > 1:
                    known.run_compiled(batches[:-1], iteration, at.epoch, at.seed)
                    batches, iteration = batches[-1:], at.iteration
                penalty = self.penalty()
            at.score = penalty + known.run_compiled(batches, iteration, at.epoch, at.seed)

    @in_device_scope
    def check_finite(self, total: float, batch: NetworkBatch, states: Mapping[str, Any] | None = None, stateful: bool = False) -> None:
        """NumericalError when the loss or a gradient of the last :meth:`gradient` holds NaN or infinity."""
        flat = self.parameters.flat
        if np.isfinite(total) and np.isfinite(flat.gradients).all():
            return
        made = self.graphs.of(batch, stateful)
        keys = [m.key for m in self.structure.members]
        names = [made.activations[k] for k in keys]
        values = run(made.sd, self.graphs.feeds(batch, made, states), [*names, *made.losses], self.progress.context(True))
        explain_not_finite(self.structure, batch, flat, {k: values[n] for k, n in zip(keys, names)}, self.computed)

    @in_device_scope
    def input_gradients(self, batch: NetworkBatch) -> list[Any]:
        """Gradient of the summed loss for each input, in training mode."""
        found, made = self.graphs.input_gradients(batch)
        with Explained(self.structure, batch):
            values = run(found.sd, self.graphs.feeds(batch, made), [n for n in found.names if n], self.progress.context(True))
        return [np.zeros_like(x) if n is None else values[n] for n, x in zip(found.names, batch.inputs)]

    def backward(self, batch: NetworkBatch, epsilons: Sequence[Any]) -> list[Any]:
        """Gradients of the inputs, given those of the outputs (None: by the loss); those of the parameters are in the flat vector."""
        with self.lock:
            step, below = self._backward(self.graphs, batch, epsilons)
            step.clear_others()
            self.computed, self.progress.rows = step.names, batch.size
            return below

    def backward_alone(self, alone: Graphs, batch: NetworkBatch, epsilons: Sequence[Any]) -> list[Any]:
        """The same through one layer; gradients of parameters of other layers stay."""
        with self.lock:
            step, below = self._backward(alone, batch, epsilons)
            self.computed |= step.names
            return below

    def _backward(self, graphs: Graphs, batch: NetworkBatch, epsilons: Sequence[Any]) -> tuple[TrainingStep, list[Any]]:
        back = graphs.backward(batch, epsilons)
        feeds = graphs.feeds(batch, back.made) | {epsilon_name(i): e for i, e in enumerate(epsilons) if e is not None}
        with Explained(graphs.structure, batch):
            found = dict(zip([n for n in back.below if n], back.step.compute(feeds, self.progress.context(True))))
        zeros = self.structure.dtype.numpy
        return back.step, [np.zeros(x.shape, zeros) if n is None else found[n] for n, x in zip(back.below, batch.inputs)]

    @in_device_scope
    def update(self, rows: int, batch: NetworkBatch, stateful: bool = False) -> None:
        """Turn the gradients into new parameters and count the step; if interrupted, neither."""
        step = self.last or self.graphs.step(batch, stateful)[0]
        at = self.progress
        step.update(at.iteration, at.epoch, self.rules.prepare(rows), at.counter, self.rules.constrain if self.rules.constrains else None)

    def penalty(self) -> float:
        """Sum of the penalties of all parameters at the present iteration."""
        return self.rules.penalty(self.progress.iteration, self.progress.epoch)
