"""Sizes in turn, each another one: what is kept for them has an end, and what is not kept is gone."""
from __future__ import annotations

import gc
import threading
import weakref
from collections import Counter

import numpy as np
import pytest

from dl4py.layers import LSTM, DenseLayer, OutputLayer, RnnOutputLayer
from dl4py.networks import ComputationGraph, NeuralNetConfiguration
from dl4py.samediff import DataSet, DataType, SameDiff, TrainingConfig
from dl4py.samediff.base import call_cache
from dl4py.samediff.cpu.native import instruction
from dl4py.samediff.families.decomposed import composition
from dl4py.samediff.plans.plan import Plan
from dl4py.samediff.training import Sgd
from tests.helpers.networkcheck import network

pytestmark = pytest.mark.slow

MOST = 5


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(call_cache, "MAX_ENTRIES", MOST)


def rows(n):
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, 4)), np.eye(3)[rng.integers(0, 3, n)]


def series(n):
    rng = np.random.default_rng(n)
    return rng.normal(size=(2, 4, n)), np.eye(3)[rng.integers(0, 3, (2, n))].transpose(0, 2, 1)


def dense():
    return network(DenseLayer(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=3))


def recurrent():
    return network(LSTM(n_in=4, n_out=5), RnnOutputLayer(n_in=5, n_out=3))


def graph():
    conf = (NeuralNetConfiguration.Builder().seed(1).data_type("DOUBLE").graph_builder().add_inputs("in")
            .add_layer("h", DenseLayer(n_in=4, n_out=5), "in").add_layer("y", OutputLayer(n_in=5, n_out=3), "h").set_outputs("y").build())
    return ComputationGraph(conf).init()


def same_diff(training):
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.DOUBLE, -1, 4), sd.placeholder("y", DataType.DOUBLE, -1, 3)
    found = sd.nn.softmax("p", x.mmul(sd.var("w", np.ones((4, 3)))))
    sd.loss.mean_squared_error("loss", y, found)
    sd.set_training_config(TrainingConfig(updater=Sgd(0.1), data_set_feature_mapping=["x"], data_set_label_mapping=["y"]))
    return (lambda n: sd.fit(DataSet(*rows(n)), 1)) if training else (lambda n: sd.output({"x": rows(n)[0]}, "p"))


def call(make, *methods):
    def made():
        net = make()
        return lambda n: [method(net, n) for method in methods]
    return made


USES = {
    "output": call(dense, lambda net, n: net.output(rows(n)[0])),
    "output of a graph": call(graph, lambda net, n: net.output(rows(n)[0])),
    "fit": call(dense, lambda net, n: net.fit(*rows(n))),
    "fit with masks": call(dense, lambda net, n: net.fit(DataSet(*rows(n), None, np.ones((n, 1))))),
    "fit of a graph": call(graph, lambda net, n: net.fit(DataSet(*rows(n)))),
    "score": call(dense, lambda net, n: net.score(DataSet(*rows(n)))),
    "gradients of inputs": call(dense, lambda net, n: net.calculate_gradients(*rows(n))),
    "a layer of a network": call(dense, lambda net, n: net.get_layer(0).activate(rows(n)[0], False)),
    "lengths of series": call(recurrent, lambda net, n: net.output(series(n)[0]), lambda net, n: net.fit(*series(n))),
    "recurrent state": call(recurrent, lambda net, n: net.rnn_time_step(series(n)[0]), lambda net, n: net.rnn_clear_previous_state()),
    "output of SameDiff": lambda: same_diff(False),
    "fit of SameDiff": lambda: same_diff(True),
}


def alive():
    """How many objects of each class of the library there are, without those of a cache that is full later."""
    composition.cache_clear()
    gc.collect()
    return Counter(type(o).__qualname__ for o in gc.get_objects() if str(type(o).__module__).startswith("dl4py"))


@pytest.mark.parametrize("use", USES)
def test_nothing_grows_with_the_number_of_sizes(use):
    others = alive()["NativePlan"]          # of tests before this one, in caches with a bound
    job = USES[use]()
    for n in range(60, 60 - 4 * MOST, -1):
        job(n)
    before, compiled = alive(), instruction.entry_of_generated.cache_info().currsize
    for n in range(60 - 4 * MOST, 60 - 9 * MOST, -1):
        job(n)
    grown = {name: count - before[name] for name, count in alive().items() if count - before[name] > 3}
    assert not grown
    assert instruction.entry_of_generated.cache_info().currsize == compiled        # kernels serve every size
    assert before["NativePlan"] - others < 12 * MOST and (composition.cache_info().maxsize or 0) < 1000


def all_plans():
    return [o for o in gc.get_objects() if type(o).__name__ == "NativePlan"]


def test_memory_of_a_plan_goes_with_it():
    net = dense()
    gc.collect()
    before = all_plans()
    net.output(rows(7)[0])
    plan = weakref.ref(next(p for p in all_plans() if not any(p is q for q in before) and p.specs[p.feeds[0]].shape == (7, 4)))
    arena = weakref.ref(plan()._pool[0]._arena)
    gc.disable()
    try:
        for n in range(8, 8 + 2 * MOST):
            net.output(rows(n)[0])
        assert plan() is None and arena() is None
    finally:
        gc.enable()


def test_large_arenas_make_room_for_each_other(monkeypatch):
    monkeypatch.setattr(call_cache, "MAX_BYTES", 40_000)
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.DOUBLE, -1)
    (sd.math.tanh(x) * x.sum()).sum().rename("y")
    for n in range(3000, 3000 + MOST):
        sd.output({"x": np.ones(n)}, "y")
    kept = sd.tables.plans.built
    assert 0 < sum(isinstance(p, Plan) for p in kept.values()) <= call_cache.LAST_FEW


def test_plans_that_run_may_be_forgotten():
    """Threads with more sizes than are kept get what one thread gets."""
    net = dense()
    wanted = {n: net.output(rows(n)[0]) for n in range(1, 4 * MOST)}
    wrong = []

    def work(first):
        for k in range(150):
            n = 1 + (first * 5 + k) % (4 * MOST - 1)
            if not np.array_equal(net.output(rows(n)[0]), wanted[n]):
                wrong.append(n)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
