"""The variational autoencoder: parameters, bound and its gradient, pretraining, training with labels, files."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    Activation,
    BernoulliReconstructionDistribution,
    CompositeReconstructionDistribution,
    ConstantDistribution,
    ExponentialReconstructionDistribution,
    GaussianReconstructionDistribution,
    Layer,
    LossFunction,
    LossFunctionWrapper,
    LossMSE,
    MaxNormConstraint,
    OutputLayer,
    VariationalAutoencoder,
    WeightNoise,
)
from dl4py.layers.standard import variational
from dl4py.layers.types.parameters import LayerScope
from dl4py.samediff import Adam, DataSet, DataType, SameDiff
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.executor.session import run
from dl4py.samediff.ir.run_context import RunContext
from tests.helpers.networkcheck import check_network, gradient_of, network

X = np.random.default_rng(2).uniform(0.1, 0.9, (5, 4))
Y = np.eye(3)[[0, 1, 2, 1, 0]]
EPS = np.random.default_rng(3).normal(size=(3, 5, 2))
SIZES = {"n_in": 4, "n_out": 2, "encoder_layer_sizes": (3, 5), "decoder_layer_sizes": (4,)}
COMPOSITE = (CompositeReconstructionDistribution.Builder().add_distribution(3, GaussianReconstructionDistribution("tanh"))
             .add_distribution(1, BernoulliReconstructionDistribution()).build())
DISTRIBUTIONS = {"gaussian": GaussianReconstructionDistribution("identity"), "bernoulli": BernoulliReconstructionDistribution(),
                 "exponential": ExponentialReconstructionDistribution(), "loss": LossFunctionWrapper("tanh", LossMSE()),
                 "composite": COMPOSITE}


def vae(**options):
    return VariationalAutoencoder(**{**SIZES, "activation": "tanh", **options})


@pytest.fixture
def fixed_draws(monkeypatch):
    """The same latent noise in every step: row after row of EPS."""
    given = []

    class FixedNoise(variational.LatentNoise):
        def draw(self, rng, shape, dtype, iteration, epoch):
            int(iteration)          # so that it is called in each step: a plan knows no iteration
            given.append(shape)
            return None, EPS[(len(given) - 1) % 3]
    monkeypatch.setattr(variational, "LatentNoise", FixedNoise)
    return given


def bound_of(layer, p, samples):
    """The negative lower bound of each example, written out; the distribution's part is tested elsewhere."""
    h = X
    for i in range(2):
        h = np.tanh(h @ p[f"e{i}W"] + p[f"e{i}b"])
    mean, log_variance = (layer.pzx_activation.get_activation(h @ p[f"{n}W"] + p[f"{n}b"]) for n in ("pZXMean", "pZXLogStd2"))
    total = -0.5 * (1 + log_variance - mean ** 2 - np.exp(log_variance)).sum(1)
    for eps in EPS[:samples]:
        z = mean + np.exp(log_variance / 2) * eps
        pre = np.tanh(z @ p["d0W"] + p["d0b"]) @ p["pXZW"] + p["pXZb"]
        total = total + layer.output_distribution.example_neg_log_probability(X, pre)[:, 0] / samples
    return total


