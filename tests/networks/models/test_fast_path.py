"""Steps in one call: the same parameters, scores and updater state as forward, backward and update one by one."""
from __future__ import annotations

import sys

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    AlphaDropout,
    BatchNormalization,
    DenseLayer,
    DropConnect,
    DropoutLayer,
    GaussianDropout,
    InputType,
    OutputLayer,
    RnnOutputLayer,
)
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import DataSet, NumpyDataSetIterator
from dl4py.samediff.device import devices
from dl4py.samediff.errors import NumericalError, ShapeError
from dl4py.samediff.training import Adam, GradientNormalization, Listener, Nesterovs, StepSchedule

pytestmark = pytest.mark.plans


class Watcher(Listener):
    """Makes every step stop between gradient and update."""

    def on_gradient_calculation(self, model):
        self.seen = model.gradient()


def batches(count=6, rows=(8, 8, 5), seed=3):
    rng = np.random.default_rng(seed)
    sizes = [rows[k % len(rows)] for k in range(count)]
    return [DataSet(rng.standard_normal((n, 4)).astype("f"), np.eye(3, dtype="f")[rng.integers(0, 3, n)]) for n in sizes]


def network(*layers, **options):
    builder = NeuralNetConfiguration.Builder().seed(5).updater(options.pop("updater", Adam(0.01)))
    for name, value in options.items():
        getattr(builder, name)(*value if isinstance(value, tuple) else (value,))
    conf = builder.list(*layers, OutputLayer(n_out=3)).set_input_type(InputType.feed_forward(4)).build()
    return MultiLayerNetwork(conf).init()


def same(a, b):
    np.testing.assert_array_equal(a.params(), b.params())
    np.testing.assert_array_equal(a.engine.flat.state, b.engine.flat.state)
    assert a.score() == b.score()
    assert a.get_iteration_count() == b.get_iteration_count()
    assert a.batch_size() == b.batch_size()


DENSE = {"plain": ([DenseLayer(n_out=7, activation="tanh")], {}),
         "penalties": ([DenseLayer(n_out=7, activation="relu")], {"l2": 0.01, "l1": 0.02}),
         "weight decay": ([DenseLayer(n_out=7, activation="relu")], {"weight_decay": (0.01, True)}),
         "schedule": ([DenseLayer(n_out=7, activation="relu")], {"updater": Nesterovs(StepSchedule("iteration", 0.1, 0.5, 2), 0.9)}),
         "batch norm": ([DenseLayer(n_out=7), BatchNormalization()], {}),
         "dropout": ([DenseLayer(n_out=7), DropoutLayer(0.5)], {}),
         "dropouts": ([DenseLayer(n_out=7, dropout=AlphaDropout(0.8)), DropoutLayer(0.7),
                       DenseLayer(n_out=6, weight_noise=DropConnect(0.8))], {}),
         "noise": ([DenseLayer(n_out=7, dropout=GaussianDropout(0.2))], {}),
         **{mode.name: ([DenseLayer(n_out=7), BatchNormalization()],
                        {"gradient_normalization": mode, "gradient_normalization_threshold": 0.1, "l2": 0.01})
            for mode in GradientNormalization},
         "sums": ([DenseLayer(n_out=7)], {"mini_batch": False})}


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", DENSE)
def test_steps_agree(name):
    layers, options = DENSE[name]
    data = batches()
    whole, parts = (network(*layers, **options) for _ in range(2))
    parts.set_listeners(Watcher())
    whole.fit(data, 2)
    parts.fit(data, 2)
    same(whole, parts)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", DENSE)
def test_single_steps_agree_with_epochs(name):
    layers, options = DENSE[name]
    data = batches()
    epochs, singles = (network(*layers, **options) for _ in range(2))
    epochs.fit(data)
    for one in data:
        singles.fit(one)
    same(epochs, singles)


@pytest.mark.parametrize("name", ["plain", "batch norm", "dropout", "dropouts"])
def test_these_take_one_native_call(name):
    layers, options = DENSE[name]
    net = network(*layers, **options)
    net.fit(batches(), 2)
    assert len(net.engine.steps.known) == 2 and all(k.compiled is not None for k in net.engine.steps.known.values())


def test_whole_steps_draw_for_the_seed_of_the_network():
    found = []
    for seed in (1, 2, 1):
        net = network(*DENSE["dropout"][0])
        net.engine.progress.seed = seed
        net.fit(batches(), 2)
        found.append(net.params())
    np.testing.assert_array_equal(found[0], found[2])
    assert (found[0] != found[1]).any()


