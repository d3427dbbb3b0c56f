"""The loop of ``fit``: epochs, steps, losses, validation, listeners."""
from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.given.sources import InBatch, numbered
from ..errors import NumericalError, ShapeError
from ..executor.session import check_finite, checked_feeds, request_for, run
from ..ir.run_context import RunContext
from .batches import Batch, Source, as_batch
from .history import History, Loss, LossCurve, metrics_of
from .history_listener import HistoryListener
from .listeners.calls import Listeners
from .listeners.hooks import notify_ops, wanted_variables
from .listeners.listener import Listener
from .listeners.operation import At, Operation
from .progress import epoch_line, warn_of_nan, with_bar
from .steps.graph_parameters import TrainingSession
from .steps.transaction import Transaction
from .trainable import Trainable


class FitLoop:
    """The state of one call of ``fit``."""

    def __init__(self, sd: Trainable, session: TrainingSession, listeners: Sequence[Listener], finite: bool) -> None:
        self.sd, self.finite, self._all = sd, finite, listeners
        self.config = session.config
        self.listeners = Listeners(listeners, Operation.TRAINING)
        self._follow(session)
        self._stop = False
        self._last: Loss | None = None

    def score(self) -> float:
        """The losses and penalties of the last step, added up."""
        return 0.0 if self._last is None else float(np.sum(self._last.loss_values()))

    def _follow(self, session: TrainingSession) -> None:
        self.session, self.config = session, session.config
        extra = wanted_variables(self.sd, self.listeners, Operation.TRAINING, session.losses)
        self.outputs = list(dict.fromkeys([*session.losses, *extra]))
        self._tells = bool(extra)

    # One step

    def at(self) -> At:
        """The current epoch and iteration, for listeners."""
        return At(self.config.epoch_count, self.config.iteration_count, Operation.TRAINING)

    def step(self, item: Any, etl_ms: int = 0) -> Loss:
        """One optimizer step: forward, backward, update, count."""
        batch = as_batch(self.sd, item, self.config)
        if any(0 in getattr(batch.feeds.get(name), "shape", ())[:1] for name in self.config.data_set_feature_mapping or ()):
            raise ShapeError("a batch without examples cannot be fitted; the first axis of the features is that of the examples")
        at = self.at()
        if self.listeners.wants("iteration_start"):
            self.listeners.call("iteration_start", self.sd, at, batch.data, etl_ms)
        if self.session.version != self.sd.version:         # another thread or a listener has changed the graph
            with self.sd.gate:
                self._follow(self.sd.training_session())
        step = self.session.step
        step.outputs = tuple(self.outputs)
        with step.lock:
            loss = self._compiled(batch, at) or self._one_by_one(batch, at)
        self._last = loss
        if self.listeners.wants("iteration_done"):
            self.listeners.iteration_done(self.sd, at, batch.data, loss)
        return loss

    def _compiled(self, batch: Batch, at: At) -> Loss | None:
        """Take gradients and update in one call, where no listener needs anything between them; None where that is not possible."""
        if self.finite or self._tells or self.listeners.wants("pre_update", at.iteration()):
            return None
        scores = self.session.penalty_scores()
        results = self.session.step.run_compiled(batch.feeds, at.iteration(), at.epoch(), self.sd.seed, self.config.counter)
        if results is None:
            return None
        return self._loss(dict(zip(self.outputs, results)), scores)

    def _one_by_one(self, batch: Batch, at: At) -> Loss:
        """Take a step in parts: gradients, checks and listeners, then the update."""
        context = RunContext(True, self.sd.seed, at.iteration())
        values = dict(zip(self.outputs, self.session.step.compute(batch.feeds, context)))
        loss = self._loss(values, self.session.penalty_scores())
        if self.finite:
            self._check_finite(batch, loss, context)
        if self._tells:
            notify_ops(self.sd, self.listeners, at, batch.data, batch.feeds, values)
        if not self.listeners.wants("pre_update", at.iteration()):
            self.session.step.update(at.iteration(), at.epoch(), counter=self.config.counter)
            return loss
        self._update(at)
        return loss

    def _loss(self, values: dict[str, Any], scores: dict[str, float]) -> Loss:
        found = [values[n] for n in self.session.losses]
        data = [v.item() if not v.ndim else float(np.sum(v, dtype=np.float64)) for v in found]
        return Loss([*self.session.losses, *scores], [*data, *scores.values()])

    def _update(self, at: At) -> None:
        """Listeners hear of updates before these are made, while no lock of the parameters is held: they may wait for who saves them."""
        params, trained = self.session.params, self.session.params.trained
        sign = 1 if self.config.minimize else -1
        change = Transaction(params.vectors())
        with params.gate, change:
            old = {n: a.copy() for n, a in params.arrays.items() if n in trained}
            self.session.step.update(at.iteration(), at.epoch())
            new, after = {n: params.arrays[n].copy() for n in old}, [a.copy() for a in params.vectors()]
            change.take_back()
        updates = {n: sign * (old[n] - new[n]) for n in old}
        given = {n: u.copy() for n, u in updates.items()}
        for name, update in updates.items():
            self.listeners.call("pre_update", self.sd, at, self.sd.variable(name), update)
        with params.gate, Transaction(params.vectors(), self.config.counter):
            now = {n: params.arrays[n].copy() for n in old}
            for array, value in zip(params.vectors(), after):
                array[...] = value
            for name, update in updates.items():
                if not (_equal(update, given[name]) and _equal(now[name], old[name])):      # changed by a listener, or set meanwhile
                    params.arrays[name][...] = now[name] - sign * update
            self.config.increment_iteration_count()

    def _check_finite(self, batch: Batch, loss: Loss, context: RunContext) -> None:
        params = self.session.params
        vectors = [flat.gradients for used, flat in params.groups if used]
        if np.isfinite(loss.loss_values()).all() and all(np.isfinite(v).all() for v in vectors):
            return
        graph = self.session.graph
        check_finite({n: params.arrays[n] for n in params.arrays}, list(params.arrays))
        targets = [*self.session.losses, *self.session.step.pinned]
        order = [n for node in request_for(graph, targets, True).nodes for n in node.outputs]
        feeds = checked_feeds(graph, batch.feeds)
        check_finite(feeds, list(feeds))
        check_finite(run(graph, feeds, order, context), order)
        raise NumericalError("the loss or a gradient holds NaN or infinity")

    # Epochs

    def single(self, item: Any) -> History:
        """Train for one iteration; the epoch counter does not change."""
        self.listeners.call("operation_start", self.sd, Operation.TRAINING)
        start = _now()
        loss = self.step(item)
        self.listeners.call("operation_end", self.sd, Operation.TRAINING)
        return History(loss=LossCurve([loss]), training_time_millis=_now() - start)

    def run(self, source: Source, epochs: int, validation: Source | None, frequency: int, verbose: HistoryListener | None = None) -> None:
        """Train for all epochs, or until a listener stops; ``verbose`` is one of the listeners, whose metrics are shown."""
        self.listeners.call("operation_start", self.sd, Operation.TRAINING)
        curve = LossCurve()
        with self.sd.going_through(source.data):
            for number in range(1, epochs + 1):
                title, began = f"epoch {number}/{epochs}", time.perf_counter()
                curve = self._epoch(source, curve, None if verbose is None else title)
                if validation is not None and (number - 1) % frequency == 0:
                    self._validate(validation)
                if verbose is not None:
                    shown = {"loss": float(np.sum(curve.losses()[-1].loss_values())), **metrics_of(verbose.get_report())}
                    epoch_line(title, shown, time.perf_counter() - began, epochs - number)
                warn_of_nan(number, [float(np.sum(loss.loss_values())) for loss in curve.losses()[-2:]])
                if self._stop:
                    break
        self.listeners.call("operation_end", self.sd, Operation.TRAINING)

    def _epoch(self, source: Source, curve: LossCurve, title: str | None) -> LossCurve:
        start = _now()
        at = self.at()
        self.listeners.epoch_start(self.sd, at)
        losses: list[Loss] = []
        fetched = _now()
        batches = iter(source) if title is None else with_bar(iter(source), title, source.data, self.score)
        for number, item in numbered(batches, "train on"):
            with InBatch(number):
                losses.append(self.step(item, _now() - fetched))
            fetched = _now()
        source.rewind()
        curve = curve.add_loss_and_copy(Loss.average(losses))
        end = At(at.epoch(), self.config.iteration_count - 1, Operation.TRAINING)
        self.config.increment_epoch_count()
        self._stop = self.listeners.epoch_end(self.sd, end, curve, _now() - start)
        return curve

    def _validate(self, source: Source) -> None:
        start = _now()
        evaluate(self.sd, source, self._all, Operation.TRAINING_VALIDATION)
        source.rewind()
        at = At(self.config.epoch_count - 1, self.config.iteration_count - 1, Operation.TRAINING)
        self._stop = self.listeners.validation_done(self.sd, at, _now() - start) or self._stop


