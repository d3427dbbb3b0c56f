from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    ActivationLayer,
    AutoEncoder,
    CenterLossOutputLayer,
    DenseLayer,
    ElementWiseMultiplicationLayer,
    EmbeddingLayer,
    EmbeddingSequenceLayer,
    InputType,
    OutputLayer,
    PReLULayer,
    RepeatVector,
    RNNFormat,
)
from dl4py.layers.types.parameters import LayerScope
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import ConfigurationError

RNG = np.random.default_rng(5)


class Run:
    """A layer alone: its activations (and losses) for given parameters and inputs."""

    def __init__(self, layer, x, mask=None, labels=None, seed=0):
        rng = np.random.default_rng(seed)
        layer = layer.replace(**{n: v for n, v in (("bias_init", 0.0), ("gain_init", 1.0)) if hasattr(layer, n)})
        self.sd = SameDiff.create()
        self.parameters = {p.name: rng.normal(size=p.shape) for p in layer.parameter_table()}
        self.feeds = {k: v for k, v in (("x", x), ("mask", mask), ("labels", labels)) if v is not None}
        places = {k: self.sd.placeholder(k, DataType.DOUBLE, *[-1] * v.ndim) for k, v in self.feeds.items()}
        scope = LayerScope("layer", {n: self.sd.var(n, a) for n, a in self.parameters.items()})
        self.result = layer.define_layer(self.sd, places["x"], scope, places.get("mask")).name()
        if labels is not None:
            self.loss = layer.define_loss(self.sd, places["x"], places["labels"], scope, places.get("mask")).name()

    def output(self, name=None):
        name = name or self.result
        return self.sd.output(self.feeds, name)[name]


X = RNG.normal(size=(5, 4))
MASK = np.array([[1.0], [0.0], [1.0], [1.0], [0.0]])


def test_dense_layer():
    run = Run(DenseLayer(n_in=4, n_out=3, activation="tanh"), X)
    assert run.output() == pytest.approx(np.tanh(X @ run.parameters["W"] + run.parameters["b"]))
    assert set(Run(DenseLayer(n_in=4, n_out=3, activation="tanh", has_bias=False), X).parameters) == {"W"}


def test_masked_rows_are_zero_before_and_after_the_activation():
    got = Run(DenseLayer(n_in=4, n_out=3, activation="sigmoid"), X, MASK).output()
    assert (got[[1, 4]] == 0).all()
    assert (got[[0, 2, 3]] > 0).all()


def test_layer_normalization_comes_before_the_bias():
    run = Run(DenseLayer(n_in=4, n_out=3, activation="identity", has_layer_norm=True), X)
    p = run.parameters
    z = X @ p["W"]
    normal = (z - z.mean(1, keepdims=True)) / z.std(1, keepdims=True)
    assert list(p) == ["W", "b", "g"]
    assert run.output() == pytest.approx(p["g"] * normal + p["b"])


def test_layers_that_work_value_by_value():
    run = Run(ElementWiseMultiplicationLayer(n_in=4, n_out=4, activation="relu"), X)
    assert run.output() == pytest.approx(np.maximum(X * run.parameters["W"] + run.parameters["b"], 0))
    assert Run(ActivationLayer("softsign"), X).output() == pytest.approx(X / (1 + abs(X)))
    images = RNG.normal(size=(2, 3, 2, 2))
    run = Run(PReLULayer(input_shape=(3, 2, 2), shared_axes=(2, 3)), images)
    assert run.parameters["W"].shape == (3, 1, 1)
    assert run.output() == pytest.approx(np.where(images >= 0, images, run.parameters["W"] * images))


@pytest.mark.parametrize("form", list(RNNFormat))
def test_repeat_vector(form):
    got = Run(RepeatVector(3, data_format=form), X).output()
    assert got.shape == ((5, 4, 3) if form is RNNFormat.NCW else (5, 3, 4))
    assert (got[:, :, 1] == X).all() if form is RNNFormat.NCW else (got[:, 1] == X).all()


