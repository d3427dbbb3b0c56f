"""The training loop of networks: batches, epochs, truncated back-propagation, listeners."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from numpy import ndarray

from ...samediff.base.environment import uses_reference
from ...samediff.base.user_code.users_arrays import users_arrays
from ...samediff.data import DataSet
from ...samediff.data.given.parts import no_batch
from ...samediff.data.given.sources import Wrapped, can_repeat, note_batch
from ...samediff.data.iterators.iterator import BatchIterator
from ...samediff.device import devices
from ...samediff.errors import DL4PyError, GraphError, ShapeError
from ...samediff.training.listeners.calls import Listeners
from ...samediff.training.listeners.listener import Listener
from ...samediff.training.listeners.operation import At, Operation
from ..batches.batch import NetworkBatch
from ..batches.given_data import batch_in
from ..engine.engine import Engine
from ..engine.pieces import is_cut, pieces_of
from ..engine.placement import run_on_device
from ..engine.steps import Steps
from ..optimizers import Optimizer, StochasticGradientDescent, optimizer_for
from ..structure.structure import Solver
from .epochs import EpochRecord, Epochs
from .fast_path import FastPath
from .network import Network


class Trainer:
    """Fits a network.

    Attributes
    ----------
    etl_time : milliseconds that the last batch of an iterator took to come
    history : the epochs of the last call of ``fit`` that went through epochs
    """

    def __init__(self, network: Network) -> None:
        self.network, self.etl_time = network, 0
        self.history: list[EpochRecord] = []
        self._optimizer: tuple[Solver, Optimizer] | None = None
        self._plain: tuple[Steps, bool] | None = None
        self._hears: tuple[list[Listener], Listeners] | None = None
        self._taken = 0             # batches of this epoch

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer that the configuration names."""
        solver = self.network.engine.structure.solver
        kept = self._optimizer
        if kept is None or (kept[0] is not solver and kept[0] != solver):
            kept = self._optimizer = solver, optimizer_for(self.network)
        return kept[1]

    def run(self, call: Callable[[Listeners], object]) -> None:
        """Call with the listeners, on the network's device."""
        listeners = self.network.get_listeners()
        if self._hears is None or self._hears[0] != listeners:
            self._hears = listeners, Listeners(listeners)
        run_on_device(self.network.engine.place, call, self._hears[1])

    def fit_epochs(self, batches: Iterable[Any], epochs: int, watch: Epochs | None = None) -> None:
        """Train on batches for so many epochs."""
        watch = watch or Epochs(self.network, epochs)
        if epochs > 1 and not can_repeat(batches):
            given = batches.data if isinstance(batches, Wrapped) else batches
            raise GraphError(f"{type(given).__name__} cannot be reset, so only one epoch is possible; {epochs} were asked for"
                             if hasattr(given, "has_next") else
                             f"{epochs} epochs need data that can be gone through again; a {type(given).__name__} can be read once. Give "
                             "a list of its batches, or the function that makes it")
        self.history = watch.records
        with self.network.going_through(batches):
            self.run(lambda hear: self._epochs(batches, epochs, hear, watch))

    def _epochs(self, batches: Iterable[Any], epochs: int, hear: Listeners, watch: Epochs) -> None:
        network, fast = self.network, FastPath(self.network.engine) if self.takes_compiled_steps() else None
        for _ in range(epochs):
            hear.epoch_start(network, network.engine.progress.at)
            source = watch.begin(self._timed(batches), batches)
            if fast is not None:
                stay = isinstance(batches, (list, tuple)) or getattr(batches, "batches_stay", False)
                source = fast.through(batches if isinstance(batches, (list, tuple)) and not watch.verbose else source, stay)
            for data in source:
                try:
                    self.fit_batch(data if isinstance(data, NetworkBatch) else batch_in(network.structure, data, "fit"), hear)
                except DL4PyError as error:
                    note_batch(error, self._number(batches, data))
                    raise
            at = network.engine.progress.at
            stop = hear.epoch_end(network, at, None, 0) | watch.end(hear, at)
            network.engine.progress.epoch += 1
            if stop:
                break

    def _number(self, batches: Any, data: Any) -> int:
        """The number of a batch in this epoch."""
        if not isinstance(batches, (list, tuple)):
            return self._taken - 1
        return next(k for k, other in enumerate(batches) if other is data)

    def takes_compiled_steps(self) -> bool:
        """Whether compiled steps suffice: no listeners, checks, pieces or other optimizer."""
        engine = self.network.engine
        return not engine.progress.checks_finite and not self.network.get_listeners() and self._is_compiled(engine)

    def _is_compiled(self, engine: Engine) -> bool:
        """Whether the configuration asks for nothing but compiled steps."""
        if uses_reference():
            return False
        kept = self._plain
        if kept is None or kept[0] is not engine.steps:         # another configuration
            plain = type(self.optimizer) is StochasticGradientDescent and engine.structure.piece_length is None
            kept = self._plain = engine.steps, plain and engine.steps.is_compiled
        return kept[1]

    def fit_known(self, engine: Engine, x: Any, y: Any, features_mask: Any, labels_mask: Any) -> bool:
        """The step for features and labels, or a data set, of a form fitted before, without listeners; whether that was possible."""
        engine.progress.checks_finite = False
        if type(x) is DataSet and y is None:
            x, y, features_mask, labels_mask = x.features, x.labels, x.features_mask, x.labels_mask
        if features_mask is not None or labels_mask is not None:
            return False
        if type(x) is not ndarray or type(y) is not ndarray or not self._is_compiled(engine):
            return False
        return run_on_device(engine.place, engine.steps.fit_known, x, y) if devices.active else engine.steps.fit_known(x, y)

    def _timed(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches; notes how long each took to come."""
        source = batches.rest() if isinstance(batches, BatchIterator) else iter(batches)
        self._taken = 0
        while True:
            began = time.perf_counter()
            try:
                data = next(source)
            except StopIteration:
                break
            self._taken += 1
            self.etl_time = round(1000 * (time.perf_counter() - began))
            yield data
        if not self._taken:
            raise no_batch("fit")

    def fit_batch(self, batch: NetworkBatch, hear: Listeners, optimizer: Optimizer | None = None) -> None:
        """The step for a batch, or those for its pieces of time."""
        optimizer = optimizer or self.optimizer
        structure = self.network.engine.structure
        if not is_cut(structure, batch):
            self.fit_piece(batch, None, hear, optimizer)
            return
        pieces = pieces_of(structure, batch)
        self.network.rnn_clear_previous_state()
        states: dict[str, Any] = {}
        for piece in pieces:
            with self.network.inside_batch(piece is not pieces[-1]):
                states = self.fit_piece(piece, states, hear, optimizer)

    def fit_piece(self, batch: NetworkBatch, states: dict[str, Any] | None, hear: Listeners, optimizer: Optimizer) -> dict[str, Any]:
        """Take one optimizer step; returns the recurrent states after it."""
        network, engine = self.network, self.network.engine
        progress = engine.progress
        if not batch.size:
            raise ShapeError("a batch without examples cannot be fitted; the first input has shape "
                             f"{batch.inputs[0].shape}, its first axis is that of the examples")
        if not engine.parameters.slots:          # nothing to train; DL4J does nothing either
            return {}
        with engine.lock:
            progress.rows = batch.rows
            if hear:
                hear.call("iteration_start", network, progress.at, None, self.etl_time)
                if hear.wants("on_forward_pass", progress.iteration):
                    hear.call("on_forward_pass", network, users_arrays(self._activations(batch)))
            done, score = progress.iteration, progress.score
            try:
                after = optimizer.step(batch, states, hear)
            except BaseException:
                if progress.iteration == done:        # no step was taken
                    progress.score = score
                raise
            if hear:
                hear.iteration_done(network, At(progress.epoch, done, Operation.TRAINING), None, None)
        return after

    def _activations(self, batch: NetworkBatch) -> Any:
        """The activations for the listeners of a forward pass: all but those of the output layers, as in DL4J."""
        engine = self.network.engine
        structure = engine.structure
        keys = [m.key for m in structure.members if m.key not in structure.outputs]
        found = engine.forward.activations(batch, keys, True)[0] if keys else []
        return [batch.inputs[0], *found] if structure.is_list else dict(zip((*structure.inputs, *keys), (*batch.inputs, *found)))
