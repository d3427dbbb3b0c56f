"""Whatever hands a network on hands it on whole: each public answer, and training that goes on bit by bit."""
from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dl4py.layers import LSTM, AutoEncoder, DenseLayer, OutputLayer, RnnOutputLayer
from dl4py.networks import (
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingGraphTrainer,
    EarlyStoppingTrainer,
    InMemoryModelSaver,
    LocalFileGraphSaver,
    LocalFileModelSaver,
    MaxEpochsTerminationCondition,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    ParallelWrapper,
)
from dl4py.samediff import DataSet
from dl4py.samediff.training import Adam, ExponentialSchedule, Nesterovs, StepSchedule

RNG = np.random.default_rng(5)
X = RNG.normal(size=(6, 4)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1, 2]]
DATA = [DataSet(X[:4], Y[:4]), DataSet(X[4:], Y[4:])]
SCHEDULES = {"epoch": Adam(StepSchedule("EPOCH", 0.1, 0.5, 1.0)), "iteration": Nesterovs(ExponentialSchedule("ITERATION", 0.1, 0.9), 0.9)}


def plain(schedule: str = "epoch", dropout: float | None = 0.8, algorithm: str | None = None) -> MultiLayerNetwork:
    builder = NeuralNetConfiguration.Builder().seed(1).updater(SCHEDULES[schedule])
    if algorithm is not None:
        builder = builder.optimization_algo(algorithm)
    return MultiLayerNetwork(builder.list(DenseLayer(n_in=4, n_out=5, activation="tanh", dropout=dropout),
                                          OutputLayer(n_in=5, n_out=3)).build()).init()


def pretrained() -> MultiLayerNetwork:
    conf = NeuralNetConfiguration.Builder().seed(1).updater(SCHEDULES["epoch"]).list(
        AutoEncoder(n_in=4, n_out=5, activation="sigmoid"), OutputLayer(n_in=5, n_out=3)).build()
    net = MultiLayerNetwork(conf).init()
    net.pretrain(X, 2)
    return net


def recurrent() -> MultiLayerNetwork:
    conf = NeuralNetConfiguration.Builder().seed(1).updater(SCHEDULES["iteration"]).list(
        LSTM(n_in=1, n_out=3), RnnOutputLayer(n_in=3, n_out=2)).build()
    return MultiLayerNetwork(conf).init()


def fitted(kind: str) -> Any:
    """A network of a kind in the middle of its work."""
    if kind == "recurrent":
        net: Any = recurrent().fit(X[:, None], np.stack([X > 0, X <= 0], 1).astype(np.float32))
        net.rnn_time_step(X[:, None])
        return net
    net = {"list": plain, "graph": lambda: plain().to_computation_graph(), "pretrained": pretrained,
           "L-BFGS": lambda: plain(algorithm="LBFGS"), "conjugate gradient": lambda: plain(algorithm="CONJUGATE_GRADIENT")}[kind]()
    net.fit(DATA, epochs=2)
    net.output(X, train=True)                    # draws numbers
    return net


def go_on(kind: str, net: Any) -> Any:
    if kind == "recurrent":
        return net.rnn_time_step(X[:, None, :2])
    if kind == "pretrained":
        net.pretrain(X, 2)
    return net.fit(DATA, epochs=2).params()


KINDS = ["list", "graph", "pretrained", "recurrent", "L-BFGS", "conjugate gradient"]
COPIES: dict[str, Callable[[Any], Any]] = {
    "clone": lambda net: net.clone(), "copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda net: pickle.loads(pickle.dumps(net)),
    "best in memory": lambda net: kept(InMemoryModelSaver(), net)}
#: What changes a network, makes something, or belongs to the object itself.
NO_ANSWERS = ("clear", "close", "init", "reset", "fit", "set", "clone", "increment", "print", "compute", "backprop", "update_rnn",
              "pretrain", "profile", "engine", "trainer", "last_training_step", "listeners", "to_computation_graph", "toComputationGraph",
              "report")             # which says when it was made


def kept(saver: Any, net: Any) -> Any:
    saver.save_best_model(net, 0.5)
    return saver.get_best_model()