def test_parameters():
    layer = vae(output_distribution=COMPOSITE)
    assert [(p.name, p.shape, p.order) for p in layer.parameter_table()] == [
        ("e0W", (4, 3), "f"), ("e0b", (3,), "c"), ("e1W", (3, 5), "f"), ("e1b", (5,), "c"),
        ("pZXMeanW", (5, 2), "f"), ("pZXMeanb", (2,), "c"), ("pZXLogStd2W", (5, 2), "f"), ("pZXLogStd2b", (2,), "c"),
        ("d0W", (2, 4), "f"), ("d0b", (4,), "c"), ("pXZW", (4, 7), "f"), ("pXZb", (7,), "c")]
    keys = {p.name: layer.updater_key(p) for p in layer.parameter_table()}
    assert [n for n, k in keys.items() if k is None] == ["e0W", "e0b", "e1W", "e1b", "pZXMeanW", "pZXMeanb"]
    constrained = vae(constrain_weights=MaxNormConstraint(1.0, 1)).constraints[0].params
    assert sorted(constrained) == ["d0W", "e0W", "e1W", "pXZW", "pZXLogStd2W", "pZXMeanW"]
    assert (layer.latent_size, layer.distribution_parameters()) == (2, 7)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_bound_and_gradients(name, samples, fixed_draws, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    layer = vae(output_distribution=DISTRIBUTIONS[name], num_samples=samples, pzx_activation="tanh" if samples == 3 else "identity")
    rng = np.random.default_rng(0)
    p = {q.name: rng.normal(scale=0.4, size=q.shape) for q in layer.parameter_table()}
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.DOUBLE, -1, 4)
    scores, steps = layer.define_pretraining(sd, x, LayerScope("layer", {n: sd.var(n, a) for n, a in p.items()}))
    found = run(sd, {"x": X}, [scores.name(), *[v.name() for v in steps.values()]], RunContext(training=True))
    assert set(steps) == set(p) and fixed_draws == [(5, 2)] * samples
    np.testing.assert_allclose(found[scores.name()], bound_of(layer, p, samples), rtol=1e-12)
    for parameter, variable in steps.items():
        slopes = np.zeros_like(p[parameter])
        for i in np.ndindex(slopes.shape):
            sides = []
            for step in (1e-5, -1e-5):
                moved = {**p, parameter: p[parameter].copy()}
                moved[parameter][i] += step
                sides.append(bound_of(layer, moved, samples).sum())
            slopes[i] = (sides[0] - sides[1]) / 2e-5
        np.testing.assert_allclose(found[variable.name()], slopes, rtol=1e-6, atol=1e-8, err_msg=parameter)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_pretraining_lowers_the_bound(name):
    net = network(vae(output_distribution=DISTRIBUTIONS[name], updater=Adam(0.02), num_samples=5), OutputLayer(n_in=2, n_out=3))
    scores = []
    for _ in range(60):
        net.pretrain_layer(0, X)
        scores.append(net.get_layer(0).score())
    assert np.mean(scores[-10:]) < np.mean(scores[:10]) - 0.05 * abs(np.mean(scores[:10]))
    assert net.score() == 0 and net.get_iteration_count() == 0


def test_equal_seeds_pretrain_equally_and_each_step_draws_anew():
    one, other = (network(vae(), OutputLayer(n_in=2, n_out=3)) for _ in range(2))
    start = one.params()
    one.pretrain_layer(0, X)
    other.pretrain([DataSet(X, Y)])
    np.testing.assert_array_equal(one.params(), other.params())
    first = one.params() - start
    other.set_params(start)
    other.pretrain_layer(0, X)
    assert np.abs(other.params() - start - first).max() > 1e-4


def test_a_step_takes_penalties_normalization_and_constraints_along(fixed_draws):
    plain = network(vae(), OutputLayer(n_in=2, n_out=3))
    start = plain.params()
    plain.pretrain_layer(0, X)
    gradient = (start - plain.params()) / 0.1
    others = {"l2": vae(l2=0.1), "clip": vae(gradient_normalization="ClipElementWiseAbsoluteValue", gradient_normalization_threshold=0.05),
              "constraint": vae(constrain_weights=MaxNormConstraint(0.3, 1))}
    found = {}
    for name, layer in others.items():
        fixed_draws.clear()
        net = network(layer, OutputLayer(n_in=2, n_out=3))
        net.set_params(start)
        net.pretrain_layer(0, X)
        found[name] = net
    table, weights = network(vae(), OutputLayer(n_in=2, n_out=3)).param_table(), found["l2"].param_table()
    plainly = plain.param_table()
    np.testing.assert_allclose(weights["0_d0W"], plainly["0_d0W"] - 0.1 * 0.1 * table["0_d0W"], rtol=1e-9)
    np.testing.assert_allclose(weights["0_d0b"], plainly["0_d0b"], rtol=1e-9)
    penalty = 0.05 * sum((a ** 2).sum() for n, a in table.items() if n.startswith("0_") and n.endswith("W"))
    assert found["l2"].get_layer(0).score() == pytest.approx(plain.get_layer(0).score() + penalty)
    np.testing.assert_allclose(found["clip"].params(), start - 0.1 * np.clip(gradient, -0.05, 0.05), rtol=1e-9)
    for name, array in found["constraint"].param_table().items():
        if name.startswith("0_") and name.endswith("W"):
            assert np.sqrt((array ** 2).sum(1)).max() <= 0.3 + 1e-6


