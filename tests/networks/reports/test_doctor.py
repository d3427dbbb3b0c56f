"""The doctor of networks: findings before and while they train, learning rates that are tried."""
from __future__ import annotations

import math

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import ComputationGraph, LearningRateRange, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.commands import main
from dl4py.samediff.data import DataSet
from dl4py.samediff.errors import ConfigurationError, GraphError
from dl4py.samediff.training import AdaDelta, DoctorListener, Sgd

R = np.random.default_rng(0)
X = R.normal(size=(60, 4)).astype("f4")
Y = np.eye(2, dtype="f4")[(X[:, 0] > 0).astype(int)]


def network(updater=None, **options):
    layers = DenseLayer(n_in=4, n_out=10, activation="relu", **options), OutputLayer(n_in=10, n_out=2)
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(3).updater(updater or Sgd(0.1)).list(*layers).build()).init()


def test_a_healthy_network_stays_as_it_is():
    net = network()
    before = net.params()
    assert net.doctor(DataSet(X, Y)) == [] and np.array_equal(net.params(), before) and net.get_iteration_count() == 0


def test_what_is_wrong_is_found():
    net = network(Sgd(1e4), bias_init=-100.0)
    found = {f.kind: f.where for f in net.doctor(DataSet(X * [1, 1, 1, 900], Y * 3))}
    assert {"data not normalized", "labels out of range", "learning rate too high"} <= set(found)
    assert "dead units" in {f.kind for f in net.doctor(DataSet(X, Y), rates=False)}
    builder = NeuralNetConfiguration.Builder().graph_builder().add_inputs("a", "b").add_layer("out", OutputLayer(n_in=4, n_out=2), "a", "b")
    with pytest.raises(GraphError, match="one input and one output"):
        ComputationGraph(builder.set_outputs("out").build()).init().doctor(DataSet(X, Y))


def test_rates_are_tried_on_a_copy(tmp_path):
    net = network(Sgd(0.5))
    before = net.params()
    found = net.find_learning_rate(DataSet(X, Y), 1e-4, 1e4, 25)
    assert np.array_equal(net.params(), before) and found.present == 0.5
    assert found.rates[:2] == pytest.approx([1e-4, 1e-4 * 1e8 ** (1 / 24)]) and len(found.scores) == len(found.rates)
    assert 1e-3 < found.suggestion() <= found.limit()
    pytest.importorskip("matplotlib")
    (axes,) = found.plot(tmp_path / "rates.png").axes
    assert axes.lines[0].get_xdata().tolist() == pytest.approx(found.rates) and axes.get_xscale() == "log"
    for wrong in ((0.0, 1.0, 5), (1.0, 0.5, 5), (0.1, 1.0, 2)):
        with pytest.raises(ConfigurationError, match="range test goes"):
            net.find_learning_rate(DataSet(X, Y), *wrong)
    with pytest.raises(ConfigurationError, match="no updater of the network has a learning rate"):
        network(AdaDelta()).find_learning_rate(DataSet(X, Y))


def test_scores_of_a_trained_network_may_grow_a_little():
    scores = [0.01, 0.009, 0.05, 0.08, 9.0]
    limits = [LearningRateRange([1e-3, 1e-2, 1e-1, 1.0, 10.0], scores, 0.1, untrained).limit() for untrained in (0.0, 2.0)]
    assert limits == [1e-2, 1.0]


@pytest.mark.parametrize(("scores", "suggestion", "limit"), [
    ([2, 1.9, 1.0, 0.9, 8.0], 1e-1, 1.0), ([2, 2, 2, 2, 2], 10 / 3, 10), ([2, 3, math.inf, 1, 1], 1e-2 / 3, 1e-2)])
def test_rates_that_scores_suggest(scores, suggestion, limit):
    found = LearningRateRange([1e-3, 1e-2, 1e-1, 1.0, 10.0], scores, 0.1)
    assert (found.suggestion(), found.limit()) == (pytest.approx(suggestion), limit)


def test_the_listener_reports_once(caplog):
    net, listener = network(Sgd(0.1), bias_init=-100.0), DoctorListener(2)
    with caplog.at_level("INFO", "dl4py.training"):
        net.fit(X, Y, batch_size=20, epochs=2, listeners=listener)
    assert [f.kind for f in listener.findings if f.kind == "dead units"] == ["dead units"]
    assert len(caplog.records) == len(listener.findings)
    wild = DoctorListener(1000)
    with pytest.warns(UserWarning, match="score of epoch 1 is nan"):
        network(Sgd(1e20)).fit(X * 1e10, Y, batch_size=20, epochs=3, listeners=wild)
    assert "score runs away" in {f.kind for f in wild.findings}
    with pytest.raises(ConfigurationError, match="at least 1"):
        DoctorListener(0)


def test_the_command(tmp_path, capsys):
    net = network(Sgd(0.1))
    net.save(tmp_path / "net.zip")
    table = np.concatenate([X * [1, 1, 1, 500], Y.argmax(1)[:, None]], 1)
    np.savetxt(tmp_path / "data.csv", table, delimiter=",", header="a,b,c,d,class", comments="")
    assert main(["doctor", str(tmp_path / "net.zip"), str(tmp_path / "data.csv"), "--skip", "1"]) == 0
    told = capsys.readouterr().out
    assert "1. data not normalized in features: 1 of 4" in told and "suggested" in told
    assert main(["doctor", str(tmp_path / "net.zip"), str(tmp_path / "data.csv"), "--skip", "1", "--label", "9"]) == 1
    assert "no column 9 for the label" in capsys.readouterr().err
