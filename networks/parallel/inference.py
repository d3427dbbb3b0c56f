"""Requests of many threads, answered by one network."""
from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np

from ...samediff.base.background import started
from ...samediff.base.locks import rlock
from ...samediff.base.source_line import work_for
from ...samediff.base.user_code.users_arrays import answers_in_kind
from ...samediff.configuration.builder import Builder
from ...samediff.data import DataSet, MultiDataSet
from ...samediff.errors import ConfigurationError, GraphError
from ...samediff.expressions.arrays import as_array
from ..batches.batch import NetworkBatch
from ..models.network import Network
from ..structure.java_names import InferenceBuilderNames, ParallelInferenceNames
from .requests import InferenceRequest, RequestQueue, shut_down
from .settings import InferenceMode, InferenceSettings, LoadBalanceMode


class _Runner:
    """Runs requests on the network of the moment; kept apart so that threads do not keep a :class:`ParallelInference` alive."""

    def __init__(self, network: Network) -> None:
        self.serving: tuple[Network, set[Any]] = network, set()     # and the keys whose batches do not come apart again
        self.counts: list[int] = []

    def work(self, queue: RequestQueue, most_rows: int, worker: int) -> None:
        """Serve requests until the queue is closed."""
        while found := queue.take(most_rows):
            self.counts[worker] += 1
            self.answer(found)
            del found                       # an idle worker holds no arrays

    def answer(self, requests: list[InferenceRequest]) -> None:
        """Run requests together; each alone where that fails, so that an error meets its own request only."""
        network, alone = self.serving
        key = requests[0].key
        work_for(requests[0].line)
        if len(requests) > 1 and key not in alone:
            try:
                parts = _split(_run(network, *_joined(requests)), requests)
            except Exception:   # whoever caused it: found out below
                parts = None
            else:
                if parts is None:
                    alone.add(key)
            if parts is not None:
                for request, part in zip(requests, parts):
                    request.future.set_result(part)
                return
        for request in requests:
            work_for(request.line)
            try:
                result = _run(network, request.inputs, request.masks)
            except BaseException as error:      # belongs to whoever waits
                request.future.set_exception(error)
            else:
                request.future.set_result(result)


def _run(network: Network, inputs: Sequence[Any], masks: Sequence[Any]) -> list[Any]:
    engine = network.engine
    batch = NetworkBatch(inputs, None, masks if any(m is not None for m in masks) else None)
    return engine.forward.activations(batch, engine.structure.outputs)[0]


def _joined(requests: Sequence[InferenceRequest]) -> tuple[list[Any], list[Any]]:
    def each(arrays: Sequence[list[Any]]) -> list[Any]:
        return [None if same[0] is None else np.concatenate(same) for same in zip(*arrays)]
    return each([r.inputs for r in requests]), each([r.masks for r in requests])


def _split(outputs: Sequence[Any], requests: Sequence[InferenceRequest]) -> list[list[Any]] | None:
    """The rows of each request, as arrays of its own; None for a network whose outputs are not one row for an example."""
    ends = np.cumsum([r.rows for r in requests]).tolist()
    if any(o.ndim == 0 or o.shape[0] != ends[-1] for o in outputs):
        return None
    return [[o[end - r.rows:end].copy() for o in outputs] for r, end in zip(requests, ends)]


class _WorkerGroup:
    """The workers of one process, as many as could be started, and the queue out of which they take requests."""

    def __init__(self, runner: _Runner, settings: InferenceSettings) -> None:
        self.process = os.getpid()
        self.queue = RequestQueue(settings.queue_limit)
        self.gate = threading.BoundedSemaphore(settings.workers) if settings.load_balance_mode is LoadBalanceMode.FIFO else None
        self.threads: list[threading.Thread] = []
        if settings.inference_mode is not InferenceMode.INPLACE:
            most = settings.batch_limit if settings.inference_mode is InferenceMode.BATCHED else 1
            runner.counts = [0] * settings.workers
            found = [started(runner.work, self.queue, most, i, name=f"dl4py-inference-{i}") for i in range(settings.workers)]
            self.threads = [thread for thread in found if thread is not None]

    def close(self) -> None:
        """Let the workers end, unless they are those of another process."""
        if self.process == os.getpid():
            self.queue.close()