def test_a_graph_of_two_inputs():
    rng = np.random.default_rng(0)
    conf = (NeuralNetConfiguration.Builder().seed(2).updater(Adam(0.02)).graph_builder().add_inputs("a", "b")
            .add_layer("h", DenseLayer(n_out=5, activation="tanh"), "a", "b").add_layer("out", OutputLayer(n_out=2), "h").set_outputs("out")
            .set_input_types(InputType.feed_forward(3), InputType.feed_forward(2)).build())
    whole, parts = ComputationGraph(conf).init(), ComputationGraph(conf).init()
    parts.set_listeners(Watcher())
    for _ in range(4):
        a, b = rng.standard_normal((6, 3)).astype("f"), rng.standard_normal((6, 2)).astype("f")
        y = np.eye(2, dtype="f")[rng.integers(0, 2, 6)]
        for net in (whole, parts):
            net.fit([a, b], [y])
    same(whole, parts)


def test_masks_and_lists_take_the_long_way():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((4, 3, 5)).astype("f"), np.zeros((4, 2, 5), "f")
    y[:, 0] = 1
    mask = np.ones((4, 5), "f")
    mask[1, 3:] = 0
    conf = (NeuralNetConfiguration.Builder().seed(2).updater(Adam(0.02)).list(LSTM(n_out=4), RnnOutputLayer(n_out=2))
            .set_input_type(InputType.recurrent(3)).build())
    nets = [MultiLayerNetwork(conf).init() for _ in range(2)]
    nets[1].set_listeners(Watcher())
    for net in nets:
        net.fit([DataSet(x, y), DataSet(x, y, mask, mask), DataSet(x, y)] * 2)
    same(*nets)


def test_arrays_in_any_memory():
    data = batches(4, (8,))
    turned = [DataSet(np.asfortranarray(d.features), np.repeat(d.labels, 2, 1)[:, ::2]) for d in data]
    a, b = network(DenseLayer(n_out=7)), network(DenseLayer(n_out=7))
    a.fit(data, 2)
    b.fit(turned, 2)
    same(a, b)


def test_a_listener_that_comes_later_is_heard():
    net = network(DenseLayer(n_out=7))
    net.fit(batches(3))
    heard = Watcher()
    net.set_listeners(heard)
    net.fit(batches(1))
    assert heard.seen is not None
    assert not net.trainer.takes_compiled_steps()


def test_a_batch_that_does_not_fit_changes_nothing():
    net = network(DenseLayer(n_out=7))
    data = batches(3, (8,))
    net.fit(data)
    before, count = net.params().copy(), net.get_iteration_count()
    with pytest.raises(ShapeError):
        net.fit([DataSet(np.zeros((8, 5), "f"), data[0].labels)])
    np.testing.assert_array_equal(net.params(), before)
    assert net.get_iteration_count() == count


def test_parameters_set_from_outside_count():
    a, b = network(DenseLayer(n_out=7)), network(DenseLayer(n_out=7))
    data = batches(2, (8,))
    a.fit(data)
    a.set_params(b.params())
    a.engine.flat.state[...] = 0
    a.engine.progress.iteration = 0
    for net in (a, b):
        net.fit(data)
    same(a, b)


def test_gradients_of_the_last_step_stay_readable():
    a, b = network(DenseLayer(n_out=7)), network(DenseLayer(n_out=7))
    b.set_listeners(Watcher())
    for net in (a, b):
        net.fit(batches(4, (8,)))
    np.testing.assert_array_equal(a.gradient().gradient(), b.gradient().gradient())


class Counting:
    """Batches that overwrite each other: nobody may look ahead."""

    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        x, y = np.empty((8, 4), "f"), np.empty((8, 3), "f")
        for b in self.batches:
            x[...], y[...] = b.features, b.labels
            yield DataSet(x, y)

    def has_next(self):
        return True


