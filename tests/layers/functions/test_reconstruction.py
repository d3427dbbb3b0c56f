"""Reconstruction distributions: closed forms, gradients, samples, files."""
from __future__ import annotations

import math

import numpy as np
import pytest

from dl4py.layers import (
    BernoulliReconstructionDistribution,
    CompositeReconstructionDistribution,
    ExponentialReconstructionDistribution,
    GaussianReconstructionDistribution,
    LossFunctionWrapper,
    LossMAE,
    LossMSE,
    ReconstructionDistribution,
)
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.initializers.nd4j_random import Nd4jRandom, get_random
from tests.helpers.gradcheck import check_gradients

RNG = np.random.default_rng(5)
X = RNG.uniform(0.1, 0.9, (6, 4))
PRE, WIDE = RNG.normal(size=(6, 4)), RNG.normal(size=(6, 8))


def composite():
    return (CompositeReconstructionDistribution.Builder().addDistribution(1, GaussianReconstructionDistribution("identity"))
            .add_distribution(2, BernoulliReconstructionDistribution()).add_distribution(1, ExponentialReconstructionDistribution("tanh"))
            .build())


DISTRIBUTIONS = {
    "gaussian": (GaussianReconstructionDistribution("tanh"), WIDE),
    "bernoulli": (BernoulliReconstructionDistribution(), PRE),
    "exponential": (ExponentialReconstructionDistribution(), PRE),
    "loss": (LossFunctionWrapper("tanh", LossMSE()), PRE),
    "composite": (composite(), RNG.normal(size=(6, 5))),
}


def gaussian(x, mean, log_variance):
    return (0.5 * np.log(2 * np.pi) + log_variance / 2 + (x - mean) ** 2 / (2 * np.exp(log_variance))).sum(1, keepdims=True)


def bernoulli(x, p):
    return -(x * np.log(p) + (1 - x) * np.log(1 - p)).sum(1, keepdims=True)


def exponential(x, log_rate):
    return (np.exp(log_rate) * x - log_rate).sum(1, keepdims=True)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def closed_form(name, pre):
    if name == "gaussian":
        return gaussian(X, np.tanh(pre[:, :4]), np.tanh(pre[:, 4:]))
    if name == "composite":
        first, second = gaussian(X[:, :1], pre[:, :1], pre[:, 1:2]), bernoulli(X[:, 1:3], sigmoid(pre[:, 2:4]))
        return first + second + exponential(X[:, 3:], np.tanh(pre[:, 4:]))
    return {"bernoulli": lambda: bernoulli(X, sigmoid(pre)), "exponential": lambda: exponential(X, pre),
            "loss": lambda: ((X - np.tanh(pre)) ** 2).mean(1, keepdims=True)}[name]()


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_negative_log_probability_and_gradient(name):
    distribution, pre = DISTRIBUTIONS[name]
    wanted = closed_form(name, pre)
    found = distribution.example_neg_log_probability(X, pre)
    assert found.shape == (6, 1)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert distribution.negLogProbability(X, pre, True) == pytest.approx(wanted.mean())
    assert distribution.neg_log_probability(X, pre, False) == pytest.approx(wanted.sum())
    for i, j in np.ndindex(pre.shape):
        step = np.zeros_like(pre)
        step[i, j] = 1e-5
        slope = (closed_form(name, pre + step).sum() - closed_form(name, pre - step).sum()) / 2e-5
        assert distribution.gradient(X, pre)[i, j] == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_second_derivatives(name):
    distribution, pre = DISTRIBUTIONS[name]
    check_gradients(lambda sd, x, z: distribution.define(sd, x, z), {"x": X[:2], "z": pre[:2]})


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_files(name):
    distribution, _ = DISTRIBUTIONS[name]
    assert ReconstructionDistribution.from_json(distribution.to_json()) == distribution
    assert distribution.has_loss_function() == (name == "loss")


