from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers.functions.activations import Activation, ActivationPReLU, ActivationRReLU, IActivation
from dl4py.samediff.errors import DL4PyError

GRID = np.linspace(-4.05, 4.05, 28).reshape(4, 7)          # no kink lies on it
SMOOTH = [a for a in Activation if a is not Activation.RRELU]


@pytest.mark.parametrize("kind", SMOOTH, ids=lambda a: a.name)
def test_gradient_is_the_derivative(kind):
    f = kind.get_activation_function()
    weights = np.random.default_rng(1).normal(size=GRID.shape)
    gradient, parameters = f.backprop(GRID, weights)
    h = 1e-6
    for i in np.ndindex(GRID.shape):
        step = np.zeros_like(GRID)
        step[i] = h
        slope = ((f.get_activation(GRID + step) - f.get_activation(GRID - step)) * weights).sum() / (2 * h)
        assert gradient[i] == pytest.approx(slope, abs=2e-7)
    assert parameters is None


@pytest.mark.parametrize("kind", SMOOTH, ids=lambda a: a.name)
def test_large_inputs_stay_finite(kind):
    f = kind.get_activation_function()
    x = np.array([[-300.0, -90.0, 90.0, 300.0]], np.float32)
    assert np.isfinite(f.get_activation(x)).all()
    assert np.isfinite(f.backprop(x, np.ones_like(x))[0]).all()
    assert f.get_activation(x).dtype == np.float32


@pytest.mark.parametrize("kind", SMOOTH, ids=lambda a: a.name)
def test_small_and_large_numbers(kind):
    """FLOAT from 1e-30 to 1e30; float64 judges. Gradients that are what is left of 1 are judged as such."""
    f = kind.get_activation_function()
    x = np.outer([-1, -0.3, 0.5, 1], [1e-30, 1e-20, 1e-10, 1e-4, 1, 100, 1e10, 1e20, 1e30]).reshape(1, -1)
    if kind is Activation.CUBE:
        x = x[np.abs(x) < 1e12][None]
    if kind is Activation.SOFTMAX:
        x = x[:, -4:]
    left_of_one = 0 if kind in (Activation.RATIONALTANH, Activation.SOFTSIGN) else 1e-7
    pairs = ((f.get_activation(a), f.backprop(a, np.ones_like(a))[0]) for a in (x.astype(np.float32), x))
    for found, wanted, slack in zip(*pairs, (0, left_of_one)):
        np.testing.assert_allclose(found, wanted, 1e-4, 1e-36 + slack)


def test_input_is_not_changed():
    x = GRID.copy()
    Activation.SOFTMAX.get_activation_function().get_activation(x)
    assert (x == GRID).all()


def test_relu_options():
    f = IActivation.of("relu").replace(max=3.0, threshold=1.0, negative_slope=0.1)
    x = np.array([[-1.0, 0.5, 2.0, 5.0]])
    assert f.get_activation(x) == pytest.approx(np.array([[-0.2, -0.05, 2.0, 3.0]]))
    assert f.backprop(x, np.ones_like(x))[0] == pytest.approx(np.array([[0.1, 0.1, 1.0, 0.0]]))


def test_random_slopes_only_while_training():
    f = ActivationRReLU()
    x = np.full((50, 40), -1.0)
    first, second = f.get_activation(x, True), f.get_activation(x, True)
    assert (first != second).any()
    assert first.min() >= -1 / 3 and first.max() <= -1 / 8
    assert (f.get_activation(x) == f.get_activation(x)).all()


def test_parametric_relu_has_a_gradient_for_its_slopes():
    f = ActivationPReLU(np.array([[0.5, 0.1, 2.0]]), None)
    x = np.array([[-1.0, 2.0, -3.0], [-2.0, -1.0, 1.0]])
    assert f.get_activation(x) == pytest.approx(np.where(x > 0, x, x * [0.5, 0.1, 2.0]))
    dx, dalpha = f.backprop(x, np.ones_like(x))
    assert dx == pytest.approx(np.where(x > 0, 1.0, [0.5, 0.1, 2.0] * np.ones((2, 1))))
    assert dalpha == pytest.approx(np.array([[-3.0, -1.0, -3.0]]))
    with pytest.raises(DL4PyError, match="alpha"):
        ActivationPReLU().get_activation(x)
