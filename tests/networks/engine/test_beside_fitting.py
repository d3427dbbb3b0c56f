"""Other threads that save, clone and set a network while it is fitted get and set whole steps."""
from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import DataSet, ListDataSetIterator
from dl4py.samediff.training import Adam, Listener

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(8, 3)), np.eye(2)[RNG.integers(0, 2, 8)]
STEPS = 150


def network():
    conf = (NeuralNetConfiguration.Builder().seed(1).data_type("double").updater(Adam(0.01)).list()
            .layer(DenseLayer(n_in=3, n_out=300, activation="tanh")).layer(OutputLayer(n_in=300, n_out=2)).build())
    return MultiLayerNetwork(conf).init()


def state(net):
    return net.get_iteration_count(), net.params().tobytes(), np.asarray(net.get_updater().get_state_view_array()).tobytes()


@pytest.fixture(scope="module")
def steps():
    net = network()
    found = {state(net)}
    for _ in range(STEPS):
        net.fit(X, Y)
        found.add(state(net))
    return found


class Silent(Listener):
    def on_gradient_calculation(self, model):
        pass


def by_file(net, folder):
    net.save(folder / "n.zip")
    return MultiLayerNetwork.load(folder / "n.zip")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("listeners", [(), (Silent(),)], ids=["straight", "told"])
@pytest.mark.parametrize("copied", [lambda net, folder: net.clone(), by_file], ids=["clone", "save"])
def test_copies_are_whole_steps(steps, tmp_path, copied, listeners):
    net = network()
    net.set_listeners(*listeners)
    fitting = threading.Thread(target=lambda: [net.fit(X, Y) for _ in range(STEPS)])
    fitting.start()
    seen = set()
    while fitting.is_alive():
        seen.add(state(copied(net, tmp_path)))
    fitting.join()
    assert seen <= steps


@pytest.mark.parametrize("put", [lambda net, k: net.set_params(np.full(net.num_params(), 1e6 + k)),
                                 lambda net, k: net.set_param("0_W", np.full((3, 300), 1e6 + k))], ids=["params", "param"])
def test_what_is_set_is_set_whole(put):
    net = network()
    ended = threading.Event()

    def fit():
        while not ended.is_set():
            net.fit(X, Y)
    fitting = threading.Thread(target=fit)
    fitting.start()
    try:
        for k in range(100):
            put(net, k * 1000.0)
            weights = net.clone().get_param("0_W")
            assert abs(weights - (1e6 + k * 1000)).max() < 500
    finally:
        ended.set()
        fitting.join()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("hook", ["iteration_start", "on_forward_pass", "on_gradient_calculation", "on_backward_pass", "iteration_done",
                                  "epoch_start", "epoch_end"])
@pytest.mark.parametrize("act", [by_file, lambda net, _: net.clone(), lambda net, _: net.output(X), lambda net, _: net.score(DataSet(X, Y)),
                                 lambda net, _: net.evaluate(ListDataSetIterator([DataSet(X, Y)])),
                                 lambda net, _: net.set_params(net.params()), lambda net, _: net.summary()],
                         ids=["save", "clone", "output", "score", "evaluate", "set_params", "summary"])
def test_listeners_may_wait_for_who_uses_the_network(tmp_path, hook, act):
    net, done = network(), []

    class Asking(Listener):
        def __init__(self):
            setattr(self, hook, self.ask)

        def ask(self, *_, **__):
            with ThreadPoolExecutor(1) as other:
                done.append(other.submit(act, net, tmp_path).result(60))
    net.set_listeners(Asking())
    net.fit(ListDataSetIterator([DataSet(X, Y)]), 1)
    assert done
