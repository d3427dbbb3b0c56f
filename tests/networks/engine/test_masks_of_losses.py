"""Masks per output: what the network trains on is what it reports."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import DataSet


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["MSE", "L1", "MCXENT", "KL_DIVERGENCE", "POISSON", "WASSERSTEIN", "HINGE"])
def test_masks_with_fractions_behind_softmax_have_the_derivative_of_the_score(loss):
    rng = np.random.default_rng(0)
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(7).data_type("DOUBLE").list(
        OutputLayer(n_in=4, n_out=3, activation="softmax", loss_function=loss)).build()).init()
    labels = rng.uniform(0.1, 0.9, (4, 3))
    labels /= labels.sum(1, keepdims=True)
    mask = np.array([[1, 0.5, 1], [0, 0, 0.25], [1, 2, 1], [0, 1, 0]])
    data, start, direction = DataSet(rng.normal(size=(4, 4)), labels, None, mask), net.params(), rng.normal(size=net.num_params())

    def score(step):
        net.set_params(start + step * direction.reshape(start.shape))
        return net.score(data)
    slope = len(labels) * (score(1e-6) - score(-1e-6)) / 2e-6
    net.set_params(start)
    net.set_input(data.get_features())
    net.set_labels(labels)
    net.set_layer_mask_arrays(None, mask)
    net.compute_gradient_and_score()
    np.testing.assert_allclose(np.asarray(net.gradient().gradient()).ravel() @ direction, slope, rtol=1e-6, atol=1e-8)