class ParallelInference(ParallelInferenceNames):
    """Answers requests of any number of threads with one network (DL4J's ``ParallelInference``).

    Workers take the requests out of a bounded queue. In the mode ``BATCHED`` those that wait at the same time and have equal shapes (but
    for the number of examples) are run as one batch, and each gets its own rows back. An error reaches only the request that
    caused it. All workers share the network: parameters that change are seen at once, and memory is needed once. A forked process has
    workers of its own; where no thread can be started, requests are answered by the threads that ask.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
        What answers.
    **options
        The settings that follow, by name.
    inference_mode : InferenceMode, default BATCHED
        How requests become runs.
    batch_limit : int, default 32
        Examples of one batch; a single request may have more.
    queue_limit : int, default 64
        Requests that may wait. Further ones block until there is room.
    workers : int, default 1
        Threads that run the network (with ``INPLACE`` and ``FIFO``: runs at once).
    load_balance_mode : LoadBalanceMode, default ROUND_ROBIN
        Has a meaning for ``INPLACE`` only.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.layers import DenseLayer, OutputLayer
    >>> from dl4py.networks import InferenceMode, MultiLayerNetwork, NeuralNetConfiguration, ParallelInference
    >>> net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(DenseLayer(n_in=4, n_out=8),
    ...                                                                       OutputLayer(n_in=8, n_out=3)).build()).init()
    >>> with ParallelInference.Builder(net).inference_mode(InferenceMode.BATCHED).batch_limit(64).workers(2).build() as service:
    ...     now = service.output(np.zeros((1, 4)))
    ...     later = [service.submit(np.ones((1, 4))) for _ in range(5)]
    ...     print(now.shape, [answer.result()[0].shape for answer in later])
    (1, 3) [(1, 3), (1, 3), (1, 3), (1, 3), (1, 3)]
    """

    Builder: ClassVar[type[InferenceBuilder]]

    def __init__(self, network: Network, **options: Any) -> None:
        self.settings = settings = InferenceSettings(**options)
        self._runner = _Runner(_ready(network))
        self._closed, self._making = False, rlock()
        self._crew = self._made(_WorkerGroup(self._runner, settings))

    def _made(self, crew: _WorkerGroup) -> _WorkerGroup:
        weakref.finalize(self, crew.close)      # forgotten: the threads end
        return crew

    def _workers(self) -> _WorkerGroup:
        """Those of this process, which may have been forked from that of the last ones."""
        if self._crew.process != os.getpid():
            with self._making:
                if self._crew.process != os.getpid():
                    self._crew = self._made(_WorkerGroup(self._runner, self.settings))
        return self._crew

    @answers_in_kind
    def output(self, *inputs: Any, input_masks: Any = None) -> Any:
        """Outputs of the network, outside of training, as soon as they are there.

        ``output(x)``, ``output(x, mask)`` and ``output(data_set)`` give the array of the only output. ``output([a, b])``,
        ``output([a, b], [mask_a, mask_b])``, a multi data set, and several inputs of a graph one by one give a list of all outputs.

        Raises
        ------
        ShutdownError
            The service is shut down, or was while the request waited.
        GraphError
            One array was asked for and the network has several outputs.
        """
        arrays, masks, single = self._read(inputs, input_masks)
        outputs = self._runner.serving[0].engine.structure.outputs
        if single and len(outputs) != 1:
            raise GraphError(f"the network has the outputs {', '.join(outputs)} and one array was asked for; give the inputs as a list: "
                             "output([x])")
        request = InferenceRequest(arrays, masks)
        self._start(request)
        found = request.future.result()
        return found[0] if single else found

    def submit(self, *inputs: Any, input_masks: Any = None) -> Future[list[Any]]:
        """The same without waiting: a future of the list of all outputs. ``add_done_callback`` adds observers, ``cancel`` withdraws.

        It waits for room in the queue, and with ``INPLACE`` for the outputs.
        """
        arrays, masks, _ = self._read(inputs, input_masks)
        request = InferenceRequest(arrays, masks)
        self._start(request)
        return request.future

    def _start(self, request: InferenceRequest) -> None:
        if self._closed:
            raise shut_down()
        crew = self._workers()
        if crew.threads:
            crew.queue.put(request)
            return
        request.future.set_running_or_notify_cancel()
        if crew.gate is None:
            self._runner.answer([request])
        else:
            with crew.gate:
                self._runner.answer([request])

    def _read(self, given: tuple[Any, ...], masks: Any) -> tuple[list[Any], list[Any], bool]:
        """Inputs, masks (one for each input, or none), and whether one array is asked for."""
        if not given:
            raise GraphError("output needs inputs: an array, a list of arrays, or a data set")
        first, single = given[0], True
        if isinstance(first, (DataSet, MultiDataSet)):
            single, rest = isinstance(first, DataSet), given[1:]
            data = first.to_multi_data_set() if isinstance(first, DataSet) else first
            inputs, masks = list(data.features), data.features_masks
        elif isinstance(first, (list, tuple)) and first and hasattr(first[0], "shape"):
            inputs, single, rest = list(first), False, given[1:]
        else:
            count = len(self._runner.serving[0].engine.structure.inputs)
            several = count > 1 and len(given) == count
            inputs, rest, single = (list(given), (), False) if several else ([first], given[1:], True)
        if len(rest) > 1 or (rest and masks is not None):
            raise GraphError(f"output takes inputs and their masks; got {len(given)} arguments. Several inputs are one list")
        wanted = rest[0] if rest else masks
        lists = [] if wanted is None else list(wanted) if isinstance(wanted, (list, tuple)) else [wanted]
        if lists and len(lists) != len(inputs):
            raise GraphError(f"{len(inputs)} inputs need as many masks (None where there is none); got {len(lists)}")
        batch = NetworkBatch([as_array(x) for x in inputs], None, lists)
        return batch.inputs, batch.features_masks, single

    def update_model(self, network: Network) -> None:
        """Answer with another network from the next run on; what waits goes on waiting."""
        self._runner.serving = _ready(network), set()

    def get_current_models_from_workers(self) -> list[Network]:
        """The network of each worker: one and the same."""
        return [self._runner.serving[0]] * self.settings.workers

    def get_worker_counter(self, worker: int) -> int:
        """Runs that a worker has made."""
        return self._runner.counts[worker]

    def shutdown(self) -> None:
        """End the workers: what is being run is answered, what waits gets a :class:`~dl4py.samediff.errors.ShutdownError`."""
        self._closed = True
        self._crew.close()
        for thread in self._crew.threads:
            if thread is not threading.current_thread():
                thread.join()

    close = shutdown

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.shutdown()

    def __repr__(self) -> str:
        return f"ParallelInference({self._runner.serving[0]!r}, {self.settings!r})"


class InferenceBuilder(Builder[ParallelInference], InferenceBuilderNames):
    """``ParallelInference.Builder(network)…build()``, with DL4J's method names."""

    target = InferenceSettings

    def __init__(self, network: Network) -> None:
        super().__init__()
        self._network = network

    def build(self) -> ParallelInference:
        """The service, its workers running."""
        return ParallelInference(self._network, **self._values)


ParallelInference.Builder = InferenceBuilder


def _ready(network: Any) -> Network:
    if not isinstance(network, Network):
        raise ConfigurationError(f"expected a MultiLayerNetwork or ComputationGraph, got {type(network).__name__}")
    network.engine        # noqa: B018 - makes the parameters of one that has none yet
    return network
