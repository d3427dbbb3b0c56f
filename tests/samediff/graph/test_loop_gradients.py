"""Gradients of loops to higher orders."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff


def graph(times):
    """y = w^(2^n - 1) x^(2^n), written as a loop of n squarings."""
    sd = SameDiff.create()
    x, w = sd.var("x", np.array([1.1, 0.7])), sd.var("w", np.array([0.9, 1.2]))
    i = sd.constant(np.int32(0))
    _, y = sd.while_loop([i, x], lambda sd, v: v[0] < times, lambda sd, v: [v[0] + 1, v[1] * v[1] * w])
    return sd, x, w, y


@pytest.mark.sampled(2)
@pytest.mark.parametrize("times", [0, 1, 3])
def test_to_the_third_order(times):
    sd, x, w, y = graph(times)
    a, b = x.get_arr(), w.get_arr()
    n = 2 ** times
    (gx, gw) = sd.gradients(y, [x, w])
    np.testing.assert_allclose(gx.eval(), n * b ** (n - 1) * a ** (n - 1))
    np.testing.assert_allclose(gw.eval(), (n - 1) * b ** (n - 2.0) * a ** n, atol=1e-12)
    (gxx, gxw) = sd.gradients(gx, [x, w])
    np.testing.assert_allclose(gxx.eval(), n * (n - 1) * b ** (n - 1) * a ** (n - 2.0), atol=1e-12)
    np.testing.assert_allclose(gxw.eval(), n * (n - 1) * b ** (n - 2.0) * a ** (n - 1), atol=1e-12)
    (gxxw,) = sd.gradients(gxx, [w])
    np.testing.assert_allclose(gxxw.eval(), n * (n - 1) * (n - 1) * b ** (n - 2.0) * a ** (n - 2.0), atol=1e-12)


def test_an_input_that_depends_on_another_one():
    sd = SameDiff.create()
    x = sd.var("x", np.array(1.3))
    w = x * x
    _, y = sd.while_loop([sd.constant(np.int32(0)), x], lambda sd, v: v[0] < 2, lambda sd, v: [v[0] + 1, v[1] * w])   # x^5
    (g,) = sd.gradients(y, [x])
    (h,) = sd.gradients(g, [x])
    np.testing.assert_allclose(h.eval(), 20 * 1.3 ** 3)
