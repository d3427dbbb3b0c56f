"""Training on several batches at once."""
from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, ClassVar, Self

from ...samediff.base.locks import rlock
from ...samediff.base.source_line import user_line
from ...samediff.configuration.builder import Builder
from ...samediff.data import AsyncDataSetIterator, AsyncMultiDataSetIterator, DataSet, DataSetIterator, MultiDataSet
from ...samediff.data.given.parts import no_batch
from ...samediff.data.iterators.iterator import BatchIterator
from ...samediff.errors import ConfigurationError
from ...samediff.training.listeners.has_listeners import HasListeners
from ...samediff.training.listeners.listener import Listener
from ...samediff.training.listeners.listeners import report
from ..batches.batch import NetworkBatch
from ..batches.given_data import batch_in
from ..engine.pieces import pieces_of
from ..models.fitting import NetworkFittingMixin
from ..structure.java_names import ParallelWrapperNames, WrapperBuilderNames
from .all_reduce import BrokenGroupError
from .process_workers import ProcessWorkers
from .replica import Begin, Replica, SharedListeners, Task
from .settings import TrainingMode, WrapperSettings
from .workers import NoWorkerError, ThreadWorkers, Workers


class ParallelWrapper(HasListeners, ParallelWrapperNames):
    """Trains a network on several batches at once (DL4J's ``ParallelWrapper``).

    In every round each worker takes the next batch and fits a copy of the network to it; the first worker's copy is the network
    itself. With ``AVERAGING`` the parameters of those workers that had a batch are replaced by their mean after every
    ``averaging_frequency`` rounds, and so are updater state and score. With ``SHARED_GRADIENTS`` the workers' gradients become
    those of one large batch before each update, so that all copies stay equal; they are exchanged whole (DL4J sends those above
    a threshold).

    Counters of the network count the rounds in which the first worker had a batch; as in DL4J the epoch is not counted and no
    listener hears of it: call ``increment_epoch_count`` of the network between two fits where schedules go by epochs. Listeners of
    the network and of the wrapper hear every worker's iterations, with its copy of the network, one call at a time. Rounds after
    the last averaging count for the first worker only, as in DL4J; the next fit goes on counting rounds.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
        What to train.
    **options
        The settings that follow, by name.
    workers : int, default 2
        With one, training is that of ``network.fit``; so it is where no thread can be started for the others.
    averaging_frequency : int, default 1
        Rounds from one averaging to the next.
    average_updaters : bool, default True
        Whether updater state is averaged too.
    report_score_after_averaging : bool, default False
        Report as listeners do: to the logger ``dl4py.training``, or else to standard error.
    prefetch_buffer : int, default 16
        Batches of an iterator that are read ahead in the background; 0 for none.
    training_mode : TrainingMode, default AVERAGING
        What workers exchange.
    workspace_mode : WorkspaceMode
        Without effect: buffers are planned when a graph is compiled.
    processes : bool, default False
        Workers besides the first are processes rather than threads: worth it where layers or data run much Python code. They start
        anew, so a script needs ``if __name__ == "__main__":`` and classes of layers stand at the top of a module; listeners hear the
        first worker only.
    devices : sequence of str, default none
        Where the workers run, in turn: ``["cuda:0", "cuda:1"]``. GPUs with one thread each exchange by NCCL, others through the
        memory of the host. By default all run where the network does.

    Raises
    ------
    ConfigurationError
        Settings that do not go together, or data that is none.
    DeviceError
        A device that is not there.
    WorkerError
        The process of a worker ended (was killed, say), or cannot start. Errors of workers are raised by :meth:`fit` as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.layers import OutputLayer
    >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration, ParallelWrapper
    >>> from dl4py.samediff import DataSet, ListDataSetIterator
    >>> net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(OutputLayer(n_in=4, n_out=3)).build()).init()
    >>> data = DataSet(np.random.default_rng(0).random((64, 4)), np.eye(3)[np.arange(64) % 3])
    >>> with ParallelWrapper.Builder(net).workers(2).averaging_frequency(3).build() as wrapper:
    ...     wrapper.fit(ListDataSetIterator(data.as_list(), 8))
    >>> net.get_iteration_count(), wrapper.is_was_averaged()
    (4, True)
    """

    Builder: ClassVar[type[WrapperBuilder]]
    TrainingMode = TrainingMode

    def __init__(self, network: NetworkFittingMixin, **options: Any) -> None:
        if not isinstance(network, NetworkFittingMixin):
            raise ConfigurationError(f"expected a MultiLayerNetwork or ComputationGraph, got {type(network).__name__}")
        self._network, self.settings = network, WrapperSettings(**options)
        self._listeners: list[Listener] = []
        self._lock, self._stop, self._closed = rlock(), threading.Event(), threading.Event()
        self._rounds, self._averaged = 0, False
        self._workers: Workers | None = None
        self._replica: Replica | None = None
        self._made_for: tuple[Any, int] = None, 0
        self._end: Callable[[], object] = lambda: None

    def fit(self, data: Any) -> None:
        """Go through the data once, ``workers`` batches at a time: an iterator (from where it stands), or a list of data sets.

        After an error or Ctrl-C the network is as after its last whole step or averaging; the workers are made anew by the next fit.
        """
        with self._lock, self._reading(data) as batches:
            self._stop.clear()
            replica, workers = self._ready()
            lock = rlock()
            listeners = list(dict.fromkeys([*self._network.get_listeners(), *self._listeners]))
            try:
                workers.begin(Begin(user_line()), listeners, lock)
                replica.begin()
                self._run(batches, replica, workers, SharedListeners(listeners, lock))
                workers.finish()
            except BaseException as error:
                try:
                    found = workers.error() if isinstance(error, BrokenGroupError) else None
                finally:
                    self._end_workers()
                if found is not None:
                    raise found from None
                raise

    def _run(self, batches: Iterator[Any], replica: Replica, workers: Workers, hear: SharedListeners) -> None:
        settings, structure, count = self.settings, self._network.structure, workers.ranks.size
        averages = settings.training_mode is TrainingMode.AVERAGING
        began, before = time.perf_counter(), self._rounds
        while not self._stop.is_set() and (taken := _some(batches, count)):
            found = [self._batch(data) for data in taken]
            self._rounds += 1
            task = Task(None, averages and self._rounds % settings.averaging_frequency == 0,
                        1 if averages else max(len(pieces_of(structure, b)) for b in found), round(1000 * (time.perf_counter() - began)))
            tasks = [Task(b, task.average, task.pieces, task.etl_time) for b in found]
            tasks += [task] * (count - len(tasks))
            for rank, other in enumerate(tasks[1:], 1):
                workers.feed(rank, other)
            score = replica.train(tasks[0], hear)
            if score is not None:
                self._averaged = True
                if settings.report_score_after_averaging:
                    report(f"Averaged score: {score}")
            began = time.perf_counter()
        if self._rounds == before and not self._stop.is_set():
            raise no_batch("fit")

    def _ready(self) -> tuple[Replica, Workers]:
        """The first worker and the others, made at the first fit, and again for a changed configuration."""
        structure = self._network.engine.structure
        if self._workers is None or self._replica is None or not self._is_made_for(structure):
            self._end_workers()
            self._workers = workers = self._started()
            self._end = weakref.finalize(self, _close, workers, os.getpid())
            self._replica, self._made_for = Replica(self._network, workers.ranks, self.settings), (structure, os.getpid())
        return self._replica, self._workers

    def _is_made_for(self, structure: Any) -> bool:
        made_for, process = self._made_for
        return made_for is structure and process == os.getpid()

    def _started(self) -> Workers:
        try:
            if self.settings.processes and self.settings.workers > 1:
                return ProcessWorkers(self._network, self.settings)
            return ThreadWorkers(self._network, self.settings)
        except (NoWorkerError, OSError) as error:
            report(f"ParallelWrapper trains with one worker: {error}")
            return ThreadWorkers(self._network, self.settings.replace(workers=1))

    def _reading(self, data: Any) -> _Reading:
        return _Reading(data, self.settings.prefetch_buffer)

    def _batch(self, data: Any) -> NetworkBatch:
        return batch_in(self._network.structure, data, "fit")

    def stop_fit(self) -> None:
        """End a running :meth:`fit` after the present round."""
        self._stop.set()

    def shutdown(self) -> None:
        """End all workers; a further :meth:`fit` makes new ones."""
        with self._lock:
            self._end_workers()

    close = shutdown

    def _end_workers(self) -> None:
        self._workers = None        # first, so that an interrupt leaves none that are half ended
        self._end()

    def get_model(self) -> NetworkFittingMixin:
        """The network."""
        return self._network

    def get_workers(self) -> int:
        """Number of workers."""
        return self.settings.workers

    def get_prefetch_size(self) -> int:
        """Batches that are read ahead."""
        return self.settings.prefetch_buffer

    def get_averaging_frequency(self) -> int:
        """Rounds from one averaging to the next."""
        return self.settings.averaging_frequency

    def get_iterations_counter(self) -> int:
        """Rounds done so far."""
        return self._rounds

    def is_average_updaters(self) -> bool:
        """Whether updater state is averaged too."""
        return self.settings.average_updaters

    def is_report_score(self) -> bool:
        """Whether averaged scores are reported."""
        return self.settings.report_score_after_averaging

    def is_was_averaged(self) -> bool:
        """Whether parameters have been averaged so far."""
        return self._averaged

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.shutdown()

    def __repr__(self) -> str:
        return f"ParallelWrapper({self._network!r}, {self.settings!r})"


