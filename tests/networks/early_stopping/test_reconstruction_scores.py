"""Scores of autoencoders for early stopping."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import AutoEncoder, GaussianReconstructionDistribution, OutputLayer, VariationalAutoencoder
from dl4py.networks import AutoencoderScoreCalculator, VAEReconErrorScoreCalculator, VAEReconProbScoreCalculator
from dl4py.samediff import DataSet, ListDataSetIterator
from dl4py.samediff.evaluation import RegressionEvaluation
from dl4py.samediff.initializers.nd4j_random import Nd4jRandom, get_random
from tests.helpers.networkcheck import network

X = np.random.default_rng(8).uniform(0.1, 0.9, (10, 4))
Metric = RegressionEvaluation.Metric


def batches():
    return ListDataSetIterator(DataSet(X, X).as_list(), 4)      # 4, 4 and 2 examples


def autoencoder():
    return network(AutoEncoder(n_in=4, n_out=3, activation="sigmoid"), OutputLayer(n_in=3, n_out=2))


def vae():
    return network(VariationalAutoencoder(n_in=4, n_out=2, encoder_layer_sizes=(5,), decoder_layer_sizes=(5,),
                                          output_distribution=GaussianReconstructionDistribution("identity")), OutputLayer(n_in=2, n_out=2))


@pytest.mark.parametrize(("metric", "measure"), [(Metric.MSE, lambda e: (e ** 2).mean()), (Metric.MAE, lambda e: np.abs(e).mean()),
                                                 (Metric.RMSE, lambda e: np.sqrt((e ** 2).mean(0)).mean())])
def test_errors_of_reconstructions(metric, measure):
    net = autoencoder()
    w, b, vb = (net.get_param(f"0_{n}") for n in ("W", "b", "vb"))

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))
    score = AutoencoderScoreCalculator(metric, batches())
    assert score.calculate_score(net) == pytest.approx(measure(X - sigmoid(sigmoid(X @ w + b) @ w.T + vb)))
    assert score.minimize_score()

    net = vae()
    p = net.get_layer(0).param_table()
    z = np.tanh(X @ p["e0W"] + p["e0b"]) @ p["pZXMeanW"] + p["pZXMeanb"]
    mean = (np.tanh(z @ p["d0W"] + p["d0b"]) @ p["pXZW"] + p["pXZb"])[:, :4]
    assert VAEReconErrorScoreCalculator(metric, batches()).calculate_score(net) == pytest.approx(measure(X - mean))


def test_correlation_is_to_be_large():
    assert not VAEReconErrorScoreCalculator(Metric.PC, batches()).minimize_score()


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("average", [True, False])
def test_probabilities_of_reconstructions(log, average):
    net, rng = vae(), Nd4jRandom(31)
    layer = net.get_layer(0)
    parts = [layer.reconstruction_log_probability(X[i:i + 4], 3, rng) for i in (0, 4, 8)]
    found = np.concatenate(parts) if log else np.exp(np.concatenate(parts))
    get_random().set_seed(31)
    score = VAEReconProbScoreCalculator(batches(), 3, log, average)
    assert score.calculate_score(net) == pytest.approx(found.mean() if average else found.sum())
    assert not score.minimize_score()


def test_pretraining_raises_the_probability():
    net = vae()
    score = VAEReconProbScoreCalculator(batches(), 20, True)
    before = score.calculate_score(net)
    net.pretrain_layer(0, batches(), 60)
    assert score.calculate_score(net) > before + 0.5
