"""Random small models that Keras itself builds, saves and trains, where it is installed."""
from __future__ import annotations

import os
import warnings

import numpy as np
import pytest

from dl4py import MultiDataSet
from dl4py.networks import KerasModelImport, MultiLayerNetwork

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def keras():
    os.environ.setdefault("KERAS_BACKEND", "jax")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("keras")


def image_layers(L, rng):
    first = int(rng.integers(2, 5))
    return [L.Conv2D(first, 3, padding="same", activation="relu"), L.DepthwiseConv2D(2, depth_multiplier=2), L.BatchNormalization(),
            L.Conv2DTranspose(3, 2, strides=2), L.SeparableConv2D(3, 2), L.LayerNormalization(), L.ZeroPadding2D(1),
            L.AveragePooling2D(2, strides=1, padding="same"), L.PReLU(shared_axes=[1, 2], alpha_initializer="random_normal")]


def series_layers(L, rng):
    units = int(rng.integers(2, 5))
    return [L.Conv1D(units, 2, padding="causal", activation="tanh"), L.LSTM(units, return_sequences=True),
            L.GRU(units, return_sequences=True), L.Bidirectional(L.SimpleRNN(units, return_sequences=True), merge_mode="ave"),
            L.TimeDistributed(L.Dense(units, activation="softsign")), L.BatchNormalization(), L.Conv1DTranspose(units, 2),
            L.LayerNormalization(), L.UpSampling1D(2)]


def row_layers(L, rng):
    names = ["relu", "gelu", "silu", "softplus", "hard_sigmoid", "selu", "mish"]
    return [L.Dense(int(rng.integers(2, 6)), activation=str(rng.choice(names))), L.BatchNormalization(), L.LeakyReLU(0.1),
            L.RMSNormalization(), L.Dense(4, kernel_regularizer="l2"), L.ELU(), L.Rescaling(2.0, 0.5)]


@pytest.mark.parametrize("suffix", ["keras", "h5"])
@pytest.mark.parametrize("seed", range(3))
def test_random_models(keras, seed, suffix, tmp_path):
    L, rng = keras.layers, np.random.default_rng(seed)
    keras.utils.set_random_seed(seed)
    shape, choices = [((6, 5, 2), image_layers), ((5, 3), series_layers), ((4,), row_layers)][seed % 3]
    available = choices(L, rng)
    picked = [available[i] for i in rng.choice(len(available), 4, replace=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = keras.Sequential([keras.Input(shape), *picked, L.Flatten(), L.Dense(2)])
        model.compile(keras.optimizers.SGD(0.05), "mse", run_eagerly=True)
        x, y = rng.normal(size=(3, *shape)).astype("float32"), rng.normal(size=(3, 2)).astype("float32")
        expected = np.asarray(model(x))
        model.save(tmp_path / f"before.{suffix}")
        model.train_on_batch(x, y)
        model.save(tmp_path / f"after.{suffix}")
    net, after = (KerasModelImport.import_keras_model_and_weights(tmp_path / f"{n}.{suffix}") for n in ("before", "after"))
    np.testing.assert_allclose(net.output(x), expected, atol=1e-5)
    net.fit(x, y) if isinstance(net, MultiLayerNetwork) else net.fit(MultiDataSet([x], [y]))
    for key, value in after.param_table().items():
        np.testing.assert_allclose(net.param_table()[key], value, atol=1e-4, err_msg=key)
