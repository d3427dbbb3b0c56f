"""dl4py's checks of every plug-in of the distribution, and all of them in a network and a graph, trained, saved and read again."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    DenseLayer,
    InputType,
    OutputLayer,
    RnnOutputLayer,
    check_activation,
    check_constraint,
    check_dropout,
    check_evaluation,
    check_initialiser,
    check_layer,
    check_loss,
    check_preprocessor,
    check_schedule,
    check_updater,
    check_vertex,
)
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import DataSet
from dl4py.udf import check_op
from tests.plugins import layers, ops, others

RNG = np.random.default_rng(0)
X, Y, Z = RNG.normal(size=(3, 3, 4))
ROWS, SERIES = InputType.feed_forward(4), InputType.recurrent(4)
ONE_HOT, SHARES = np.eye(3)[RNG.integers(0, 3, 8)], RNG.dirichlet(np.ones(3), 8)

OPS = {            # the first one is quick
    "weighted_sum": (ops.weighted_sum, [X, Y, Z], {"weights": (1.0, 0.5, 2.0)}),
    "mish": (ops.mish, [X], {"beta": 1.5}), "quantise": (ops.quantise, [X], {}),
    "rms": (ops.rms, [X], {"axes": (0, 1), "keepdims": False}), "polar": (ops.polar, [X, Y], {}),
    "pick_rows": (ops.pick_rows, [X, np.array([2, 0])], {}), "ema": (ops.ema, [X], {}), "scaled": (ops.scaled, [X], {}),
    "jitter": (ops.jitter, [X], {}), "running_mean": (ops.running_mean, [X, Y[0]], {}),
    "props": (ops.props, [X.astype("f4")], {"times": 3, "table": {"add": 0.5}}), "added": (ops.Added, [X, Y], {}),
    "median_filter": (ops.median_filter, [X], {}), "cosine_attention": (ops.cosine_attention, [X, Y, Z], {}),
    "masked_mean": (ops.masked_mean, [X, (Y > 0) * 1.0], {}),
}

PARTS = {          # the first one is quick
    "squash": lambda: check_layer(layers.squash(scale=2.0), ROWS),
    "DenseNorm": lambda: check_layer(layers.DenseNorm(n_out=3), ROWS),
    "SelfAttention": lambda: check_layer(layers.SelfAttention(), SERIES),
    "ResidualBlock": lambda: check_layer(layers.ResidualBlock(blocks=(DenseLayer(n_out=5), DenseLayer(n_out=4))), ROWS),
    "Gru": lambda: check_layer(layers.Gru(n_out=3), SERIES),
    "MarginOutput": lambda: check_layer(layers.MarginOutput(n_out=3), ROWS),
    "MyBatchNorm": lambda: check_layer(layers.MyBatchNorm(), ROWS),
    "GatedMix": lambda: check_vertex(layers.GatedMix(), ROWS, ROWS, ROWS),
    "product": lambda: check_vertex(layers.product(), ROWS, ROWS),
    "Bucketed": lambda: check_layer(layers.Bucketed(n_out=3), np.array([[3.0], [17.0], [9.0]])),
    "angles": lambda: check_layer(layers.angles(), ROWS),
    "ActivationMish": lambda: check_activation(others.ActivationMish(beta=1.5)),
    "Huber": lambda: check_loss(others.Huber(), ONE_HOT, SHARES),
    "Lion": lambda: check_updater(others.Lion(0.01)),
    "WarmUp": lambda: check_schedule(others.WarmUp(0.1, 5)),
    "Orthant": lambda: check_initialiser(others.Orthant()),
    "ScaleNoise": lambda: check_dropout(others.ScaleNoise()),
    "Flat": lambda: check_preprocessor(others.Flat(), InputType.convolutional(2, 3, 4)),
    "Clipped": lambda: check_constraint(others.Clipped(0.5)),
    "Brier": lambda: check_evaluation(others.Brier(), ONE_HOT, SHARES),
}


@pytest.mark.sampled(15)
@pytest.mark.parametrize("name", OPS)
def test_ops(name):
    op, inputs, attributes = OPS[name]
    check_op(op, inputs, attributes).raise_if_failed()


@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", PARTS)
def test_parts(name):
    PARTS[name]().raise_if_failed()


def test_a_network_of_them(tmp_path):
    scores = others.Scores()
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater(others.Lion(others.WarmUp(0.01, 3))).list(
        layers.DenseNorm(n_out=4, dropout=others.ScaleNoise(0.1), weight_init=others.Orthant()), layers.MyBatchNorm(),
        layers.ResidualBlock(blocks=(DenseLayer(n_out=4, activation=others.ActivationMish(), constraints=(others.Clipped(0.5),)),)),
        layers.squash(), OutputLayer(n_out=3, activation="identity", loss_function=others.Huber(0.5)),
    ).set_input_type(ROWS).build()).init()
    net.set_listeners(scores)
    x = RNG.normal(size=(8, 4))
    net.fit(x, ONE_HOT, epochs=30)
    assert scores.scores[-1] < 0.8 * scores.scores[0]
    net.save(tmp_path / "n.zip")
    again = MultiLayerNetwork.load(tmp_path / "n.zip", missing="error")
    assert again == net and type(again.configuration).from_json(net.configuration.to_json()) == net.configuration
    evaluation = net.do_evaluation([DataSet(x, ONE_HOT)], others.Brier())[0]
    assert evaluation.rows == 8 and others.Brier.from_json(evaluation.to_json()).stats() == evaluation.stats()


@pytest.mark.slow
def test_a_graph_of_them(tmp_path):
    graph = (NeuralNetConfiguration.Builder().seed(1).updater(others.Lion()).graph_builder().add_inputs("x")
             .add_layer("seen", layers.SelfAttention(), "x").add_layer("steps", layers.Gru(n_out=4), "seen")
             .add_vertex("both", layers.product(), "seen", "steps").add_vertex("mixed", layers.GatedMix(), "x", "both", "steps")
             .add_layer("out", RnnOutputLayer(n_out=3), "mixed").set_outputs("out").set_input_types(SERIES).build())
    net, x = ComputationGraph(graph).init(), RNG.normal(size=(2, 4, 5))
    y = np.eye(3)[RNG.integers(0, 3, (2, 5))].transpose(0, 2, 1)
    before = net.score(DataSet(x, y))
    net.fit(x, y, epochs=20)
    assert net.score(DataSet(x, y)) < before
    net.save(tmp_path / "g.zip")
    again = ComputationGraph.load(tmp_path / "g.zip", missing="error")
    assert again == net
    whole = net.output_single(x)
    pieces = [again.rnn_time_step(x[:, :, t:t + 1])[0] for t in range(5)]
    assert np.isfinite(whole).all() and len(pieces) == 5