@pytest.mark.parametrize("options", [{}, {"l2": 0.01}], ids=["plain", "penalties"])
def test_any_source_gives_the_same_steps(options):
    data = batches(9, (8,))
    x, y = (np.concatenate([getattr(d, part) for d in data]) for part in ("features", "labels"))
    sources = {"list": data, "iterator": NumpyDataSetIterator(x, y, 8), "generator": Counting(data)}
    nets = {name: network(DenseLayer(n_out=7), **options) for name in (*sources, "arrays", "watched")}
    nets["watched"].set_listeners(Watcher())
    nets["watched"].fit(data, 2)
    for name, source in sources.items():
        nets[name].fit(source, 2)
        same(nets[name], nets["watched"])
    nets["arrays"].fit(x, y, batch_size=8, epochs=2)
    same(nets["arrays"], nets["watched"])


def test_steps_before_a_failure_count():
    data = batches(6, (8,))

    def broken():
        yield from data[:5]
        raise RuntimeError("no more")
    ours, wanted = network(DenseLayer(n_out=7)), network(DenseLayer(n_out=7))
    with pytest.raises(RuntimeError, match="no more"):
        ours.fit(broken())
    wanted.fit(data[:5])
    same(ours, wanted)
    with pytest.raises(ShapeError):
        ours.fit([*data[:3], DataSet(np.zeros((8, 5), "f"), data[0].labels), data[3]])
    wanted.fit(data[:3])
    same(ours, wanted)


def test_long_lists_are_taken_in_series():
    data = batches(600, (8,))
    ours, wanted = network(DenseLayer(n_out=7)), network(DenseLayer(n_out=7))
    ours.fit(data)
    for one in data:
        wanted.fit(one)
    same(ours, wanted)
    known, = ours.engine.steps.known.values()
    assert 1 < known.most < 599


@pytest.mark.parametrize("change", [lambda net: net.set_learning_rate(0.001),
                                    lambda net: net.set_configuration(network(DenseLayer(n_out=7), l2=0.1).get_configuration())])
def test_settings_may_change_between_batches_that_come_again(change):
    """Whoever gives the batches may change the network: steps known from before would go into parameters that it no longer has."""
    data = batches(3)

    def given(net):
        for k in range(9):
            if k == 5:
                change(net)
            yield data[k % 3]
    straight, one_by_one = network(DenseLayer(n_out=7)), network(DenseLayer(n_out=7))
    straight.fit(given(straight))
    for one in given(one_by_one):
        one_by_one.fit(one)
    same(straight, one_by_one)


@pytest.mark.parametrize("given", [lambda data: (data,), lambda data: (data.features, data.labels)], ids=["data set", "arrays"])
def test_a_known_step_takes_few_calls(given, monkeypatch):
    monkeypatch.setattr(devices, "active", False)           # as in a process that uses none but the CPU
    monkeypatch.delenv("DL4PY_EXECUTOR", raising=False)     # reading it is work, too
    net, data = network(DenseLayer(n_out=7)), batches(1)[0]
    for _ in range(3):
        net.fit(*given(data))
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code) if event == "call" else None)
    try:
        net.fit(*given(data))
    finally:
        sys.setprofile(None)
    assert len(calls) <= 40
    assert len({code.co_filename for code in calls}) <= 11          # this one among them


class StepCounter(Listener):
    def __init__(self):
        self.count = 0

    def iteration_done(self, *args):
        self.count += 1


AFTERWARDS = {"mask": {"labels_mask": np.array([[0], [0], *[[1]] * 6], np.float32)}, "weights": {"sample_weight": np.arange(8)},
              "listener": {"listeners": StepCounter()}, "finite": {"check_finite": True}, "reference": {}}


@pytest.mark.parametrize("kind", AFTERWARDS)
def test_nothing_that_was_asked_for_is_passed_over(kind, monkeypatch):
    """Behind steps of the same form that needed nothing."""
    data, options = batches(1)[0], AFTERWARDS[kind]
    known, fresh, plain = (network(DenseLayer(n_out=7)) for _ in range(3))
    for _ in range(3):
        known.fit(data)
        plain.fit(data)
    fresh.engine.restore(known.engine.state())
    plain.fit(data)
    if kind == "reference":
        monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    for net in (known, fresh):
        net.fit(data.features, data.labels, **options)
    np.testing.assert_allclose(known.params(), fresh.params(), 1e-5, 1e-7)
    assert np.allclose(known.params(), plain.params(), 1e-6) == (kind in ("listener", "finite", "reference"))
    if kind == "listener":
        assert options["listeners"].count == 2
    if kind == "finite":
        data.features[0] = np.nan
        with pytest.raises(NumericalError):
            known.fit(data.features, data.labels, **options)
