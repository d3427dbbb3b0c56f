"""Batch normalization and local response normalization."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    BatchNormalization,
    CNN2DFormat,
    ConvolutionLayer,
    DenseLayer,
    GlobalPoolingLayer,
    InputType,
    LocalResponseNormalization,
    LossLayer,
    OutputLayer,
    RnnOutputLayer,
)
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet
from dl4py.samediff.errors import ConfigurationError, ShapeError
from dl4py.samediff.ops.nn.batch_norm import BatchNormInference, BatchNormTraining
from dl4py.samediff.training import Adam
from tests.helpers.gradcheck import check_gradients
from tests.helpers.networkcheck import check_network, check_recorded, gradient_of, network

OUT = OutputLayer(n_out=2, activation="softmax")
STATISTICS = ("_mean", "_var", "_log10stdev")


class AlwaysTraining(BatchNormTraining):
    """Keeps to the statistics of the batch outside training."""

    def at_inference(self):
        return self


@pytest.mark.sampled(6)
@pytest.mark.parametrize("shape, axis", [((6, 3), 1), ((4, 3, 2, 2), 1), ((4, 2, 2, 3), 3)])
@pytest.mark.parametrize("operation", [AlwaysTraining, BatchNormInference])
def test_gradients_of_the_op(rng, operation, shape, axis):
    arrays = {"x": rng.normal(size=shape), "mean": rng.normal(size=3), "variance": rng.uniform(0.5, 1, 3), "gamma": rng.normal(size=3),
              "beta": rng.normal(size=3)}
    check_gradients(lambda sd, **v: sd.add_op(operation(axis), list(v.values()))[0], arrays)


@pytest.mark.parametrize("shape, axis", [((6, 3), 1), ((4, 3, 5, 2), 1), ((4, 2, 5, 3), 3)])
def test_training_normalizes_the_batch(rng, shape, axis):
    kind = InputType.feed_forward(3) if len(shape) == 2 else InputType.convolutional(
        *((5, 2) if axis == 1 else (2, 5)), 3, CNN2DFormat.NCHW if axis == 1 else CNN2DFormat.NHWC)
    net = network(BatchNormalization(), LossLayer(loss_function="MSE", activation="identity") if len(shape) == 2 else OUT, input_type=kind)
    y = np.asarray(net.feed_forward(rng.normal(2, 3, size=shape), train=True)[1])
    others = tuple(i for i in range(len(shape)) if i != axis)
    np.testing.assert_allclose(y.mean(axis=others), 0, atol=1e-12)
    np.testing.assert_allclose(y.var(axis=others), 1, rtol=1e-4)


@pytest.mark.parametrize("logarithm", [True, False])
def test_running_statistics(rng, logarithm):
    net = network(BatchNormalization(n_in=3, n_out=3, decay=0.8, use_log_std=logarithm),
                  OutputLayer(n_in=3, n_out=2, activation="softmax"))
    x, y = rng.normal(2, 3, size=(8, 3)), np.eye(2)[rng.integers(0, 2, 8)]
    net.fit(DataSet(x, y))
    np.testing.assert_allclose(net.get_param("0_mean"), 0.2 * x.mean(axis=0))
    variance = 0.8 + 0.2 * x.var(axis=0)
    name, wanted = ("0_log10stdev", np.log10(np.sqrt(variance))) if logarithm else ("0_var", variance)
    np.testing.assert_allclose(net.get_param(name), wanted)
    gamma, beta = net.get_param("0_gamma"), net.get_param("0_beta")
    np.testing.assert_allclose(net.feed_forward(x)[1], gamma * (x - 0.2 * x.mean(axis=0)) / np.sqrt(variance + 1e-5) + beta)


def test_the_gradient_holds_the_steps_of_the_statistics(rng):
    net = network(BatchNormalization(n_in=3, n_out=3, use_log_std=False), OutputLayer(n_in=3, n_out=2, activation="softmax"))
    x = rng.normal(2, 3, size=(8, 3))
    found = gradient_of(net, x, np.eye(2)[rng.integers(0, 2, 8)])
    np.testing.assert_allclose(found[6:9], 0.1 * (0 - x.mean(axis=0)))
    np.testing.assert_allclose(found[9:12], 0.1 * (1 - x.var(axis=0)))


def test_locked_gain_and_shift(rng):
    net = network(BatchNormalization(n_in=3, n_out=3, lock_gamma_beta=True, gamma=2.0, beta=0.5),
                  OutputLayer(n_in=3, n_out=2, activation="softmax"))
    assert list(net.param_table()) == ["0_mean", "0_log10stdev", "1_W", "1_b"]
    x = rng.normal(size=(5, 3))
    np.testing.assert_allclose(net.feed_forward(x)[1], 2 * x / np.sqrt(1 + 1e-5) + 0.5)


@pytest.mark.parametrize("form", [CNN2DFormat.NCHW, CNN2DFormat.NHWC])
def test_gradients_through_images(rng, form):
    net = network(ConvolutionLayer(n_out=2, kernel_size=2), BatchNormalization(), OUT, input_type=InputType.convolutional(3, 4, 1, form))
    check_network(net, rng.normal(size=(3, 1, 3, 4) if form is CNN2DFormat.NCHW else (3, 3, 4, 1)), np.eye(2)[[0, 1, 1]], STATISTICS)


def test_gradients_through_rows(rng):
    net = network(DenseLayer(n_in=2, n_out=3), BatchNormalization(n_in=3, n_out=3), OutputLayer(n_in=3, n_out=2, activation="softmax"))
    check_network(net, rng.normal(size=(5, 2)), np.eye(2)[[0, 1, 1, 0, 1]], STATISTICS)


def test_rows_of_pooled_series_are_normalized(rng):
    net = network(LSTM(n_out=4), GlobalPoolingLayer("MAX"), BatchNormalization(), OutputLayer(n_out=2, activation="softmax"),
                  input_type=InputType.recurrent(3, 5))
    check_network(net, rng.normal(size=(4, 3, 5)), np.eye(2)[[0, 1, 1, 0]], STATISTICS)


def test_series_are_refused():
    with pytest.raises(ConfigurationError, match="BatchNormalization.*expects FeedForward"):
        network(LSTM(n_out=4), BatchNormalization(), RnnOutputLayer(n_out=2, activation="softmax"), input_type=InputType.recurrent(3, 5))


def test_local_response(rng):
    x = rng.normal(size=(2, 5, 3, 2))
    net = network(LocalResponseNormalization(k=1.0, n=3, alpha=0.5, beta=0.75), OUT, input_type=InputType.convolutional(3, 2, 5))
    squares = np.stack([(x[:, max(c - 1, 0):c + 2] ** 2).sum(axis=1) for c in range(5)], axis=1)
    np.testing.assert_allclose(net.feed_forward(x)[1], x / (1 + 0.5 * squares) ** 0.75)
    net = network(ConvolutionLayer(n_out=4, kernel_size=1), LocalResponseNormalization(k=1.0, n=3, alpha=0.5), OUT,
                  input_type=InputType.convolutional(2, 2, 1))
    check_network(net, rng.normal(size=(3, 1, 2, 2)), np.eye(2)[[0, 1, 1]])


def test_mistakes():
    net = network(BatchNormalization(n_in=3, n_out=3), OutputLayer(n_in=3, n_out=2, activation="softmax"))
    with pytest.raises(ShapeError, match="3 channels"):
        net.output(np.zeros((2, 4)))
    with pytest.raises(ShapeError, match="3 axes"):
        net.output(np.zeros((2, 3, 4)))


@pytest.mark.parametrize("case", ["batchnorm_cnn_nchw", "batchnorm_cnn_nhwc", "batchnorm_var"])
def test_recorded(golden, case):
    check_recorded(golden / "layers" / case)


@pytest.mark.parametrize("dtype", ["FLOAT", "DOUBLE"])
@pytest.mark.parametrize("hidden, features, shape", [
    (DenseLayer(n_out=8, activation="tanh"), InputType.feed_forward(4), (1, 4)),
    (ConvolutionLayer(n_out=5, kernel_size=(3, 3)), InputType.convolutional(3, 3, 2), (1, 2, 3, 3))], ids=["dense", "convolution"])
def test_nothing_is_learned_below_a_normalization_of_one_value(hidden, features, shape, dtype, rng):
    output = OutputLayer(n_out=3, activation="softmax", loss_function="MCXENT")
    builder = NeuralNetConfiguration.builder().seed(1).updater(Adam(1e-2)).data_type(dtype).list()
    network = MultiLayerNetwork(builder.layer(hidden).layer(BatchNormalization()).layer(output).set_input_type(features).build())
    network.init()
    before = [np.array(network.get_param(name)) for name in ("0_W", "0_b")]
    for _ in range(5):
        network.fit(rng.normal(size=shape), np.eye(3)[:1])
    for name, values in zip(("0_W", "0_b"), before):
        np.testing.assert_array_equal(network.get_param(name), values)
