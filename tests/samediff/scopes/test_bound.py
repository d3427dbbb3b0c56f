"""Compiled functions as methods."""
from __future__ import annotations

import numpy as np

from dl4py import compiled

X = np.arange(6, dtype=np.float64).reshape(2, 3) / 5


class Scaled:
    def __init__(self, factor):
        self.factor = np.float64(factor)

    @compiled
    def loss(self, x, y=None):
        return (self.factor * x * x if y is None else x * y).sum()


def test_methods_have_gradients_by_their_own_positions():
    two, three = Scaled(2), Scaled(3)
    np.testing.assert_allclose(two.loss.gradient()(X), 4 * X)
    np.testing.assert_allclose(three.loss.gradient("x")(X), 6 * X)
    value, (by_x, by_y) = three.loss.value_and_gradient((0, 1))(X, X * 2)
    assert float(value) == float((X * X * 2).sum())
    np.testing.assert_allclose(by_x, X * 2)
    np.testing.assert_allclose(by_y, X)
    np.testing.assert_allclose(two.loss.gradient(-1)(X, X * 2), X)
    assert two.loss.graph(X).inputs() and two.loss.execute(X) == two.loss(X) and two.loss.__name__ == "loss"
    assert two.loss == two.loss != three.loss and len({two.loss, two.loss, three.loss}) == 2
    np.testing.assert_allclose(Scaled.loss.gradient(1)(two, X), 4 * X)