def answers(net: Any) -> dict[str, Any]:
    """What all public attributes and methods without arguments say."""
    found: dict[str, Any] = {}
    for name in dir(type(net)):
        if name.startswith("_") or any(part in name.lower() for part in NO_ANSWERS):
            continue
        value = getattr(net, name)
        if callable(value):
            needed = [p for p in inspect.signature(value).parameters.values() if p.default is p.empty and p.kind not in (
                p.VAR_POSITIONAL, p.VAR_KEYWORD)]
            if needed:
                continue
            try:
                value = value()
            except Exception as error:        # an answer too
                value = repr(error)
        found[name] = _plain(value)
    found["output"], found["sampled"] = _plain(net.output(sample(net))), _plain(net.output(sample(net), train=True))
    return found


def sample(net: Any) -> Any:
    return X[:, None] if "LSTM" in repr(net.configuration) else X


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if hasattr(value, "gradient_for_variable"):
        return _plain(value.gradient_for_variable())
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else repr(value).partition(" at 0x")[0]


@pytest.mark.sampled(32)
@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("kind", KINDS)
def test_copies(kind, way):
    net = fitted(kind)
    other = COPIES[way](net)
    wanted, found = answers(net), answers(other)
    assert len(wanted) > 50
    assert not {name: (wanted[name], found[name]) for name in wanted if wanted[name] != found[name]}
    np.testing.assert_array_equal(go_on(kind, other), go_on(kind, net))
    assert other.score() == net.score() and other.get_iteration_count() == net.get_iteration_count()


def zipped(net: Any, folder: Any) -> Any:
    net.save(folder / "net.zip")
    return type(net).load(folder / "net.zip")


FILES: dict[str, Callable[[Any, Any], Any]] = {
    "zip": zipped, "best on disk": lambda net, folder: kept((LocalFileModelSaver if isinstance(net, MultiLayerNetwork)
                                                             else LocalFileGraphSaver)(folder), net)}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("way", FILES)
@pytest.mark.parametrize("as_graph", [False, True])
def test_files(way, schedule, as_graph, tmp_path):
    net: Any = plain(schedule)
    net = (net.to_computation_graph() if as_graph else net).fit(DATA, epochs=2)
    other = FILES[way](net, tmp_path)
    assert (other.get_iteration_count(), other.get_epoch_count()) == (4, 2)
    np.testing.assert_array_equal(other.fit(DATA, epochs=2).params(), net.fit(DATA, epochs=2).params())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("saver", ["memory", "disk"])
@pytest.mark.parametrize("as_graph", [False, True])
def test_training_goes_on_from_the_best_model(saver, schedule, as_graph, tmp_path):
    """Two epochs and two more, by early stopping or without, end where four do."""
    wanted, net = plain(schedule), plain(schedule)
    graph = wanted.to_computation_graph(), net.to_computation_graph()
    whole, begun = graph if as_graph else (wanted, net)
    whole.fit(DATA, epochs=4)

    def stopped(network: Any) -> Any:
        keeps = InMemoryModelSaver() if saver == "memory" else (LocalFileGraphSaver if as_graph else LocalFileModelSaver)(tmp_path)
        conf = (EarlyStoppingConfiguration.Builder().epoch_termination_conditions(MaxEpochsTerminationCondition(2))
                .score_calculator(DataSetLossCalculator(DATA)).model_saver(keeps).save_last_model(True).build())
        (EarlyStoppingGraphTrainer if as_graph else EarlyStoppingTrainer)(conf, network, DATA).fit()
        return keeps.get_latest_model()
    first = stopped(begun)
    assert begun.get_epoch_count() == first.get_epoch_count() == 2 and begun == first
    plainly = copy.copy(first).fit(DATA, epochs=2)
    again = stopped(first)
    for found in (begun.fit(DATA, epochs=2), plainly, again):
        np.testing.assert_array_equal(found.params(), whole.params())
        assert found.get_epoch_count() == 4


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_workers_go_on_where_the_network_is(schedule):
    """Two workers that get the same batch are one: the mean of equal parameters is each of them."""
    net = plain(schedule, None).fit(DATA, epochs=2)
    other = net.clone()
    with ParallelWrapper.Builder(net).workers(2).averaging_frequency(1).prefetch_buffer(0).build() as wrapper:
        for _ in range(2):
            wrapper.fit([batch for batch in DATA for _ in range(2)])
            net.increment_epoch_count()
    np.testing.assert_array_equal(net.params(), other.fit(DATA, epochs=2).params())
