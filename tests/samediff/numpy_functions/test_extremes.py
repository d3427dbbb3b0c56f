"""Spreads and norms of numbers whose squares leave the range of their type, and their gradients."""
from __future__ import annotations

import warnings

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff

VALUES = {"tiny": np.array([1e-30, 3e-30, 5e-30], np.float32), "huge": np.array([1e30, 3e30, -5e30], np.float32),
          "far from 0": np.array([1e8, 1e8 + 8, 1e8 + 16], np.float32),
          "alike": np.full(3, 2, np.float32), "zeros": np.zeros(3, np.float32)}
FUNCTIONS = {
    "std": np.std, "sample std": lambda x: np.std(x, ddof=1), "var": np.var, "two degrees": lambda x: np.std(x, ddof=2),
    "kept": lambda x: np.std(x, axis=0, keepdims=True), "each": lambda x: np.std(x, axis=()), "norm": np.linalg.norm,
    "vector_norm": lambda x: np.linalg.vector_norm(x, axis=0), "order 3": lambda x: np.linalg.norm(x, 3),
    "order 0.5, kept": lambda x: np.linalg.norm(x, 0.5, keepdims=True), "order -2": lambda x: np.linalg.norm(x, -2, axis=0),
    "nanstd": np.nanstd, "nanvar": np.nanvar, "nanmean": np.nanmean}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_in_wider_numbers(name, values):
    sd = SameDiff.create()
    made = FUNCTIONS[name](sd.var("x", VALUES[values]))
    with np.errstate(all="ignore"):
        wanted = np.asarray(FUNCTIONS[name](VALUES[values].astype(np.float64))).astype(np.float32)
    np.testing.assert_allclose(made.eval(), wanted, 1e-5)
    assert made.eval().dtype == np.float32
    made.sum("loss").mark_as_loss()
    if (name, values) not in (("nanstd", "zeros"), ("nanstd", "alike"), ("order -2", "zeros")):         # there their slopes are infinite
        assert np.isfinite(sd.calculate_gradients({}, "x")["x"]).all()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("ddof", [0, 1, 2, 1.5])
@pytest.mark.parametrize("function", [np.std, np.var])
def test_open_sizes_and_degrees_of_freedom(function, ddof):
    x = SameDiff.create().placeholder("x", DataType.FLOAT, -1, 3)
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    for axis in (None, 0, 1, (0, 1), ()):
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            wanted = function(values, axis=axis, ddof=ddof)
        np.testing.assert_allclose(function(x, axis=axis, ddof=ddof).eval({"x": values}), wanted, 1e-5)
