"""Truncated back-propagation forgets the states of ``rnn_time_step`` where it begins with a batch, as in DL4J."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import LSTM, EmbeddingSequenceLayer, RnnOutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration


@pytest.mark.parametrize("graph", [False, True], ids=["list", "graph"])
@pytest.mark.parametrize("use", ["fit", "evaluate"])
@pytest.mark.parametrize("truncated", [True, False])
def test_states_are_forgotten(graph, use, truncated):
    conf = NeuralNetConfiguration.Builder().seed(1).list(LSTM(n_in=2, n_out=3), RnnOutputLayer(n_in=3, n_out=2))
    net = MultiLayerNetwork((conf.backprop_type("TruncatedBPTT").t_bptt_length(2) if truncated else conf).build()).init()
    net = net.to_computation_graph() if graph else net
    x, y = np.ones((1, 2, 4), np.float32), np.eye(2, dtype=np.float32)[[[0, 1, 0, 1]]].transpose(0, 2, 1)
    net.rnn_time_step(x)
    assert any(net.rnn_get_previous_states().values())
    getattr(net, use)(*([x], [y]) if graph and use == "fit" else (x, y))
    assert any(net.rnn_get_previous_states().values()) is not truncated


@pytest.mark.parametrize("graph", [False, True], ids=["list", "graph"])
def test_rows_are_one_step_and_indices_are_series(graph):
    def made(first, form):
        net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(
            *first, LSTM(n_in=2, n_out=3, rnn_data_format=form), RnnOutputLayer(n_in=3, n_out=2, rnn_data_format=form)).build()).init()
        return net.to_computation_graph() if graph else net

    def stepped(net, x):
        found = net.rnn_time_step(x)
        return found[0] if graph else found
    x = np.random.default_rng(2).normal(size=(4, 3, 2)).astype("float32")
    whole = stepped(made([], "NWC"), x)
    net = made([], "NWC")
    np.testing.assert_allclose(np.stack([stepped(net, x[:, i]) for i in range(3)], 1), whole, atol=1e-6)
    words = np.array([[1, 4, 0], [2, 2, 3]])
    first = [EmbeddingSequenceLayer(n_in=5, n_out=2, output_format="NWC", activation="identity")]
    whole, net = stepped(made(first, "NWC"), words), made(first, "NWC")
    assert whole.shape == (2, 3, 2)
    np.testing.assert_allclose(np.concatenate([stepped(net, words[:, :2]), stepped(net, words[:, 2:])[:, None]], 1), whole, atol=1e-6)
