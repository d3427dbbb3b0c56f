"""Attention, locally connected and capsule layers: closed forms and gradients."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    CapsuleLayer,
    CapsuleStrengthLayer,
    ConvolutionLayer,
    GlobalPoolingLayer,
    InputType,
    LearnedSelfAttentionLayer,
    LocallyConnected1D,
    LocallyConnected2D,
    LossLayer,
    OutputLayer,
    PrimaryCapsules,
    RecurrentAttentionLayer,
    RnnOutputLayer,
    SelfAttentionLayer,
)
from dl4py.samediff.errors import ConfigurationError
from tests.helpers.networkcheck import check_network, network

OUT = OutputLayer(n_in=4, n_out=2, activation="softmax")
LABELS = np.eye(2)[[0, 1, 1]]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kind, options", [
    (SelfAttentionLayer, {"n_heads": 1, "n_in": 4, "n_out": 4}), (SelfAttentionLayer, {"n_heads": 2, "project_input": True}),
    (LearnedSelfAttentionLayer, {"n_heads": 1, "n_in": 4, "n_out": 4, "n_queries": 2}),
    (LearnedSelfAttentionLayer, {"n_heads": 2, "project_input": True, "n_queries": 2}),
    (RecurrentAttentionLayer, {"n_heads": 1, "n_in": 4, "n_out": 4, "project_input": False}),
    (RecurrentAttentionLayer, {"n_heads": 2}), (RecurrentAttentionLayer, {"n_heads": 2, "has_bias": False})])
def test_gradients_of_attention(rng, kind, options):
    size = options.get("n_in", 3)
    net = network(kind(**{"n_in": 3, "n_out": 4, **options}), GlobalPoolingLayer("AVG"), OUT)
    check_network(net, rng.normal(size=(3, size, 5)), LABELS)


@pytest.mark.parametrize("kind", [SelfAttentionLayer, RecurrentAttentionLayer])
def test_masked_steps_are_not_attended_to(rng, kind):
    net = network(kind(n_in=3, n_out=4, n_heads=2, project_input=True), GlobalPoolingLayer("AVG"), OUT)
    x, mask = rng.normal(size=(2, 3, 5)), np.ones((2, 5))
    mask[0, 3:] = 0
    before = net.output(x, features_mask=mask)
    x[0, :, 3:] += 1
    np.testing.assert_allclose(net.output(x, features_mask=mask), before)


def test_one_step_of_recurrent_attention_is_a_dense_layer(rng):
    net = network(RecurrentAttentionLayer(n_in=3, n_out=4, n_heads=2), GlobalPoolingLayer("AVG"), OUT)
    x = rng.normal(size=(2, 3, 1))
    np.testing.assert_allclose(net.feed_forward(x)[1][:, :, 0], np.tanh(x[:, :, 0] @ net.get_param("0_W") + net.get_param("0_b")))


def test_locally_connected_values(rng):
    net = network(LocallyConnected1D(n_out=2, kernel=2, stride=2, activation="IDENTITY"), GlobalPoolingLayer("AVG"),
                  OutputLayer(n_out=2, activation="softmax"), input_type=InputType.recurrent(3, 6))
    x, w = rng.normal(size=(2, 3, 6)), net.get_param("0_W")
    assert w.shape == (3, 6, 2)
    for t in range(3):
        np.testing.assert_allclose(net.feed_forward(x)[1][:, :, t], x[:, :, 2 * t:2 * t + 2].reshape(2, 6) @ w[t])


def test_series_of_open_length_in_front_of_locally_connected_layers():
    """Each step has weights of its own, so their number must be known: from the type of the input, or by hand."""
    series = InputType.recurrent(3)
    with pytest.raises(ConfigurationError, match=r"length of the series is open.*InputType.recurrent\(size, length\).*input_size"):
        network(LSTM(n_out=3), LocallyConnected1D(n_out=2), RnnOutputLayer(n_out=2), input_type=series)
    net = network(LSTM(n_out=3), LocallyConnected1D(n_out=2, input_size=5), RnnOutputLayer(n_out=2), input_type=series)
    assert net.output(np.ones((2, 3, 5))).shape == (2, 2, 5)
    alone = network(LocallyConnected1D(n_in=3, n_out=2, input_size=5, kernel=2, cm="Truncate"), RnnOutputLayer(n_in=2, n_out=2))
    assert alone.param_table()["0_W"].shape == (4, 6, 2)


@pytest.mark.parametrize("layer, kind, shape", [
    (LocallyConnected1D(n_out=2), InputType.recurrent(2, 4), (3, 2, 4)),
    (LocallyConnected2D(n_out=2, stride=(2, 1)), InputType.convolutional(3, 4, 2), (3, 2, 3, 4))], ids=["series", "images"])
def test_gradients_of_locally_connected_layers(rng, layer, kind, shape):
    net = network(layer, GlobalPoolingLayer("SUM"), OutputLayer(n_in=2, n_out=2, activation="softmax"), input_type=kind)
    check_network(net, rng.normal(size=shape), LABELS)


@pytest.mark.slow
def test_gradients_of_capsules(rng):
    net = network(ConvolutionLayer(n_out=2, kernel_size=1), PrimaryCapsules(2, 2, kernel_size=2, stride=2, use_relu=True, leak=0.1),
                  CapsuleLayer(2, 3, 3, has_bias=True), CapsuleStrengthLayer(), LossLayer(loss_function="MCXENT", activation="softmax"),
                  input_type=InputType.convolutional(4, 4, 1))
    check_network(net, rng.normal(size=(3, 1, 4, 4)), LABELS)


def test_capsules_are_shorter_than_one(rng):
    net = network(PrimaryCapsules(3, 2, kernel_size=2, stride=2), CapsuleLayer(2, 3, 2), CapsuleStrengthLayer(),
                  LossLayer(loss_function="MSE", activation="identity"), input_type=InputType.convolutional(4, 4, 1))
    lengths = net.output(10 * rng.normal(size=(5, 1, 4, 4)))
    assert lengths.shape == (5, 2) and (lengths > 0).all() and (lengths < 1).all()
