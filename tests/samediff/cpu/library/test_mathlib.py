"""Accuracy of the compiled mathematical functions."""
from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from dl4py.samediff.cpu.library import mathlib
from dl4py.samediff.expressions.arrays import xp

DOUBLE = {"exp": 1.5, "expm1": 3.5, "log": 1.0, "log1p": 1.5, "tanh": 3.5, "sigmoid": 2.5}
LIMITS = {"exp": 1.0, "expm1": 1.6, "log": 1.0, "log1p": 1.6, "tanh": 5.0, "erf": 2.0, "sigmoid": 2.6}


def exact(name, x):
    with np.errstate(all="ignore"):
        x = x.astype(np.float64) if x.dtype == np.float32 else x
        return 1 / (1 + np.exp(-x)) if name == "sigmoid" else getattr(xp, name)(x)


@pytest.fixture(scope="module")
def loops():
    def make(name):
        space = {"f": getattr(mathlib, name)}
        exec("def loop(x, y):\n    for i in range(x.size):\n        y[i] = f(x[i])\n", space)
        return njit(error_model="numpy")(space["loop"])
    return {name: make(name) for name in LIMITS}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", LIMITS)
def test_float32_functions_are_accurate(name, loops, rng):
    near = [rng.normal(size=20000) * s for s in (1e-3, 0.1, 1, 5, 30)]
    x = np.concatenate([*near, 10.0 ** rng.uniform(-37, 37, 20000)])
    x = np.abs(x.astype(np.float32)) if name == "log" else x.astype(np.float32)
    got = np.empty_like(x)
    loops[name](x, got)
    want = exact(name, x)
    with np.errstate(all="ignore"):
        rounded = want.astype(np.float32)
        ok = np.isfinite(rounded) & (np.abs(rounded) > 1.2e-38)
        error = np.abs(got[ok].astype(float) - want[ok]) / np.spacing(np.abs(rounded[ok]))
    assert error.max() <= LIMITS[name]


@pytest.mark.parametrize("name", LIMITS)
def test_special_values_are_those_of_numpy(name, loops):
    x = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1e-40, -1, 88.7, -87.5, -103, 89, -3e38, 3e38], np.float32)
    got = np.empty_like(x)
    loops[name](x, got)
    with np.errstate(all="ignore"):
        want = exact(name, x).astype(np.float32)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-38)


def test_tanh_stays_in_its_range(loops):
    """Rounding carries no value beyond 1, where the inverse is NaN, and everything beyond 9 is 1."""
    x = np.concatenate([np.linspace(6, 9.5, 200_001), [30, 3e38, np.inf]]).astype(np.float32)
    got, negative = np.empty_like(x), np.empty_like(x)
    loops["tanh"](x, got)
    loops["tanh"](-x, negative)
    assert got.max() == 1
    assert (got[x > 9] == 1).all()
    np.testing.assert_array_equal(negative, -got)


@pytest.mark.parametrize("name", LIMITS)
def test_float64_functions_are_exact(name, loops):
    x = np.linspace(0.1, 4, 101)
    got = np.empty_like(x)
    loops[name](x, got)
    np.testing.assert_allclose(got, exact(name, x), rtol=1e-15, atol=3e-16)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no longer numbers to compare with")
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", DOUBLE)
def test_float64_functions_are_accurate(name, loops, rng):
    x = np.concatenate([*(rng.normal(size=20000) * s for s in (1e-3, 0.1, 1, 5, 30, 300)), 10.0 ** rng.uniform(-300, 300, 20000)])
    x = np.abs(x) if name.startswith("log") else x
    got = np.empty_like(x)
    loops[name](x, got)
    want = exact(name, x.astype(np.longdouble))
    with np.errstate(all="ignore"):
        rounded = want.astype(np.float64)
        ok = np.isfinite(rounded) & (np.abs(rounded) > 1e-300)
        error = np.abs((got[ok] - want[ok]) / np.spacing(np.abs(rounded[ok])))
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(rounded))
    assert error.max() <= DOUBLE[name]


@pytest.mark.parametrize("name", DOUBLE)
def test_special_values_of_float64_are_those_of_numpy(name, loops):
    x = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1e-310, 5e-324, -1, -2, 709.7, 710, -708, -745, -1e300, 1e300])
    got = np.empty_like(x)
    loops[name](x, got)
    with np.errstate(all="ignore"):
        want = exact(name, x)
    np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-323)
    np.testing.assert_array_equal(np.signbit(got[3:5]), np.signbit(want[3:5]))