class _Reading:
    """The batches of what was given to fit, read ahead where that is possible."""

    def __init__(self, data: Any, ahead: int) -> None:
        if isinstance(data, (DataSet, MultiDataSet)) or not isinstance(data, Iterable):
            raise ConfigurationError(f"fit takes an iterator or a list of data sets, got {type(data).__name__}; "
                                     "several batches are needed for several workers")
        self._data, self._ahead = data, ahead
        self._async: Any = None

    def __enter__(self) -> Iterator[Any]:
        data = self._data
        if not isinstance(data, BatchIterator):
            return iter(data)
        if not data.has_next() and data.reset_supported():
            data.reset()
        if not self._ahead or not data.async_supported():
            return data.rest()
        kind: Any = AsyncDataSetIterator if isinstance(data, DataSetIterator) else AsyncMultiDataSetIterator
        self._async = kind(data, self._ahead)
        return self._async.rest()  # type: ignore[no-any-return]

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._async is not None:
            self._async.shutdown()


class WrapperBuilder(Builder[ParallelWrapper], WrapperBuilderNames):
    """``ParallelWrapper.Builder(network)…build()``, with DL4J's method names."""

    target = WrapperSettings

    def __init__(self, network: NetworkFittingMixin) -> None:
        super().__init__()
        self._network = network

    def build(self) -> ParallelWrapper:
        """The wrapper."""
        return ParallelWrapper(self._network, **self._values)


ParallelWrapper.Builder = WrapperBuilder


def _close(workers: Workers, process: int) -> None:
    """End workers, unless they are those of a process that this one was forked from."""
    if process == os.getpid():
        workers.close()


def _some(batches: Iterator[Any], count: int) -> list[Any]:
    """The next batches, at most that many."""
    return [data for _, data in zip(range(count), batches)]
