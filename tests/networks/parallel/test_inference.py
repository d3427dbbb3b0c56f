"""Requests of many threads: right answers, batches, errors, limits, shutdown."""
from __future__ import annotations

import gc
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor

import numpy as np
import pytest

from dl4py.layers import LSTM, DenseLayer, ElementWiseVertex, InputType, OutputLayer, RnnOutputLayer
from dl4py.networks import (
    ComputationGraph,
    InferenceMode,
    LoadBalanceMode,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    ParallelInference,
)
from dl4py.networks.parallel.inference import _Runner
from dl4py.networks.parallel.requests import InferenceRequest, RequestQueue
from dl4py.samediff import DataSet, MultiDataSet
from dl4py.samediff.errors import ConfigurationError, GraphError, ShapeError, ShutdownError

RNG = np.random.default_rng(3)
MODES = list(InferenceMode)


def dense(seed=5):
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(seed).list(
        DenseLayer(n_in=4, n_out=5, activation="tanh"), OutputLayer(n_in=5, n_out=3)).build()).init()


def recurrent():
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(5).list(
        LSTM(n_in=2, n_out=4), RnnOutputLayer(n_in=4, n_out=2)).build()).init()


def branched():
    conf = (NeuralNetConfiguration.Builder().seed(5).graph_builder().add_inputs("a", "b")
            .add_layer("da", DenseLayer(n_in=4, n_out=3), "a").add_layer("db", DenseLayer(n_in=2, n_out=3), "b")
            .add_vertex("sum", ElementWiseVertex("Add"), "da", "db").add_layer("one", OutputLayer(n_in=3, n_out=3), "sum")
            .add_layer("two", OutputLayer(n_in=3, n_out=2), "sum").set_outputs("one", "two").build())
    return ComputationGraph(conf).init()


class Held:
    """Keeps the only worker busy, so that requests wait together."""

    def __init__(self, service):
        self.service, self.go, self.began = service, threading.Event(), threading.Event()
        self.answer = service._runner.answer

    def __enter__(self):
        def answer(requests):
            self.began.set()
            assert self.go.wait(60)
            self.answer(requests)
        self.service._runner.answer = answer
        self.first = self.service.submit(np.zeros((1, 4)))
        assert self.began.wait(60)
        self.service._runner.answer = self.answer
        return self

    def __exit__(self, *error):
        self.go.set()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("workers", [1, 3])
def test_every_thread_gets_its_own_rows(mode, workers):
    net = dense()
    xs = [RNG.normal(size=(1 + k % 4, 4)).astype(np.float32) for k in range(200)]
    wanted = [net.output(x) for x in xs]
    with ParallelInference(net, inference_mode=mode, workers=workers) as service, ThreadPoolExecutor(16) as pool:
        for found, right in zip(pool.map(service.output, xs), wanted):
            np.testing.assert_allclose(found, right, atol=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_ways_to_ask(mode):
    x, mask = RNG.normal(size=(3, 2, 5)).astype(np.float32), np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0]], np.float32)
    net, graph = recurrent(), branched()
    a, b = RNG.normal(size=(3, 4)).astype(np.float32), RNG.normal(size=(3, 2)).astype(np.float32)
    plain, masked = net.output(x), net.output(x, features_mask=mask)
    with ParallelInference.Builder(net).inferenceMode(mode).build() as service:
        for found, wanted in ((service.output(x), plain), (service.output(x, mask), masked), (service.output(x, input_masks=mask), masked),
                              (service.output(DataSet(x, None, mask)), masked), (service.output([x])[0], plain),
                              (service.output([x], [mask])[0], masked), (service.submit(x, mask).result()[0], masked)):
            np.testing.assert_allclose(found, wanted, atol=1e-6)
    with ParallelInference.Builder(graph).inferenceMode(mode).build() as service:
        for found in (service.output([a, b]), service.output(a, b), service.output(MultiDataSet([a, b], [])),
                      service.submit(a, b).result(), service.output([a, b], [None, None])):
            assert [o.shape for o in found] == [(3, 3), (3, 2)]
            for one, wanted in zip(found, graph.output(a, b)):
                np.testing.assert_allclose(one, wanted, atol=1e-6)


