"""DL4J's signatures of output, feedForward, activate and backpropGradient, with true and false where Java has them."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import DenseLayer, MergeVertex, OutputLayer
from dl4py.networks import ComputationGraph, NeuralNetConfiguration
from dl4py.samediff.errors import GraphError
from tests.helpers.networkcheck import network

RNG = np.random.default_rng(1)
A, B, Y = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2)), np.eye(2)[[0, 1, 0]]
ONES = np.ones((3, 1))


@pytest.fixture
def net():
    made = network(DenseLayer(n_in=2, n_out=4, dropout=0.5), OutputLayer(n_in=4, n_out=2))
    made.set_input(A)
    return made


@pytest.fixture
def graph():
    layer = {"n_in": 2, "n_out": 3, "activation": "tanh"}
    builder = NeuralNetConfiguration.Builder().seed(1).data_type("DOUBLE").graph_builder().add_inputs("a", "b")
    made = ComputationGraph(builder.add_layer("l", DenseLayer(**layer, dropout=0.5), "a").add_layer("r", DenseLayer(**layer), "b")
                            .add_vertex("m", MergeVertex(), "l", "r").add_layer("o", OutputLayer(n_in=6, n_out=2), "m")
                            .set_outputs("o").build()).init()
    made.set_inputs(A, B)
    return made


def same(found, wanted):
    found, wanted = [list(v.values()) if isinstance(v, dict) else v if isinstance(v, (list, tuple)) else [v] for v in (found, wanted)]
    assert len(found) == len(wanted) > 0
    for f, w in zip(found, wanted):
        np.testing.assert_array_equal(f, w)


@pytest.mark.parametrize("form, wanted", [
    (lambda n: n.feedForward(True), lambda n: n.feed_forward(train=True)), (lambda n: n.feedForward(False), lambda n: n.feed_forward(A)),
    (lambda n: n.feedForward(True, False), lambda n: n.feed_forward(train=True)),
    (lambda n: n.feedForward(np.True_), lambda n: n.feed_forward(train=True)),
    (lambda n: n.feedForward(A, False), lambda n: n.feed_forward(A)),
    (lambda n: n.feedForward(A, ONES, ONES), lambda n: n.feed_forward(A, features_mask=ONES, labels_mask=ONES)),
    (lambda n: n.feedForward(A, None, None), lambda n: n.feed_forward(A)),
    (lambda n: n.feedForwardToLayer(0, True), lambda n: n.feed_forward(train=True)[:2]),
    (lambda n: n.feedForwardToLayer(0, A, False), lambda n: n.feed_forward(A)[:2]),
    (lambda n: n.activate(True), lambda n: n.feed_forward(train=True)[-1]), (lambda n: n.activate(A, False), lambda n: n.output(A)),
    (lambda n: n.output(A, False), lambda n: n.output(A)), (lambda n: n.output(A, False, None, None), lambda n: n.output(A)),
    (lambda n: n.backpropGradient(Y, None)[1], lambda n: n.backprop_gradient(Y)[1])], ids=range(14))
def test_lists(net, form, wanted):
    same(form(net), wanted(net))


@pytest.mark.parametrize("form, wanted", [
    (lambda n: n.feedForward(True), lambda n: n.feed_forward(train=True)),
    (lambda n: n.feedForward([A, B], False), lambda n: n.feed_forward(A, B)),
    (lambda n: n.feedForward([A, B], False, True), lambda n: n.feed_forward(A, B)),
    (lambda n: n.output(False, A, B), lambda n: n.output(A, B)), (lambda n: n.output(False, [A, B]), lambda n: n.output(A, B)),
    (lambda n: n.output(False, [A, B], None), lambda n: n.output(A, B)), (lambda n: n.output(False, None, A, B), lambda n: n.output(A, B)),
    (lambda n: n.output(False, True, A, B), lambda n: n.output(A, B)), (lambda n: n.output(np.False_, A, B), lambda n: n.output(A, B)),
    (lambda n: n.output(False, [A, B], [ONES, ONES], [ONES]),
     lambda n: n.output(A, B, features_masks=[ONES, ONES], labels_masks=[ONES])),
    (lambda n: n.output(["m", "o"], False, [A, B], None), lambda n: [n.feed_forward(A, B)[k] for k in ("m", "o")]),
    (lambda n: n.outputSingle(False, A, B), lambda n: n.output_single(A, B)),
    (lambda n: n.outputSingle(False, False, A, B), lambda n: n.output_single(A, B)),
    (lambda n: n.backpropGradient(Y, None).gradient(), lambda n: n.backprop_gradient(Y).gradient())], ids=range(14))
def test_graphs(graph, form, wanted):
    same(form(graph), wanted(graph))


@pytest.mark.parametrize("args, names", [
    ((True, True, True), "ablrm"), ((True, True, False), "ablr"), ((False, False, True), "ablrmo"), ((False, False, False), "ablro"),
    ((False, 0), "abl"), ((1, True), "ablr"), (([A, B], 0, False), "abl"), (([A, B], 1, False), "ablr"),
    (([A, B], 2, True, False), "ablrmo")])
def test_parts_of_graphs(graph, args, names):
    """What DL4J 1.0.0-M2.1 gives: numbers count layers in the order in which they run."""
    assert sorted(graph.feed_forward(*args)) == sorted(names)


def test_training_and_inference_are_told_apart(net, graph):
    for _ in range(3):          # dropout
        if not np.array_equal(net.feed_forward(True)[1], net.feed_forward(False)[1]):
            break
    else:
        raise AssertionError
    assert (graph.output(True, A, B)[0] != graph.output(False, A, B)[0]).any()


def test_inputs_that_are_shown_are_copies(net, graph):
    for found, given in [(net.feed_forward(A)[0], A), (net.feed_forward()[0], A), (graph.feed_forward(A, B)["b"], B),
                         (graph.feed_forward()["a"], A)]:
        np.testing.assert_array_equal(found, given)
        assert not np.shares_memory(found, given)


@pytest.mark.parametrize("act", [
    lambda n, g: n.output(True, A), lambda n, g: n.output(A, ONES), lambda n, g: n.output(A, None), lambda n, g: g.output(A, B, True),
    lambda n, g: g.output(True), lambda n, g: g.feed_forward(A, B, 3), lambda n, g: g.feed_forward(A, B, -1),
    lambda n, g: g.feed_forward(1, 2),
    lambda n, g: g.backprop_gradient(Y, Y), lambda n, g: g.output(["q"], False, [A, B], None)], ids=range(10))
def test_what_is_no_form_is_refused(net, graph, act):
    with pytest.raises((GraphError, KeyError)):
        act(net, graph)