def test_means():
    np.testing.assert_allclose(GaussianReconstructionDistribution("tanh").generate_at_mean(WIDE), np.tanh(WIDE[:, :4]))
    np.testing.assert_allclose(BernoulliReconstructionDistribution().generateAtMean(PRE), sigmoid(PRE))
    np.testing.assert_allclose(ExponentialReconstructionDistribution().generate_at_mean(PRE), np.exp(-PRE))
    pre = DISTRIBUTIONS["composite"][1]
    wanted = np.hstack([pre[:, :1], sigmoid(pre[:, 2:4]), np.exp(-np.tanh(pre[:, 4:]))])
    np.testing.assert_allclose(composite().generate_at_mean(pre), wanted)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_samples_have_the_mean_of_the_distribution(name):
    distribution, pre = DISTRIBUTIONS[name]
    many = np.repeat(pre[:1], 20000, axis=0)
    found = distribution.generate_random(many, Nd4jRandom(3))
    assert found.shape == (20000, 4)
    np.testing.assert_allclose(found.mean(0), distribution.generate_at_mean(pre[:1])[0], atol=0.05)
    if name == "gaussian":
        np.testing.assert_allclose(found.std(0), np.exp(np.tanh(pre[0, 4:]) / 2), rtol=0.03)
    if name == "bernoulli":
        assert set(np.unique(found)) == {0.0, 1.0}


def test_samples_follow_the_process_wide_generator():
    get_random().set_seed(11)
    first = BernoulliReconstructionDistribution().generate_random(PRE)
    get_random().set_seed(11)
    np.testing.assert_array_equal(BernoulliReconstructionDistribution().generate_random(PRE), first)
    np.testing.assert_array_equal(BernoulliReconstructionDistribution().generate_random(PRE, Nd4jRandom(11)), first)


def test_certain_probabilities_count_as_0():
    pre = np.array([[1000.0, -1000.0, 1000.0]])
    x = np.array([[1.0, 0.0, 0.0]])
    certain = BernoulliReconstructionDistribution()
    assert certain.neg_log_probability(x, pre) == 0                      # DL4J does not see that the last one is impossible
    np.testing.assert_array_equal(certain.gradient(x, pre), np.zeros((1, 3)))


def test_losses_of_reconstructions():
    parts = (CompositeReconstructionDistribution.Builder().add_distribution(1, LossFunctionWrapper("identity", LossMSE()))
             .add_distribution(3, LossFunctionWrapper("sigmoid", LossMAE())).build())
    assert parts.has_loss_function() and parts.distribution_input_size(4) == 4
    apart = np.abs(X - PRE)
    wanted = apart[:, :1] ** 2 + apart[:, 1:].sum(1, keepdims=True)       # LossMAE adds up in its array of scores
    np.testing.assert_allclose(parts.compute_loss_function_score_array(X, PRE), wanted)
    through = np.abs(X[:, 1:] - sigmoid(PRE[:, 1:]))
    np.testing.assert_allclose(parts.example_neg_log_probability(X, PRE), apart[:, :1] ** 2 + through.sum(1, keepdims=True))
    assert parts.neg_log_probability(X, PRE) == pytest.approx((apart[:, 0] ** 2 + through.mean(1)).mean())


def test_sizes_of_parts():
    with pytest.raises(ConfigurationError, match="4 values.*5 inputs"):
        composite().distribution_input_size(5)
    with pytest.raises(ConfigurationError, match="2 sizes and 1"):
        CompositeReconstructionDistribution((1, 2), (BernoulliReconstructionDistribution(),))
    with pytest.raises(ConfigurationError, match="every part"):
        composite().compute_loss_function_score_array(X, PRE)
    assert composite().total_size == 4


class Laplace(ReconstructionDistribution):
    """A distribution of one's own: |x - m| + log 2."""

    def define(self, sd, x, pre_output):
        return sd.math.abs(x - pre_output).sum(1) + math.log(2) * 4

    def define_mean(self, sd, pre_output):
        return pre_output * 1.0

    def sample(self, rng, pre_output):
        u = rng.uniform(pre_output.shape, dtype=pre_output.dtype) - 0.5
        return pre_output - np.sign(u) * np.log1p(-2 * np.abs(u))


def test_a_distribution_of_ones_own():
    wanted = np.abs(X - PRE).sum(1, keepdims=True) + 4 * math.log(2)
    np.testing.assert_allclose(Laplace().example_neg_log_probability(X, PRE), wanted)
    np.testing.assert_array_equal(Laplace().gradient(X, PRE), np.sign(PRE - X))
    assert Laplace().generate_random(PRE, Nd4jRandom(1)).shape == PRE.shape
