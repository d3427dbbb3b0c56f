"""Masks that fit no batch are refused; NaN is found on request; frozen layers run as outside of training."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    BatchNormalization,
    DenseLayer,
    DropoutLayer,
    FrozenLayer,
    FrozenLayerWithBackprop,
    OutputLayer,
    RnnOutputLayer,
)
from dl4py.samediff import DataSet
from dl4py.samediff.errors import NumericalError, ShapeError
from tests.helpers.networkcheck import network

RNG = np.random.default_rng(3)
X = RNG.normal(size=(6, 4))
Y = np.eye(3)[RNG.integers(0, 3, 6)]
SERIES = RNG.normal(size=(6, 4, 7))
LABELS = np.moveaxis(np.eye(3)[RNG.integers(0, 3, (6, 7))], 2, 1)


def dense():
    return network(DenseLayer(n_in=4, n_out=5, layer_name="hidden"), OutputLayer(n_in=5, n_out=3))


def recurrent():
    return network(LSTM(n_in=4, n_out=5, layer_name="memory"), RnnOutputLayer(n_in=5, n_out=3, layer_name="out"))


@pytest.mark.parametrize("shape", [(3, 2), (6, 6), (5, 7)])
def test_masks_of_other_shapes_are_refused_with_layer_and_shapes(shape):
    net = recurrent()
    before = net.params()
    for run in (lambda: net.output(SERIES, features_mask=np.ones(shape)), lambda: net.fit(DataSet(SERIES, LABELS, np.ones(shape), None))):
        with pytest.raises(ShapeError, match="memory") as caught:
            run()
        assert str(shape) in str(caught.value) and "(6, 4, 7)" in str(caught.value)
    with pytest.raises(ShapeError, match="'out'.*labels"):
        net.fit(DataSet(SERIES, LABELS, None, np.ones(shape)))
    np.testing.assert_array_equal(net.params(), before)


def test_masks_that_fit_are_taken():
    net = recurrent()
    net.fit(DataSet(SERIES, LABELS, np.ones((6, 7)), np.ones((6, 7))))
    assert net.output(SERIES, features_mask=np.ones((6, 7))).shape == (6, 3, 7)


def refused(net, x, y, text):
    before = net.params()
    with pytest.raises(NumericalError, match=text):
        net.fit(x, y, check_finite=True)
    np.testing.assert_array_equal(net.params(), before)


def test_nan_is_named_where_it_comes_from():
    bad_x, bad_y = X.copy(), Y.copy()
    bad_x[2, 1] = np.nan
    bad_y[1, 0] = np.nan
    refused(dense(), bad_x, Y, r"the data of input 'input'.*nan at \[2, 1\]")
    refused(dense(), X, bad_y, "the labels of output")
    net = dense()
    net.get_param("1_b")[0] = np.inf
    refused(net, X, Y, "parameter '1_b'")
    net = network(DenseLayer(n_in=4, n_out=5, activation="relu", layer_name="hidden"), OutputLayer(n_in=5, n_out=3))
    net.get_param("0_W")[...] = 1e308
    with np.errstate(all="ignore"):
        refused(net, np.abs(X) * 1e10, Y, "activation of layer 'hidden'")


def test_finite_data_trains_with_the_check_as_without():
    one, other = dense(), dense()
    one.fit(X, Y, check_finite=True)
    other.fit(X, Y)
    np.testing.assert_array_equal(one.params(), other.params())


@pytest.mark.parametrize("frozen", [FrozenLayer, FrozenLayerWithBackprop])
def test_frozen_layers_run_as_outside_of_training(frozen):
    net = network(frozen(underlying=BatchNormalization(n_in=4, n_out=4)), frozen(underlying=DropoutLayer(dropout=0.5)),
                  DenseLayer(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=3))
    np.testing.assert_array_equal(net.output(X, train=True), net.output(X))
    before = {n: a.copy() for n, a in net.param_table().items()}
    net.fit(X, Y)
    for name, array in net.param_table().items():
        assert np.array_equal(array, before[name]) == name.startswith("0_")


def test_gradients_end_at_frozen_layers():
    net = network(DenseLayer(n_in=4, n_out=5), FrozenLayer(underlying=DenseLayer(n_in=5, n_out=5)), OutputLayer(n_in=5, n_out=3))
    net.fit(X, Y)
    assert set(net.gradient().gradient_for_variable()) == {"2_W", "2_b"}


def test_rows_for_a_recurrent_layer_are_refused_with_their_shape():
    with pytest.raises(ShapeError, match="memory.*three axes.*got an array with 2") as caught:
        recurrent().output(X)
    assert any("(6, 4)" in note for note in caught.value.__notes__)
