"""LSTM gate kernels against NumPy and finite differences."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.executor.cpu.kernels.lstm import lstm_gates, lstm_gates_backward


def reference(z, b, c0, order):
    units = c0.shape[1]
    a, f, o, g = (z[:, k * units : (k + 1) * units] + b[k * units : (k + 1) * units] for k in order)
    a, f, o, g = np.tanh(a), 1 / (1 + np.exp(-f)), 1 / (1 + np.exp(-o)), 1 / (1 + np.exp(-g))
    c = f * c0 + g * a
    return o * np.tanh(c), c


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 2, 0)])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (4, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gates_forward_and_backward(dtype, shape, order, rng):
    batch, units = shape
    z, b = rng.normal(size=(batch, 4 * units)).astype(dtype), rng.normal(size=4 * units).astype(dtype)
    c0, dh, dc = (rng.normal(size=shape).astype(dtype) for _ in range(3))
    c1, tanh_c, h = (np.empty(shape, dtype) for _ in range(3))
    active = z.copy()
    lstm_gates(active, b, c0, c1, tanh_c, h, *order)
    want_h, want_c = reference(z.astype(float), b.astype(float), c0.astype(float), order)
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-6, "atol": 1e-7}
    np.testing.assert_allclose(h, want_h, **tolerance)
    np.testing.assert_allclose(c1, want_c, **tolerance)

    def value(z, c0):
        out, cell = reference(z, b.astype(float), c0, order)
        return (out * dh + cell * dc).sum()

    def slope(f, x, step=1e-6):
        x, found = x.astype(float), np.empty(x.shape)
        for k in np.ndindex(x.shape):
            kept = x[k]
            x[k] = kept + step
            up = f(x)
            x[k] = kept - step
            found[k] = (up - f(x)) / (2 * step)
            x[k] = kept
        return found
    dz_want, dc_want = slope(lambda v: value(v, c0.astype(float)), z), slope(lambda v: value(z.astype(float), v), c0)
    carried = dc.copy()
    lstm_gates_backward(active, c0, tanh_c, dh, carried, active, *order)
    np.testing.assert_allclose(active, dz_want, **tolerance)
    np.testing.assert_allclose(carried, dc_want, **tolerance)
