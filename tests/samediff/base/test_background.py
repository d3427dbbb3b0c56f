"""Work in threads: where none can be started, in forked processes, and what errors point at."""
from __future__ import annotations

import os
import sys
import threading
import warnings

import numpy as np
import pytest

from dl4py.layers import DenseLayer, InputType, OutputLayer
from dl4py.networks import InferenceMode, MultiLayerNetwork, NeuralNetConfiguration, ParallelInference, ParallelWrapper
from dl4py.samediff.base.background import started
from dl4py.samediff.base.source_line import user_line
from dl4py.samediff.data import AsyncDataSetIterator, DataSet, ExistingDataSetIterator, JointParallelDataSetIterator
from dl4py.samediff.errors import GraphError, ShapeError
from dl4py.samediff.training import Adam

RNG = np.random.default_rng(3)
BATCHES = [DataSet(RNG.standard_normal((8, 4)).astype("f"), np.eye(3, dtype="f")[RNG.integers(0, 3, 8)]) for _ in range(6)]


def network():
    conf = NeuralNetConfiguration.Builder().seed(5).updater(Adam(0.01)).list(DenseLayer(n_out=7, activation="tanh"), OutputLayer(n_out=3))
    return MultiLayerNetwork(conf.set_input_type(InputType.feed_forward(4)).build()).init()


@pytest.fixture
def no_threads(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")
    monkeypatch.setattr(threading.Thread, "start", refuse)


def test_reading_ahead_without_threads(no_threads):
    wanted = [b.features.sum() for b in BATCHES]
    it = AsyncDataSetIterator(ExistingDataSetIterator(BATCHES))
    for _ in range(2):
        assert [b.features.sum() for b in it] == wanted
        it.reset()
    joint = JointParallelDataSetIterator([ExistingDataSetIterator(BATCHES[:3]), ExistingDataSetIterator(BATCHES[3:])])
    assert sorted(b.features.sum() for b in joint) == sorted(wanted)


@pytest.mark.parametrize("mode", InferenceMode)
def test_requests_without_threads(no_threads, mode):
    net = network()
    with ParallelInference(net, inference_mode=mode, workers=3) as service:
        np.testing.assert_array_equal(service.output(BATCHES[0].features), net.output(BATCHES[0].features))
        assert service.submit(BATCHES[0].features).result()[0].shape == (8, 3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("options", [{}, {"training_mode": "SHARED_GRADIENTS"}, {"processes": True}], ids=["means", "shared", "processes"])
def test_parallel_training_without_threads(no_threads, options):
    ours, wanted = network(), network()
    with ParallelWrapper(ours, workers=3, prefetch_buffer=4, **options) as wrapper:
        wrapper.fit(ExistingDataSetIterator(BATCHES))
    wanted.fit(BATCHES)
    np.testing.assert_array_equal(ours.params(), wanted.params())
    assert ours.get_iteration_count() == 6


def in_child(work):
    """Whether ``work`` gives True in a forked process, within a minute."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        threading.Timer(60, os._exit, [3]).start()
        try:
            os._exit(0 if work() else 1)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")


@needs_fork
def test_a_forked_process_reads_ahead_anew():
    it = AsyncDataSetIterator(ExistingDataSetIterator(BATCHES), 2)
    it.next()

    def work():
        with pytest.raises(GraphError, match=r"reset\(\)"):
            it.next()
        it.reset()
        return sum(1 for _ in it) == 6
    assert in_child(work)
    assert sum(1 for _ in it) == 6


@needs_fork
@pytest.mark.parametrize("options", [{}, {"inference_mode": "INPLACE", "load_balance_mode": "FIFO"}], ids=["batched", "inplace"])
def test_a_forked_process_answers_requests(options):
    net = network()
    with ParallelInference(net, workers=2, **options) as service:
        wanted = service.output(BATCHES[0].features)

        def work():
            same = np.array_equal(service.output(BATCHES[0].features), wanted)
            service.shutdown()
            return same
        assert in_child(work)
        np.testing.assert_array_equal(service.output(BATCHES[0].features), wanted)


@needs_fork
@pytest.mark.parametrize("mode", ["AVERAGING", "SHARED_GRADIENTS"])
def test_a_forked_process_trains_with_workers_of_its_own(mode):
    net = network()
    with ParallelWrapper(net, workers=2, training_mode=mode) as wrapper:
        wrapper.fit(BATCHES)

        def work():
            wrapper.fit(BATCHES)
            wrapper.shutdown()
            net.fit(BATCHES)
            return net.get_iteration_count() == 12
        assert in_child(work)
        wrapper.fit(BATCHES)
        assert net.get_iteration_count() == 6


@pytest.mark.sampled(2)
@needs_fork
@pytest.mark.parametrize("mode", ["AVERAGING", "SHARED_GRADIENTS"])
def test_a_process_that_is_forked_in_the_midst_of_parallel_training(mode):
    net = network()
    found = []
    for k in range(4):
        with ParallelWrapper(net, workers=2, training_mode=mode) as wrapper:
            thread = threading.Thread(target=lambda: wrapper.fit(BATCHES * 20))
            thread.start()
            threading.Event().wait(0.005 * k)
            found.append(in_child(lambda: net.fit(BATCHES) is net and net.output(BATCHES[0].features).shape == (8, 3)))
            thread.join()
    assert all(found)


def place(error):
    return next(line for line in str(error).replace("made at", "(at").split("\n") if "(at" in line).partition("(at ")[2]


def test_errors_of_requests_point_at_the_line_that_asked():
    with ParallelInference(network()) as service:
        with pytest.raises(ShapeError) as caught:
            service.output(np.zeros(4, "f"))                                # here
        assert "# here" in place(caught.value)
        later = service.submit(np.zeros(4, "f"))                            # and here
        with pytest.raises(ShapeError) as caught:
            later.result()
        assert "# and here" in place(caught.value)


def test_errors_of_workers_point_at_the_line_that_trains():
    wrong = DataSet(BATCHES[0].features[:, :3], BATCHES[0].labels)
    for options in ({}, {"training_mode": "SHARED_GRADIENTS"}):
        with ParallelWrapper(network(), workers=2, **options) as wrapper, pytest.raises(ShapeError) as caught:
            wrapper.fit([BATCHES[0], wrong])                                # the place
        assert "# the place" in place(caught.value)


def test_threads_of_the_user_are_no_place():
    found = []
    threads = [threading.Thread(target=lambda: found.append(user_line())), started(lambda: found.append(user_line()), name="one")]
    threads[0].start()
    for thread in threads:
        thread.join()
    assert {line.file for line in found} == {__file__}
    thread = threading.Thread(target=network().output, args=(np.zeros(4, "f"),))
    seen = []
    before, threading.excepthook = threading.excepthook, lambda args: seen.append(args.exc_value)
    try:
        thread.start()
        thread.join()
    finally:
        threading.excepthook = before
    assert isinstance(seen[0], ShapeError) and "threading.py" not in str(seen[0])
