"""The training loop of networks: batches, epochs, truncated back-propagation, listeners."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...samediff.data import DataSet, MultiDataSet
from ...samediff.data.iterators.iterator import BatchIterator
from ...samediff.errors import ConfigurationError, GraphError, ShapeError, did_you_mean
from ...samediff.executor.session import uses_reference
from ...samediff.training.listeners.listener import At, Listener, Listeners, Operation
from ..engine.batch import Batch
from ..engine.batch_checks import time_axis
from ..engine.given_data import gives_batches, is_whole, no_batch
from ..engine.placement import placed
from ..optimizers import Optimizer, StochasticGradientDescent, optimizer_for
from ..structure.structure import Solver
from .network import Network
from .straight_fit import StraightFit

#: What ``fit`` takes besides data.
OPTIONS = ("epochs", "batch_size", "check_finite")


class Fitting(Network):
    """The part of a network that trains it."""

    def __init__(self, configuration: Any) -> None:
        super().__init__(configuration)
        self._optimizer: tuple[Solver, Optimizer] | None = None
        self._etl_time = 0
        self._hears: tuple[list[Listener], Listeners] | None = None

    def _tbptt(self) -> int | None:
        """Length of the pieces of truncated back-propagation, None for whole series."""
        return None

    def fit(self, *args: Any, **options: Any) -> Any:
        """Train.

        ``fit(data_set)``, ``fit(x, y[, features_mask, labels_mask])`` make one step;
        ``fit(iterator[, epochs])`` and ``fit(x, y, batch_size=32, epochs=5)`` go through all batches, ``epochs`` times.
        ``check_finite=True`` looks for NaN and infinity in every step.

        Returns
        -------
        the network itself

        Raises
        ------
        ShapeError
            Inputs, labels or masks that do not fit; parameters are then as after the last whole step.
        NumericalError
            With ``check_finite``: names the first of data, parameters, activations, losses and gradients that is not finite.
        """
        given, batch_size, checks_finite = [options.pop(name, None) for name in OPTIONS] if options else (None, None, None)
        first: Any = args[0] if args else None
        if isinstance(first, (list, tuple)) and not first:
            raise ShapeError(f"a batch without examples cannot be fitted; got an empty {type(first).__name__}")
        whole = isinstance(first, (DataSet, MultiDataSet)) or (len(args) == 1 and is_whole(first))
        several = not whole and gives_batches(first)
        if whole or several:
            self._nothing_else(args, options, several, given, batch_size)
        epochs = _positive("epochs", args[1] if several and len(args) > 1 else 1 if given is None else given)
        _positive("batch_size", 1 if batch_size is None else batch_size)
        self._checks_finite = bool(checks_finite)
        if several:
            return self._fit_epochs(first, epochs)
        batch = self._batch_in(first, "fit") if whole else self._batch_from(*args, **options)
        if not batch.size or (batch_size is None and epochs == 1):
            self._heard(lambda hear: self._fit_batch(batch, hear))
            return self
        pieces = _Sliced(batch, batch_size or batch.size)
        return self._fit_epochs(pieces, epochs)

    def _time_axis(self) -> int:
        return time_axis(self.engine.structure)

    @staticmethod
    def _nothing_else(args: tuple[Any, ...], options: dict[str, Any], several: bool, epochs: Any, batch_size: Any) -> None:
        """GraphError for what has no meaning beside a data set or an iterator."""
        form = "fit(iterator, epochs)" if several else "fit(data_set, epochs=…)"
        if options:
            raise GraphError(f"{form} takes no {', '.join(options)}; options: {', '.join(OPTIONS)}"
                             f"{did_you_mean(next(iter(options)), OPTIONS)}")
        if len(args) > 1 + several:
            raise GraphError(f"{form} takes no further argument; got {len(args)} arguments")
        if len(args) > 1 and epochs is not None:
            raise GraphError(f"the number of epochs is given twice, as {args[1]!r} and as epochs={epochs!r}")
        if several and batch_size is not None:
            raise GraphError("batch_size cuts one data set or arrays into batches; an iterator or list decides on its batches itself")

    def _fit_epochs(self, batches: Iterable[Any], epochs: int) -> Any:
        if epochs > 1 and hasattr(batches, "reset_supported") and not batches.reset_supported():
            raise GraphError(f"{type(batches).__name__} cannot be reset, so only one epoch is possible; {epochs} were asked for")

        if epochs > 1 and isinstance(batches, Iterator):
            raise GraphError(f"{epochs} epochs need data that can be gone through again; a {type(batches).__name__} can be read once")

        def run(hear: Listeners) -> None:
            straight = self._straight()
            for _ in range(epochs):
                hear.epoch_start(self, self._at())
                source = self._timed(batches)
                if straight is not None:
                    stay = isinstance(batches, (list, tuple, _Sliced)) or getattr(batches, "batches_stay", False)
                    source = straight.through(batches if isinstance(batches, (list, tuple)) else source, stay)
                for data in source:
                    self._fit_batch(data if isinstance(data, Batch) else self._batch_in(data, "fit"), hear)
                stop = hear.epoch_end(self, self._at(), None, 0)
                self.engine.epoch += 1
                if stop:
                    break

        self._training_data = batches
        try:
            self._heard(run)
        finally:
            self._training_data = None
        return self

    def _straight(self) -> StraightFit | None:
        """None where steps have to be watched, checked, cut into pieces, or are of another kind."""
        engine = self.engine
        plain = type(self.get_optimizer()) is StochasticGradientDescent and self._tbptt() is None
        if self._checks_finite or self.get_listeners() or not plain or not engine.updates_in_steps or uses_reference():
            return None
        return StraightFit(self, engine)

    def _timed(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches; notes how long each took to come."""
        source = batches.rest() if isinstance(batches, BatchIterator) else iter(batches)
        empty = True
        while True:
            began = time.perf_counter()
            try:
                data = next(source)
            except StopIteration:
                break
            empty = False
            self._etl_time = round(1000 * (time.perf_counter() - began))
            yield data
        if empty:
            raise no_batch("fit")

    def get_last_etl_time(self) -> int:
        """Milliseconds that the last batch of an iterator took to come (ETL: extract, transform, load)."""
        return self._etl_time

    def set_last_etl_time(self, milliseconds: int) -> None:
        """Replace what :meth:`get_last_etl_time` answers, for a loop of one's own around :meth:`fit`."""
        self._etl_time = int(milliseconds)

    def get_optimizer(self) -> Optimizer:
        """What fits the network to a batch, as ``optimization_algo`` of the configuration says."""
        solver = self.engine.structure.solver
        kept = self._optimizer
        if kept is None or (kept[0] is not solver and kept[0] != solver):
            kept = self._optimizer = solver, optimizer_for(self)
        return kept[1]

    def _heard(self, run: Any) -> None:
        if self._hears is None or self._hears[0] != self._listeners:
            self._hears = list(self._listeners), Listeners(self._listeners)
        placed(self.engine, run, self._hears[1])

    def _at(self) -> At:
        return At(self.engine.epoch, self.engine.iteration, Operation.TRAINING)

    def _in_pieces(self, batch: Batch) -> bool:
        """Whether truncated back-propagation cuts a batch into pieces of time."""
        return self._tbptt() is not None and any(x.ndim >= 3 for x in batch.inputs)

    def _pieces_of(self, batch: Batch) -> list[Batch]:
        """The pieces of time that a batch is fitted in; the batch itself where it is not cut."""
        length = self._tbptt()
        return list(_pieces(batch, length, self._time_axis())) if length is not None and self._in_pieces(batch) else [batch]

    def _fit_batch(self, batch: Batch, hear: Listeners, optimizer: Optimizer | None = None) -> None:
        optimizer = optimizer or self.get_optimizer()
        if not self._in_pieces(batch):
            self._fit_piece(batch, None, hear, optimizer)
            return
        states: dict[str, Any] = {}
        pieces = self._pieces_of(batch)
        try:
            for piece in pieces:
                self._inside_batch = piece is not pieces[-1]
                states = self._fit_piece(piece, states, hear, optimizer)
        finally:
            self._inside_batch = False

    def _fit_piece(self, batch: Batch, states: dict[str, Any] | None, hear: Listeners, optimizer: Optimizer) -> dict[str, Any]:
        """One optimizer step."""
        engine = self.engine
        if not batch.size:
            raise ShapeError("a batch without examples cannot be fitted; the first input has shape "
                             f"{batch.inputs[0].shape}, its first axis is that of the examples")
        if not engine.slots:          # nothing to train; DL4J does nothing either
            return {}
        with engine.lock:
            self._last_batch_size = batch.rows
            if hear:
                hear.call("iteration_start", self, self._at(), None, self._etl_time)
                if hear.wants("on_forward_pass"):
                    hear.call("on_forward_pass", self, self._activations_for_listeners(batch))
            done, score = engine.iteration, self._score
            try:
                after = optimizer.step(batch, states, hear)
            except BaseException:
                if engine.iteration == done:        # no step was taken
                    self._score = score
                raise
            if hear:
                hear.iteration_done(self, At(engine.epoch, done, Operation.TRAINING), None, None)
        return after

    def _activations_for_listeners(self, batch: Batch) -> Any:
        raise NotImplementedError


