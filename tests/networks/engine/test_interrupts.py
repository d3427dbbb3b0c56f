"""Whatever interrupts a training, wherever: parameters, updater state and counters are those of the same whole step."""
from __future__ import annotations

import signal
import sys
import threading
import time

import numpy as np
import pytest

from dl4py.layers import BatchNormalization, DenseLayer, InputType, MaxNormConstraint, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.batches.given_data import batch_of
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.data import DataSet
from dl4py.samediff.training import Adam, Listener, TrainingConfig
from dl4py.samediff.training.steps.step import FlatParameters
from tests.helpers.interrupting import Stop, interrupted


class Watcher(Listener):
    def on_gradient_calculation(self, model):
        pass


def data(count):
    rng = np.random.default_rng(3)
    return [DataSet(rng.standard_normal((8, 4)).astype("f"), np.eye(3, dtype="f")[rng.integers(0, 3, 8)]) for _ in range(count)]


def network(**options):
    builder = NeuralNetConfiguration.Builder().seed(5).updater(Adam(0.01)).data_type(options.pop("data_type", DataType.FLOAT))
    for name, value in options.items():
        getattr(builder, name)(value)
    conf = builder.list(DenseLayer(n_out=7, activation="tanh"), BatchNormalization(), OutputLayer(n_out=3))
    return MultiLayerNetwork(conf.set_input_type(InputType.feed_forward(4)).build()).init()


def same(ours, wanted):
    assert ours.get_iteration_count() == wanted.get_iteration_count()
    np.testing.assert_array_equal(ours.params(), wanted.params())
    np.testing.assert_array_equal(ours.engine.flat.state, wanted.engine.flat.state)


KINDS = {"plain": {}, "penalties": {"l2": 0.01}, "constraints": {"constrain_weights": MaxNormConstraint(0.5, 0)},
         "half": {"data_type": DataType.HALF}}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("listens", [False, True], ids=["alone", "watched"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_at_any_line_of_a_step(kind, listens):
    ours, wanted = network(**KINDS[kind]), network(**KINDS[kind])
    batch, = data(1)
    if listens:
        ours.set_listeners(Watcher())
    for net in (ours, wanted):
        for _ in range(3):
            net.fit(batch)
    after = 0
    while interrupted(lambda: ours.fit(batch), after):
        while wanted.get_iteration_count() < ours.get_iteration_count():
            wanted.fit(batch)
        same(ours, wanted)
        after += 1
    assert after > 20


@pytest.mark.slow
def test_an_exception_at_any_line_of_a_series():
    batches = data(12)
    after, more = 0, True
    while more:
        ours, wanted = network(), network()
        ours.fit(batches[:3])
        more = interrupted(lambda: ours.fit(batches[3:]), after)    # noqa: B023 - used at once
        for batch in batches[:ours.get_iteration_count()]:
            wanted.fit(batch)
        same(ours, wanted)
        after += 7
    assert after > 50


def graph():
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 4), sd.placeholder("y", DataType.FLOAT, -1, 3)
    w = sd.var("w", np.linspace(-1, 1, 12).reshape(4, 3).astype("f"))
    ((x.mmul(w) - y) ** 2).mean("loss")
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(Adam(0.01), data_set_feature_mapping="x", data_set_label_mapping="y"))
    return sd


def test_an_exception_at_any_line_of_a_graphs_step():
    ours, wanted = graph(), graph()
    batch, = data(1)
    for sd in (ours, wanted):
        for _ in range(3):
            sd.fit(batch)
    after = 0
    while interrupted(lambda: ours.fit(batch), after):
        while wanted.get_iteration_count() < ours.get_iteration_count():
            wanted.fit(batch)
        np.testing.assert_array_equal(ours.variable("w").get_arr(), wanted.variable("w").get_arr())
        for key, state in ours.get_updater_map()["w"].get_state().items():
            np.testing.assert_array_equal(state, wanted.get_updater_map()["w"].get_state()[key])
        after += 1
    assert after > 20


@pytest.mark.sampled(2)
@pytest.mark.skipif(not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread(), reason="signals")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")      # interrupted destructors
@pytest.mark.parametrize("in_list", [False, True], ids=["steps", "series"])
def test_signals_at_any_time(in_list):
    def stop(number, frame):
        raise Stop
    ours, wanted = network(), network()
    batch, = data(1)
    batches = [batch] * 300
    for net in (ours, wanted):
        net.fit([batch] * 3)
    old = signal.signal(signal.SIGALRM, stop)
    try:
        for k in range(15):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.003 + 0.0007 * k)
                end = time.monotonic() + 10         # Python swallows what is raised in a destructor
                while time.monotonic() < end:
                    ours.fit(batches if in_list else batch)
            except Stop:
                pass
            while wanted.get_iteration_count() < ours.get_iteration_count():
                wanted.fit(batch)
            same(ours, wanted)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        time.sleep(0)
        signal.signal(signal.SIGALRM, old)


def test_threads_that_fit_one_network_lose_no_step():
    batch, = data(1)
    ours, wanted = network(), network()
    for net in (ours, wanted):
        net.fit([batch] * 2)
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=lambda: [ours.fit([batch] * 3) for _ in range(25)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(old)
    wanted.fit([batch] * 300)
    same(ours, wanted)


def test_threads_that_begin_at_the_same_time_share_the_rates(monkeypatch):
    """What sets the numbers of a step and what reads them belong together, whoever made them first."""
    made, net, begin, found = FlatParameters.kernels, network(), threading.Barrier(4), []

    def slowly(self, *args):
        time.sleep(0.05)
        return made(self, *args)
    monkeypatch.setattr(FlatParameters, "kernels", slowly)
    step, _ = net.engine.graphs.step(batch_of(data(1)[0]))

    def work():
        begin.wait()
        found.append(step.kernels())
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 1