def test_waiting_requests_become_one_batch():
    net = dense()
    with ParallelInference(net, batch_limit=6) as service:
        with Held(service):
            answers = [service.submit(np.full((n, 4), k)) for k, n in enumerate((1, 2, 3, 1, 7, 1))]
        for k, (answer, n) in enumerate(zip(answers, (1, 2, 3, 1, 7, 1))):
            np.testing.assert_allclose(answer.result()[0], net.output(np.full((n, 4), k)), atol=1e-6)
        assert service.get_worker_counter(0) == 4       # the first; 1 + 2 + 3; 1 + 1; 7 alone
    with ParallelInference(net, inference_mode="SEQUENTIAL") as service:
        with Held(service):
            answers = [service.submit(np.zeros((1, 4))) for _ in range(5)]
        assert [a.result()[0].shape for a in answers] == [(1, 3)] * 5
        assert service.get_worker_counter(0) == 6


def test_only_equal_shapes_share_a_batch():
    net = recurrent()
    lengths = (3, 5, 3, 5, 3)
    xs = [RNG.normal(size=(2, 2, n)).astype(np.float32) for n in lengths]
    masks = [None, None, np.ones((2, 3), np.float32), None, None]
    queue = RequestQueue(10)
    for x, mask in zip(xs, masks):
        queue.put(InferenceRequest([x], [mask]))
    taken = [queue.take(32) for _ in range(3)]
    assert [[r.inputs[0].shape[2] for r in found] for found in taken] == [[3, 3], [5, 5], [3]]
    runner = _Runner(net)
    for found in taken:
        runner.answer(found)
        for request in found:
            np.testing.assert_allclose(request.future.result()[0], net.output(request.inputs[0]), atol=1e-6)


def test_a_bad_request_does_not_spoil_its_neighbours():
    """It has the shape of the others: only running the batch shows that it is wrong."""
    net = dense()
    forward, refused = net.engine.forward.activations, np.float32(13)

    def picky(batch, *args, **options):
        if (batch.inputs[0] == refused).any():
            raise ShapeError("an unlucky number")
        return forward(batch, *args, **options)

    net.engine.forward.activations = picky
    with ParallelInference(net) as service:
        with Held(service):
            answers = [service.submit(np.full((1, 4), k, np.float32)) for k in (11, 12, 13, 14)]
            odd = service.submit(np.zeros((1, 3)))
        for k, answer in zip((11, 12, 14), (answers[0], answers[1], answers[3])):
            np.testing.assert_allclose(answer.result()[0], net.output(np.full((1, 4), k)), atol=1e-6)
        with pytest.raises(ShapeError, match="an unlucky number"):
            answers[2].result()
        with pytest.raises(GraphError):
            odd.result()
        assert service.output(np.zeros((1, 4))).shape == (1, 3)


def test_outputs_that_are_not_one_row_for_an_example():
    """A dense output behind a recurrent layer gives a row for every step."""
    conf = NeuralNetConfiguration.Builder().seed(5).list(LSTM(n_in=2, n_out=4), OutputLayer(n_in=4, n_out=2))
    net = MultiLayerNetwork(conf.set_input_type(InputType.recurrent(2)).build()).init()
    xs = [RNG.normal(size=(2, 2, 3)).astype(np.float32) for _ in range(4)]
    requests = [InferenceRequest([x], []) for x in xs]
    runner = _Runner(net)
    runner.answer(requests[:2])
    runner.answer(requests[2:])
    for x, request in zip(xs, requests):
        found = request.future.result()[0]
        assert found.shape == net.output(x).shape == (6, 2)
        np.testing.assert_allclose(found, net.output(x), atol=1e-6)
    assert len(runner.serving[1]) == 1


def test_empty_batches_and_cancelled_requests():
    with ParallelInference(dense()) as service:
        assert service.output(np.zeros((0, 4))).shape == (0, 3)
        with Held(service):
            cancelled, other = service.submit(np.zeros((1, 4))), service.submit(np.zeros((1, 4)))
            assert cancelled.cancel()
        assert other.result()[0].shape == (1, 3)
        with pytest.raises(CancelledError):
            cancelled.result()


def test_observers_hear_of_answers():
    heard = threading.Event()
    with ParallelInference(dense()) as service:
        service.submit(np.zeros((1, 4))).add_done_callback(lambda answer: heard.set())
        assert heard.wait(60)


