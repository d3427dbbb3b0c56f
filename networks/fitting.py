"""The training loop of networks: batches, epochs, truncated back-propagation, listeners."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..samediff.data import DataSet, MultiDataSet
from ..samediff.data.iterator import BatchIterator
from ..samediff.errors import ConfigurationError, GraphError, ShapeError
from ..samediff.training.listener import At, Listener, Listeners, Operation
from .batch import Batch
from .batch_checks import time_axis
from .network import Network
from .optimizers import Optimizer, optimizer_for
from .straight_fit import StraightFit
from .structure import Solver


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
        epochs, batch_size = options.pop("epochs", 1), options.pop("batch_size", None)
        self._checks_finite = bool(options.pop("check_finite", False))
        first: Any = args[0] if args else None
        if _is_iterator(first):
            return self._fit_epochs(first, _positive("epochs", args[1] if len(args) > 1 else epochs))
        _positive("epochs", epochs)
        _positive("batch_size", 1 if batch_size is None else batch_size)
        batch = self._batch_of(first) if isinstance(first, (DataSet, MultiDataSet)) else self._batch_from(*args, **options)
        if batch_size is None and epochs == 1:
            self._heard(lambda hear: self._fit_batch(batch, hear))
            return self
        pieces = _Sliced(batch, batch_size or batch.size)
        return self._fit_epochs(pieces, epochs)

    def _time_axis(self) -> int:
        return time_axis(self.engine.structure)

    def _batch_from(self, *args: Any, **options: Any) -> Batch:
        raise NotImplementedError

    def _fit_epochs(self, batches: Iterable[Any], epochs: int) -> Any:
        if epochs > 1 and hasattr(batches, "reset_supported") and not batches.reset_supported():
            raise GraphError(f"{type(batches).__name__} cannot be reset, so only one epoch is possible; {epochs} were asked for")

        if epochs > 1 and isinstance(batches, Iterator):
            raise GraphError(f"{epochs} epochs need data that can be gone through again; a {type(batches).__name__} can be read once")

        def run(hear: Listeners) -> None:
            straight = StraightFit.of(self)
            for _ in range(epochs):
                hear.epoch_start(self, self._at())
                source = self._timed(batches)
                if straight is not None:
                    stay = isinstance(batches, (list, tuple, _Sliced)) or getattr(batches, "batches_stay", False)
                    source = straight.through(batches if isinstance(batches, (list, tuple)) else source, stay)
                for data in source:
                    if not isinstance(data, (Batch, DataSet, MultiDataSet)):
                        raise GraphError(f"the data to fit gives a {type(data).__name__}; expected data sets")
                    self._fit_batch(data if isinstance(data, Batch) else self._batch_of(data), hear)
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

    def _timed(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches; notes how long each took to come."""
        source = batches.rest() if isinstance(batches, BatchIterator) else iter(batches)
        while True:
            began = time.perf_counter()
            try:
                data = next(source)
            except StopIteration:
                return
            self._etl_time = round(1000 * (time.perf_counter() - began))
            yield data

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
        with self.engine.placed():
            run(self._hears[1])

    def _at(self) -> At:
        return At(self.engine.epoch, self.engine.iteration, Operation.TRAINING)

    def _in_pieces(self, batch: Batch) -> bool:
        """Whether truncated back-propagation cuts a batch into pieces of time."""
        return self._tbptt() is not None and any(x.ndim >= 3 for x in batch.inputs)

    def _pieces_of(self, batch: Batch) -> list[Batch]:
        """The pieces of time that a batch is fitted in; the batch itself where it is not cut."""
        length = self._tbptt()
        return list(_pieces(batch, length, self._time_axis())) if length is not None and self._in_pieces(batch) else [batch]

    def _fit_batch(self, batch: Batch, hear: Listeners) -> None:
        if not self._in_pieces(batch):
            self._fit_piece(batch, None, hear)
            return
        states: dict[str, Any] = {}
        pieces = self._pieces_of(batch)
        try:
            for piece in pieces:
                self._inside_batch = piece is not pieces[-1]
                states = self._fit_piece(piece, states, hear)
        finally:
            self._inside_batch = False

    def _fit_piece(self, batch: Batch, states: dict[str, Any] | None, hear: Listeners) -> dict[str, Any]:
        """One optimizer step."""
        engine = self.engine
        if not batch.size:
            raise ShapeError("a batch without examples cannot be fitted; the first input has shape "
                             f"{batch.inputs[0].shape}, its first axis is that of the examples")
        if not engine.slots:          # nothing to train; DL4J does nothing either
            return {}
        with engine.lock:
            self._last_batch_size = batch.rows
            if hear.wants("iteration_start"):
                hear.call("iteration_start", self, self._at(), None, self._etl_time)
            if hear.wants("on_forward_pass"):
                hear.call("on_forward_pass", self, self._activations_for_listeners(batch))
            after = self.get_optimizer().step(batch, states, hear)
            done = self._at() if hear else None
            engine.iteration += 1
            if done is not None:
                hear.iteration_done(self, done, None, None)
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


def _is_iterator(data: Any) -> bool:
    if isinstance(data, (DataSet, MultiDataSet)) or hasattr(data, "__array__"):
        return False
    if isinstance(data, (list, tuple)):
        return bool(data) and isinstance(data[0], (DataSet, MultiDataSet))
    return hasattr(data, "has_next") or isinstance(data, Iterator)


def _positive(what: str, number: Any) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__") or number < 1:
        raise ConfigurationError(f"{what} must be a whole number above 0; got {number!r}")
    return int(number)