def test_embeddings():
    index = np.array([[2.0], [0.0], [2.0]])
    run = Run(EmbeddingLayer(n_in=3, n_out=4, has_bias=True), index)
    assert run.output() == pytest.approx(run.parameters["W"][[2, 0, 2]] + run.parameters["b"])
    series = np.array([[0.0, 1, 2, 1], [2, 2, 0, 0]])
    mask = np.array([[1.0, 1, 1, 0], [1, 1, 0, 0]])
    layer = EmbeddingSequenceLayer(n_in=3, n_out=4)
    run = Run(layer, series, mask)
    want = run.parameters["W"][series.astype(int)] * mask[:, :, None]
    assert run.output() == pytest.approx(want.transpose(0, 2, 1))
    assert Run(layer.replace(output_format=RNNFormat.NWC), series, mask).output() == pytest.approx(want)
    assert Run(layer, series[:, None], mask).output() == pytest.approx(want.transpose(0, 2, 1))


def test_embedding_gradient_counts_repeated_rows():
    run = Run(EmbeddingLayer(n_in=3, n_out=2), np.array([[2.0], [0.0], [2.0]]))
    run.sd.set_loss_variables(run.result)
    got = run.sd.calculate_gradients(run.feeds, "W")["W"]
    assert got == pytest.approx(np.array([[1.0, 1], [0, 0], [2, 2]]))


def test_output_layer_scores_examples():
    labels = np.eye(3)[[0, 1, 2, 0, 1]]
    run = Run(OutputLayer(n_in=4, n_out=3), X, MASK, labels)
    z = X @ run.parameters["W"] + run.parameters["b"]
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    assert run.output(run.loss) == pytest.approx(-(labels * np.log(p)).sum(1) * MASK[:, 0])


def test_center_loss_adds_the_distance_to_the_center():
    labels = np.eye(3)[[0, 1, 2, 0, 1]]
    plain, pulled = (Run(layer(n_in=4, n_out=3, **more), X, labels=labels)
                     for layer, more in ((OutputLayer, {}), (CenterLossOutputLayer, {"lambda_": 0.5})))
    distance = ((labels @ pulled.parameters["cL"] - X) ** 2).sum(1)
    assert pulled.output(pulled.loss) == pytest.approx(plain.output(plain.loss) + 0.25 * distance)


@pytest.mark.parametrize("axes", [(3,), (0,), (1, 4)])
def test_shared_axes_that_an_example_does_not_have_are_refused(axes):
    with pytest.raises(ConfigurationError, match="counted from 1 to 2"):
        PReLULayer(input_shape=(4, 3), shared_axes=axes)
    with pytest.raises(ConfigurationError, match="counted from 1 to 1"):
        PReLULayer(shared_axes=(3,)).set_n_in(InputType.convolutional_flat(2, 4, 2))


def test_codes_of_masked_rows_stay():
    layer, mask = AutoEncoder(n_in=4, n_out=3, activation="sigmoid"), np.arange(len(X))[:, None] % 2.0
    plain, masked = Run(layer, X), Run(layer, X, mask=mask)
    assert masked.output() == pytest.approx(plain.output())


def test_pretraining_of_an_autoencoder_moves_against_the_reconstruction_error():
    layer = AutoEncoder(n_in=4, n_out=3, activation="sigmoid", corruption_level=0.0, bias_init=0.0, loss_function="MSE")
    rng = np.random.default_rng(0)
    p = {q.name: rng.normal(size=q.shape) for q in layer.parameter_table()}
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.DOUBLE, -1, 4)
    scores, steps = layer.define_pretraining(sd, x, LayerScope("layer", {n: sd.var(n, a) for n, a in p.items()}))
    found = sd.output({"x": X}, scores.name(), steps["vb"].name())

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    decoded = sigmoid(sigmoid(X @ p["W"] + p["b"]) @ p["W"].T + p["vb"])
    assert found[steps["vb"].name()] == pytest.approx((X - decoded).sum(0))
    assert found[scores.name()] == pytest.approx(((X - sigmoid(decoded)) ** 2).mean(1))