def evaluate(sd: Trainable, source: Source, members: Sequence[Listener], operation: Operation,
             *names: str) -> list[tuple[Any, dict[str, Any]]]:
    """Forward runs over all batches, with the hooks of listeners; each batch with the values of ``names``."""
    config = sd.checked_config(training=False, outputs=names)
    listeners = Listeners(members, operation)
    wanted = list(dict.fromkeys([*names, *wanted_variables(sd, listeners, operation, names)]))
    listeners.call("operation_start", sd, operation)
    results = []
    for number, item in numbered(source, "compute" if operation is Operation.INFERENCE else "evaluate"):
        with InBatch(number):
            batch = as_batch(sd, item, config, labels_needed=False)
            at = At(0, number, operation)
            listeners.call("iteration_start", sd, at, batch.data, 0)
            values = sd.compute(batch.feeds, wanted) if wanted else {}
            notify_ops(sd, listeners, at, batch.data, batch.feeds, values)
            listeners.iteration_done(sd, at, batch.data, None)
            results.append((batch.data, {n: values[n] for n in names}))
    listeners.call("operation_end", sd, operation)
    return results


def _equal(a: Any, b: Any) -> bool:
    return np.array_equal(a, b, equal_nan=True)


def _now() -> int:
    return int(time.perf_counter() * 1000)
