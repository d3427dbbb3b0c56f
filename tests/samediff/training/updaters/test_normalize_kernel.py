"""Compiled normalization of gradients against the array code."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.training import GradientNormalization
from dl4py.samediff.training.updaters.gradient_normalization import normalize_gradients
from dl4py.samediff.training.updaters.normalization import Normalization, NormalizeKernel

SCALE = 0.25


def expected(mode, threshold, gradients, scaled):
    own = [g * g.dtype.type(SCALE) if s else g for g, s in zip(gradients, scaled)]
    return normalize_gradients(np, mode, threshold, own)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("threshold", [0.3, 1e3])
@pytest.mark.parametrize("mode", GradientNormalization, ids=lambda m: m.name)
def test_every_mode(rng, mode, threshold, dtype):
    sizes, scaled = (1, 20, 5000, 3), (True, True, True, False)
    given = [rng.standard_normal(n).astype(dtype) for n in sizes]
    wanted = expected(mode, threshold, given, scaled)
    ours = [g.copy() for g in given]
    run = Normalization([NormalizeKernel(mode, threshold, ours, scaled)])
    run(SCALE)
    for a, b in zip(ours, wanted):
        np.testing.assert_allclose(a, b, rtol=3e-6 if dtype == "float32" else 1e-12)


def test_the_scale_may_change(rng):
    given = [rng.standard_normal(n).astype("f") for n in (5, 40)]
    ours = [g.copy() for g in given]
    run = Normalization([NormalizeKernel(GradientNormalization.ClipL2PerLayer, 0.3, ours, (True, True))])
    for factor in (1, 2, 4):
        for a, g in zip(ours, given):
            a[...] = factor * g
        run(SCALE / factor)
        for a, b in zip(ours, expected(GradientNormalization.ClipL2PerLayer, 0.3, given, (True, True))):
            np.testing.assert_allclose(a, b, rtol=3e-6)


@pytest.mark.parametrize("mode", GradientNormalization, ids=lambda m: m.name)
def test_zeros_stay(mode):
    g = [np.zeros(4, np.float32), np.zeros(2, np.float32)]
    Normalization([NormalizeKernel(mode, 0.5, g, (True, True))])(SCALE)
    assert not any(a.any() for a in g)


@pytest.mark.parametrize("mode", [m for m in GradientNormalization if m is not GradientNormalization.None_], ids=lambda m: m.name)
def test_nan_is_not_hidden(mode):
    g = [np.array([1.0, np.nan, 2.0], np.float32)]
    wanted = expected(mode, 0.5, g, (True,))
    Normalization([NormalizeKernel(mode, 0.5, g, (True,))])(SCALE)
    np.testing.assert_array_equal(np.isnan(g[0]), np.isnan(wanted[0]))


@pytest.mark.parametrize("value", [1e-30, 1e20])
@pytest.mark.parametrize("mode", [m for m in GradientNormalization if "L2" in m.name], ids=lambda m: m.name)
def test_squares_that_leave_the_type(rng, mode, value):
    """Gradients that explode are clipped to the threshold, not to 0; float64 judges."""
    given = [(rng.standard_normal(n) * value).astype(np.float32) for n in (20, 5000)]
    wanted = expected(mode, 0.5 * value, [g.astype(np.float64) for g in given], (True, True))
    ours = [g.copy() for g in given]
    Normalization([NormalizeKernel(mode, 0.5 * value, ours, (True, True))])(SCALE)
    for found in (ours, expected(mode, 0.5 * value, given, (True, True))):
        for a, b in zip(found, wanted):
            np.testing.assert_allclose(a, b, rtol=1e-5)