class _Sliced:
    """Batches of consecutive rows."""

    def __init__(self, batch: Batch, size: int) -> None:
        self._batch, self._size = batch, size

    def __iter__(self) -> Iterator[Batch]:
        for start in range(0, self._batch.size, self._size):
            rows = slice(start, start + self._size)
            yield self._batch.map(lambda a: a[rows])  # noqa: B023 - used at once


def _pieces(batch: Batch, length: int, axis: int) -> Iterator[Batch]:
    """Consecutive pieces of time; arrays that are no series, and their masks, are given whole to every piece."""
    steps = {a.shape[axis] for a in (*batch.inputs, *batch.labels) if a is not None and a.ndim == 3}
    if len(steps) != 1:
        raise ShapeError(f"truncated back-propagation needs features and labels of equal length, got lengths {sorted(steps)}")
    total = steps.pop()
    for start in range(0, total, length):
        piece = slice(start, start + length)

        def steps_of(a: Any, piece: slice = piece) -> Any:
            if a.ndim == 2:
                return a[:, piece] if a.shape[1] == total else a        # the mask of a series
            return a[:, piece] if axis == 1 else a[:, :, piece]

        def cut(values: Any, of: Any, steps_of: Callable[[Any], Any] = steps_of) -> list[Any]:
            return [steps_of(a) if a is not None and series.ndim == 3 else a for a, series in zip(values, of)]
        inputs, labels = batch.inputs, batch.labels
        yield Batch(cut(inputs, inputs), cut(labels, labels), cut(batch.features_masks, inputs), cut(batch.labels_masks, labels))


def _positive(what: str, number: Any) -> int:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        raise ConfigurationError(f"{what} must be a whole number above 0; got {number!r}")
    return int(number)