def test_weight_noise_acts_while_pretraining(fixed_draws):
    noisy = network(vae(weight_noise=WeightNoise(ConstantDistribution(0.1))), OutputLayer(n_in=2, n_out=3))
    shifted = network(vae(), OutputLayer(n_in=2, n_out=3))
    weights = [n for n in shifted.param_table() if n.startswith("0_") and n.endswith("W")]
    for name in weights:
        shifted.get_param(name)[...] += 0.1
    noisy.pretrain_layer(0, X)
    fixed_draws.clear()
    shifted.pretrain_layer(0, X)
    for name, array in shifted.param_table().items():
        np.testing.assert_allclose(noisy.get_param(name), array - 0.1 if name in weights else array, rtol=1e-6, atol=1e-7)
    assert noisy.get_layer(0).score() == pytest.approx(shifted.get_layer(0).score(), rel=1e-6)


def test_training_with_labels_reaches_the_encoder_only():
    check_network(network(vae(), OutputLayer(n_in=2, n_out=3)), X, Y, without=("d0W", "d0b", "LogStd2W", "LogStd2b", "pXZW", "pXZb"))
    net = network(vae(l2=0.01), OutputLayer(n_in=2, n_out=3))
    before = {n: a.copy() for n, a in net.param_table().items()}
    gradient_of(net, X, Y)
    table = net.gradient().gradient_for_variable()
    net.fit(DataSet(X, Y))
    for name, array in net.param_table().items():
        own = name.removeprefix("0_")
        if name.startswith("0_") and own.startswith(("d", "pXZ", "pZXLogStd2")):
            assert name not in table and np.array_equal(array, before[name]), name
        else:
            assert not np.array_equal(array, before[name]), name


def test_penalties_of_the_decoder_are_no_part_of_the_score_with_labels():
    net = network(vae(l2=0.1), OutputLayer(n_in=2, n_out=3))
    wanted = 0.05 * sum((net.get_param(f"0_{n}") ** 2).sum() for n in ("e0W", "e1W", "pZXMeanW"))
    assert net.calc_regularization_score() == pytest.approx(wanted)


def test_dropout_is_ignored():
    net = network(vae(dropout=0.5), OutputLayer(n_in=2, n_out=3))
    np.testing.assert_array_equal(net.output(X, train=True), net.output(X))


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_files(name):
    layer = vae(output_distribution=DISTRIBUTIONS[name], num_samples=4, pzx_activation="softsign")
    again = Layer.from_json(layer.to_json())
    assert again == layer and again.output_distribution == DISTRIBUTIONS[name]


def test_builder():
    built = (VariationalAutoencoder.Builder().nIn(4).nOut(2).encoderLayerSizes(3, 5).decoderLayerSizes(4).numSamples(2)
             .pzxActivationFunction(Activation.TANH).lossFunction(Activation.SIGMOID, LossFunction.XENT).build())
    loss = LossFunctionWrapper("sigmoid", "xent")
    assert built == VariationalAutoencoder(**SIZES, num_samples=2, pzx_activation="tanh", output_distribution=loss)
    other = VariationalAutoencoder.Builder().reconstructionDistribution(COMPOSITE).loss_function("MSE").build()
    assert (other.output_distribution, other.loss_function) == (COMPOSITE, LossFunction.MSE)


@pytest.mark.parametrize(("options", "message"), [
    ({"encoder_layer_sizes": ()}, "encoder_layer_sizes needs at least one"),
    ({"decoder_layer_sizes": (3, 0)}, r"decoder_layer_sizes.*\(3, 0\)"),
    ({"num_samples": 0}, "num_samples must be at least 1; got 0")])
def test_wrong_sizes(options, message):
    with pytest.raises(ConfigurationError, match=message):
        vae(**options)
