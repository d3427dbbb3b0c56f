"""States of recurrent layers between calls."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    Bidirectional,
    DenseLayer,
    FrozenLayer,
    GlobalPoolingLayer,
    GravesBidirectionalLSTM,
    OutputLayer,
    RnnOutputLayer,
    SimpleRnn,
    TimeDistributed,
)
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.errors import GraphError
from tests.helpers.networkcheck import network

X = np.random.default_rng(9).normal(size=(3, 2, 6))


def recurrent(as_graph):
    net = network(LSTM(n_in=2, n_out=4), SimpleRnn(n_in=4, n_out=3), RnnOutputLayer(n_in=3, n_out=2))
    return net.to_computation_graph() if as_graph else net


def pieces(net, as_graph, *options):
    given = [X[:, :, :2], X[:, :, 2:]]
    if as_graph:
        return [net.rnn_activate_using_stored_state([x], *options) for x in given]
    return [dict(zip(("in", "0", "1", "2"), net.rnn_activate_using_stored_state(x, *options))) for x in given]


@pytest.mark.slow
@pytest.mark.parametrize("as_graph", [False, True])
def test_pieces_of_series(as_graph):
    net = recurrent(as_graph)
    whole = net.feed_forward(X) if as_graph else dict(zip(("in", "0", "1", "2"), net.feed_forward(X)))
    kept = pieces(net, as_graph, False, True)
    assert not net.rnn_get_previous_states()
    for name, wanted in whole.items():
        np.testing.assert_allclose(np.concatenate([p[name] for p in kept], 2), wanted, rtol=1e-12)
    net.rnn_clear_previous_state()
    forgotten = pieces(net, as_graph)
    np.testing.assert_allclose(forgotten[0]["2"], whole["2"][:, :, :2])
    assert np.abs(forgotten[1]["2"] - whole["2"][:, :, 2:]).max() > 1e-3
    net.rnn_activate_using_stored_state([X] if as_graph else X, False, True)
    with pytest.raises(GraphError, match="3 series, the input has 2"):
        net.rnn_activate_using_stored_state([X[:2]] if as_graph else X[:2])


@pytest.mark.parametrize("as_graph", [False, True])
def test_states_of_steps(as_graph):
    net, other = recurrent(as_graph), recurrent(as_graph)
    net.rnn_time_step(X[:, :, :4])
    states = net.rnn_get_previous_states()
    assert {k: sorted(v) for k, v in states.items()} == {k: sorted(net.rnn_get_previous_state(k)) for k in "01"}
    assert sorted(states["0"]) == ["prevAct", "prevMem"] and sorted(states["1"]) == ["prevAct"]
    np.testing.assert_array_equal(states["1"]["prevAct"], net.feed_forward(X[:, :, :4])["1" if as_graph else 2][:, :, -1])
    other.rnn_set_previous_states(states)
    np.testing.assert_array_equal(other.rnn_time_step(X[:, :, 4:]), net.rnn_time_step(X[:, :, 4:]))
    third = recurrent(as_graph)
    third.rnn_activate_using_stored_state([X[:, :, :4]] if as_graph else X[:, :, :4], False, True)
    third.update_rnn_state_with_tbptt_state()
    for layer, state in states.items():
        for name, value in state.items():
            np.testing.assert_allclose(third.rnn_get_previous_state(layer)[name], value, rtol=1e-12)


@pytest.mark.parametrize("made", [Bidirectional(LSTM(n_in=2, n_out=2), mode="ADD"), GravesBidirectionalLSTM(n_in=2, n_out=2),
                                  FrozenLayer(Bidirectional(LSTM(n_in=2, n_out=2), mode="ADD"))])
def test_layers_that_run_backwards_have_no_steps(made):
    net = network(made, RnnOutputLayer(n_in=2, n_out=2))
    for one, x in ((net, X), (net.to_computation_graph(), X)):
        assert np.shape(one.output(x))[-1] == 6
        with pytest.raises(GraphError, match=r"Bidirectional|FrozenLayer.*needs whole series"):
            one.rnn_time_step(x[:, :, :2])


@pytest.mark.parametrize("as_graph", [False, True])
@pytest.mark.parametrize("outputs", [2, 6])
def test_truncated_training_with_labels_that_are_no_series(outputs, as_graph):
    """Every piece has the same labels, also where these have as many columns as the series has steps."""
    def made(**options):
        stack = (NeuralNetConfiguration.Builder().seed(4).data_type("DOUBLE").list().layer(TimeDistributed(DenseLayer(n_in=2, n_out=4)))
                 .layer(GlobalPoolingLayer("AVG")).layer(OutputLayer(n_in=4, n_out=outputs)).validate_tbptt_config(False))
        for name, value in options.items():
            getattr(stack, name)(value)
        net = MultiLayerNetwork(stack.build()).init()
        return net.to_computation_graph() if as_graph else net

    y = np.eye(outputs)[[0, 1, 1]]
    net, by_hand = made(backprop_type="TruncatedBPTT", t_bptt_length=2), made()
    net.fit(X, y)
    for start in (0, 2, 4):
        by_hand.fit(X[:, :, start:start + 2], y)
    assert net.get_iteration_count() == 3
    np.testing.assert_array_equal(net.params(), by_hand.params())
