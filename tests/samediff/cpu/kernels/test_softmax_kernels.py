"""Cross-entropy kernels against NumPy."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import InputType, LossLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet, DataType, SameDiff
from dl4py.samediff.cpu.kernels import cross_entropy

TYPES = [np.float32, np.float64]
SHAPES = [(0, 3), (1, 1), (5, 7), (3, 33)]


def tolerance(dtype):
    return {"rtol": 2e-5, "atol": 2e-6} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-13}


def probabilities(x):
    x = x.astype(np.float64)
    e = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
    return e / e.sum(1, keepdims=True)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_cross_entropy_with_any_labels(shape, dtype, rng):
    z, labels = 4 * rng.normal(size=shape).astype(dtype), rng.random(shape).astype(dtype)
    scale = rng.random(shape[0]).astype(dtype)
    p = probabilities(z)
    want = -(labels * np.log(p)).sum(1)
    slope = (p * labels.sum(1, keepdims=True) - labels) * scale[:, None]
    losses, gradient = np.empty(shape[0], dtype), np.empty_like(z)
    cross_entropy.softmax_cross_entropy(z, labels, losses)
    np.testing.assert_allclose(losses, want, **tolerance(dtype))
    cross_entropy.softmax_cross_entropy_gradient(z, labels, scale, gradient)
    np.testing.assert_allclose(gradient, slope, **tolerance(dtype))
    losses[:] = 0
    cross_entropy.softmax_cross_entropy_both(z, labels, scale, losses, z)
    np.testing.assert_allclose(losses, want, **tolerance(dtype))
    np.testing.assert_allclose(z, slope, **tolerance(dtype))


@pytest.mark.parametrize("far", [200, -200])
@pytest.mark.parametrize("dtype", TYPES)
def test_cross_entropy_of_logits_that_are_all_far_from_0(dtype, far, rng):
    """The same as of logits less their largest one: e to them would leave the type."""
    z, labels, scale = rng.normal(size=(3, 5)), rng.random((3, 5)).astype(dtype), np.ones(3, dtype)
    near, away = z.astype(dtype), (10 * far + z.astype(np.float32)).astype(dtype)
    near = (away - dtype(10 * far)).astype(dtype)
    for given in (near, away):
        losses, gradient = np.empty(3, dtype), np.empty_like(given)
        cross_entropy.softmax_cross_entropy_both(given, labels, scale, losses, gradient)
        one, slope = np.empty(3, dtype), np.empty_like(given)
        cross_entropy.softmax_cross_entropy(given, labels, one)
        cross_entropy.softmax_cross_entropy_gradient(given, labels, scale, slope)
        if given is near:
            want = losses, gradient
        for found, expected in zip((losses, gradient, one, slope), (*want, *want)):
            np.testing.assert_allclose(found, expected, **tolerance(dtype))


def test_masked_logits_and_nan():
    z = np.array([[0, -np.inf, 1], [np.nan, 0, 0]], np.float32)
    labels = np.array([[1, 0, 0], [1, 0, 0]], np.float32)
    losses = np.empty(2, np.float32)
    cross_entropy.softmax_cross_entropy(z, labels, losses)
    assert losses[0] == pytest.approx(np.log1p(np.e), rel=1e-6)
    assert np.isnan(losses[1])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("classes", [2, 3, 7, 8, 9, 16, 17, 33])
def test_classes_that_cannot_be_count_for_nothing_where_their_label_is_0(classes, dtype, rng):
    """-inf logits at any place, in every kernel: losses and gradients are those of the other classes alone."""
    rows = 2 * classes
    z, labels, scale = rng.normal(size=(rows, classes)), rng.random((rows, classes)), rng.random(rows)
    out = rng.random((rows, classes)) < 0.4
    out[np.arange(rows), np.arange(rows) % classes] = np.arange(rows) < classes     # each place by itself too
    out[np.arange(rows), (np.arange(rows) + 1) % classes] = False
    z[out], labels[out] = -np.inf, 0
    want, slope = np.zeros(rows), np.zeros_like(z)
    for i in range(rows):
        p, y = probabilities(z[i:i + 1, ~out[i]])[0], labels[i, ~out[i]]
        want[i], slope[i, ~out[i]] = -(y * np.log(p)).sum(), (p * y.sum() - y) * scale[i]
    z, labels, scale = (a.astype(dtype) for a in (z, labels, scale))
    losses, both, gradient, after = np.empty(rows, dtype), np.empty(rows, dtype), np.empty_like(z), np.empty_like(z)
    cross_entropy.softmax_cross_entropy(z, labels, losses)
    cross_entropy.softmax_cross_entropy_gradient(z, labels, scale, gradient)
    cross_entropy.softmax_cross_entropy_both(z, labels, scale, both, after)
    for found in (losses, both):
        np.testing.assert_allclose(found, want, **tolerance(dtype))
    for found in (gradient, after):
        np.testing.assert_allclose(found, slope, **tolerance(dtype))
        assert not found[out].any()


@pytest.mark.parametrize("executor", ["", "reference"])
@pytest.mark.parametrize("dtype", ["FLOAT", "DOUBLE"])
@pytest.mark.parametrize("classes", [3, 20])
def test_losses_of_classes_that_cannot_be(classes, dtype, executor, monkeypatch, rng):
    """The same through the losses: with labels of one class and of several, given as numbers, and as the end of a network."""
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    z, actual = rng.normal(size=(6, classes)), np.arange(6) % (classes - 1)
    z[:, classes - 1] = -np.inf
    p = probabilities(z)
    spread = np.where(np.isinf(z), 0, rng.random(z.shape))
    slopes = {"one": p - np.eye(classes)[actual], "several": p * spread.sum(1, keepdims=True) - spread}
    calls = {"one": lambda sd, v: sd.loss.softmax_cross_entropy("loss", sd.constant(np.eye(classes)[actual].astype(z.dtype)), v),
             "several": lambda sd, v: sd.loss.softmax_cross_entropy("loss", sd.constant(spread.astype(z.dtype)), v),
             "numbers": lambda sd, v: sd.loss.sparse_softmax_cross_entropy("loss", v, sd.constant(actual.astype(np.int32))).sum() / 6.0}
    z = z.astype(DataType[dtype].numpy)
    for name, call in calls.items():
        sd = SameDiff.create()
        v = sd.var("z", z)
        loss = call(sd, v)
        slope = slopes.get(name, slopes["one"])
        labels = spread if name == "several" else np.eye(classes)[actual]
        with np.errstate(divide="ignore", invalid="ignore"):
            want = -np.where(labels > 0, labels * np.log(p), 0).sum() / 6
        (gradient,) = sd.gradients(loss, [v])
        found = sd.output({}, loss.name(), gradient.name())
        np.testing.assert_allclose(found[loss.name()], want, rtol=1e-5)
        np.testing.assert_allclose(found[gradient.name()], slope / 6, atol=1e-6)


@pytest.mark.parametrize("executor", ["", "reference"])
def test_a_network_whose_input_rules_classes_out(executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    conf = NeuralNetConfiguration.Builder().data_type("FLOAT").list(LossLayer(loss_function="MCXENT", activation="softmax"))
    net = MultiLayerNetwork(conf.set_input_type(InputType.feed_forward(3)).build()).init()
    x, y = np.array([[0, -np.inf, 1], [2, 1, -np.inf]], np.float32), np.eye(3, dtype=np.float32)[[0, 1]]
    assert net.score(DataSet(x, y)) == pytest.approx(np.log1p(np.e), rel=1e-6)