def test_the_queue_is_bounded():
    queue, late = RequestQueue(2), InferenceRequest([np.zeros((1, 4))], [])
    for _ in range(2):
        queue.put(InferenceRequest([np.ones((1, 3))], []))
    putting = threading.Thread(target=queue.put, args=(late,))
    putting.start()
    putting.join(0.1)
    assert putting.is_alive()
    assert len(queue.take(1)) == 1
    putting.join(60)
    assert not putting.is_alive()
    assert len(queue.take(32)) == 1
    assert queue.take(32) == [late]


def test_another_model():
    first, second, x = dense(1), dense(2), np.ones((1, 4))
    for mode in MODES:
        with ParallelInference(first, inference_mode=mode, workers=2) as service:
            np.testing.assert_array_equal(service.output(x), first.output(x))
            service.update_model(second)
            np.testing.assert_array_equal(service.output(x), second.output(x))
            assert service.get_current_models_from_workers() == [second, second]


@pytest.mark.parametrize("mode", MODES)
def test_after_shutdown(mode):
    service = ParallelInference(dense(), inference_mode=mode)
    service.shutdown()
    service.shutdown()
    for ask in (service.output, service.submit):
        with pytest.raises(ShutdownError, match="was shut down"):
            ask(np.zeros((1, 4)))


def test_shutdown_answers_everybody():
    service = ParallelInference(dense(), queue_limit=1)
    with Held(service) as held:
        waiting = service.submit(np.zeros((1, 4)))
        refused = []

        def ask():
            try:
                service.output(np.zeros((1, 4)))
            except ShutdownError as error:
                refused.append(error)
        blocked = threading.Thread(target=ask)
        blocked.start()
        time.sleep(0.05)
        closing = threading.Thread(target=service.shutdown)
        closing.start()
        blocked.join(60)
        with pytest.raises(ShutdownError):
            waiting.result(10)
        assert len(refused) == 1
    closing.join(60)
    assert held.first.result()[0].shape == (1, 3)
    assert not closing.is_alive()


def test_threads_of_a_forgotten_service_end():
    service = ParallelInference(dense(), workers=2)
    threads = service._crew.threads
    service.output(np.zeros((1, 4)))
    del service
    gc.collect()
    for thread in threads:
        thread.join(60)
    assert not any(t.is_alive() for t in threads)


def test_fifo_runs_as_many_as_there_are_workers():
    net, most, running, lock = dense(), [0], [0], threading.Condition()
    forward = net.engine.forward.activations

    def counted(*args, **options):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
            lock.notify_all()
            lock.wait_for(lambda: most[0] > 1, timeout=60)
        time.sleep(0.01)
        try:
            return forward(*args, **options)
        finally:
            with lock:
                running[0] -= 1

    net.engine.forward.activations = counted
    for balance, limit in ((LoadBalanceMode.FIFO, 2), (LoadBalanceMode.ROUND_ROBIN, 6)):
        most[0] = 0
        service = ParallelInference.Builder(net).inference_mode(InferenceMode.INPLACE).workers(2).load_balance_mode(balance).build()
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(service.output, [np.zeros((1, 4))] * 12))
        service.shutdown()
        assert 1 < most[0] <= limit


def test_refused():
    for options in ({"batch_limit": 0}, {"queue_limit": 0}, {"workers": 0}):
        with pytest.raises(ConfigurationError, match=f"{next(iter(options))} must be at least 1, got 0"):
            ParallelInference(dense(), **options)
    with pytest.raises(ConfigurationError, match="MultiLayerNetwork or ComputationGraph"):
        ParallelInference.Builder(3).build()
    with ParallelInference(branched()) as service:
        with pytest.raises(GraphError, match="outputs one, two and one array was asked for"):
            service.output(np.zeros((1, 4)))
        with pytest.raises(GraphError, match="2 inputs need as many masks"):
            service.output([np.zeros((1, 4)), np.zeros((1, 2))], [None])
        with pytest.raises(GraphError, match="Several inputs are one list"):
            service.output(np.zeros((1, 4)), np.zeros((1, 2)), None)
        with pytest.raises(GraphError, match="needs inputs"):
            service.output()
        with pytest.raises(GraphError, match="2 inputs"):
            service.output([np.zeros((1, 4))])
