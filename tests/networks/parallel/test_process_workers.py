"""Processes that train and are killed: an error at once, a network after a whole step, nothing left."""
from __future__ import annotations

import gc
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import types
from pathlib import Path

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration, ParallelWrapper
from dl4py.networks.parallel import process_workers
from dl4py.networks.parallel.channel import ProcessChannel
from dl4py.networks.parallel.process_handle import ProcessHandle
from dl4py.samediff import Adam, DataSet
from dl4py.samediff.errors import WorkerError

X = np.random.default_rng(3).normal(size=(12, 4)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[np.arange(12) % 3]
ROUND = [DataSet(X[:5], Y[:5]), DataSet(X[5:], Y[5:])]
MODES = ["SHARED_GRADIENTS", "AVERAGING"]


def network(layer=DenseLayer):
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(5).updater(Adam(0.01)).list(
        layer(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=3)).build()).init()


def wrapped(net, mode="SHARED_GRADIENTS", processes=True, **options):
    return ParallelWrapper(net, workers=2, training_mode=mode, prefetch_buffer=0, processes=processes, **options)


def worker(wrapper):
    return wrapper._workers._others[0].process


def after(net, mode, rounds):
    """Parameters and updater state after whole rounds; with averaging also those of the first worker before the last average."""
    found = []
    for alone in range(1 + (mode == "AVERAGING" and rounds > 0)):
        other = net.clone()
        with wrapped(other, mode, processes=False) as wrapper:
            if rounds > alone:
                wrapper.fit(ROUND * (rounds - alone))
        if alone:
            other.fit(ROUND[0])
        found.append(other.params().tobytes() + other.updater_state().tobytes())
    return found


def held():
    """Threads, processes and sockets."""
    gc.collect()
    threads, opened = [t.name for t in threading.enumerate() if t.name.startswith("dl4py-training")], Path("/proc/self/fd")
    links = [os.readlink(p) for p in opened.iterdir() if p.is_symlink()] if opened.is_dir() else []
    return threads, multiprocessing.active_children(), sum(text.startswith("socket:") for text in links)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.slow
def test_a_worker_killed_at_any_moment_of_the_training(mode):
    draw, net, left, (before, *_) = random.Random(1), network(), [], held()
    with wrapped(net, mode) as wrapper:
        for _ in range(3):
            wrapper.fit(ROUND)
            start = net.clone()
            killing = threading.Timer(draw.random() * 0.05, worker(wrapper).kill)
            killing.start()
            with pytest.raises(WorkerError, match="worker 1 ended with the exit code -9 .*the next fit starts new workers"):
                wrapper.fit(ROUND * 100_000)
            killing.join()
            left.append(held())
            rounds = net.get_iteration_count() - start.get_iteration_count()
            assert net.params().tobytes() + net.updater_state().tobytes() in after(start, mode, rounds)
    assert left == [(before, [], left[0][2])] * 3


def test_a_worker_killed_while_it_starts(monkeypatch):
    draw, net, watch = random.Random(1), network(), ProcessHandle._watch
    before = net.params()

    def kill(handle, ended):
        time.sleep(draw.random() * 0.3)
        handle.process.kill()
        watch(handle, ended)

    monkeypatch.setattr(ProcessHandle, "_watch", kill)
    with wrapped(net) as wrapper:
        for _ in range(6):
            with pytest.raises(WorkerError, match="worker 1 ended with the exit code -9 while it started"):
                wrapper.fit(ROUND)
    np.testing.assert_array_equal(net.params(), before)
    assert not multiprocessing.active_children()


def test_a_worker_killed_between_two_trainings():
    net = network()
    with wrapped(net) as wrapper:
        wrapper.fit(ROUND)
        before = net.params()
        worker(wrapper).kill()
        with pytest.raises(WorkerError, match="worker 1 ended with the exit code -9"):
            wrapper.fit(ROUND)
        np.testing.assert_array_equal(net.params(), before)
        wrapper.fit(ROUND)
    assert net.get_iteration_count() == 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", MODES)
def test_a_killed_worker_whose_channels_another_process_holds_open(mode, monkeypatch):
    """As one does that was forked at the wrong moment: no end of a channel tells that the worker is gone."""
    net, copies = network(), []
    pair = ProcessChannel.pair

    def copied():
        ends = pair()
        copies.append(ends[1].socket.dup())
        return ends

    monkeypatch.setattr(ProcessChannel, "pair", copied)
    with wrapped(net, mode) as wrapper:
        wrapper.fit(ROUND)
        killing = threading.Timer(0.02, worker(wrapper).kill)
        killing.start()
        with pytest.raises(WorkerError, match="exit code -9"):
            wrapper.fit(ROUND * 100_000)
        killing.join()
    for copy in copies:
        copy.close()


def test_a_worker_that_does_not_end_is_killed(monkeypatch):
    monkeypatch.setattr(process_workers, "_SECONDS_TO_END", 0.2)
    with wrapped(network()) as wrapper:
        wrapper.fit(ROUND)
        os.kill(worker(wrapper).pid, signal.SIGSTOP)
    assert not multiprocessing.active_children()


def test_no_process_stays_when_starting_them_fails(monkeypatch, capsys):
    """Here the system gives sockets for one worker only."""
    net, pair, given = network(), ProcessChannel.pair, []

    def rare():
        given.append(None)
        if len(given) == 4:
            raise OSError("too many open files")
        return pair()

    monkeypatch.setattr(ProcessChannel, "pair", rare)
    with ParallelWrapper(net, workers=3, processes=True) as wrapper:
        wrapper.fit(ROUND)
        assert not multiprocessing.active_children()
    assert "trains with one worker: too many open files" in capsys.readouterr().err


def test_classes_that_another_process_cannot_find(monkeypatch):
    class Local(DenseLayer):
        pass

    with wrapped(network(Local)) as wrapper, pytest.raises(WorkerError, match="at the top of a module, or leave processes=False"):
        wrapper.fit(ROUND)
    made = types.ModuleType("made_while_running")
    made.Made = type("Made", (DenseLayer,), {"__module__": made.__name__})
    monkeypatch.setitem(sys.modules, made.__name__, made)
    with wrapped(network(made.Made)) as wrapper, pytest.raises(WorkerError, match="'made_while_running'; put layers .* into a module"):
        wrapper.fit(ROUND)
    assert not multiprocessing.active_children()


def test_processes_that_have_none_of_their_own(monkeypatch):
    process = multiprocessing.current_process()
    with wrapped(network()) as wrapper:
        monkeypatch.setattr(process, "_inheriting", True, raising=False)
        with pytest.raises(WorkerError, match="put what trains below if __name__"):
            wrapper.fit(ROUND)
        monkeypatch.undo()
        monkeypatch.setitem(process._config, "daemon", True)
        with pytest.raises(WorkerError, match="MainProcess is a daemonic process"):
            wrapper.fit(ROUND)
