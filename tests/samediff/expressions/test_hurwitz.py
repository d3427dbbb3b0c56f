"""Zeta and polygamma far below 0: SciPy's numbers, in a time that does not grow with the argument."""
from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from dl4py.samediff.expressions.arrays import xp

X = np.concatenate([np.linspace(-3000, 40, 1999), [-64, -65, -64.25, -63.5, -1e3, -0.0, 0, 2.5, np.inf, -np.inf, np.nan]])


@pytest.mark.parametrize("order", [0, 1, 2, 3, 8, 0.5, -1])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name, more", [("polygamma", 0), ("zeta", 1)])
def test_as_scipy(name, more, order, dtype):
    x = X.astype(dtype)
    with np.errstate(all="ignore"):
        found, wanted = getattr(xp, name)(dtype(order + more), x), getattr(scipy.special, name)(dtype(order + more), x)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-11 if dtype is np.float64 else 1e-5)


def test_far_numbers():
    """Minus a trillion and a quarter: pi and its powers, by reflection; the terms could not be added up one by one."""
    x = np.array([-1e12 - 0.25, -1e12, -1e300])
    np.testing.assert_allclose(xp.polygamma(1, x), [2 * np.pi**2, np.inf, np.inf], rtol=1e-9)
    np.testing.assert_allclose(xp.polygamma(2, x[:1]), [4 * np.pi**3], rtol=1e-9)
    np.testing.assert_allclose(xp.polygamma(np.array([0.0, 1.0]), x[0]), [np.log(1e12) + np.pi, 2 * np.pi**2], rtol=1e-9)
