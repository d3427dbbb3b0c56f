"""Constraints: recorded arrays and bad options."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from dl4py.samediff.errors import ConfigurationError, ShapeError
from dl4py.samediff.training import max_norm, min_max_norm, non_negative, unit_norm

GOLDEN = Path(__file__).parents[3] / "golden" / "training" / "constraints_direct"
RULES: dict[str, Any] = {
    "maxnorm_dim0": lambda w: max_norm(np, w, 0.6, [0]),
    "maxnorm_dims01": lambda w: max_norm(np, w, 1.0, [0, 1]),
    "minmaxnorm_rate": lambda w: min_max_norm(np, w, 0.3, 0.6, 0.5, [1]),
    "nonnegative": lambda w: non_negative(np, w),
    "unitnorm": lambda w: unit_norm(np, w, [1]),
}


@pytest.mark.parametrize("case", RULES)
def test_recorded_arrays(case: str) -> None:
    arrays = np.load(GOLDEN / case / "arrays.npz")
    for i in range(3):
        got = RULES[case](arrays[f"in_{i}"])
        assert got.dtype == arrays[f"in_{i}"].dtype
        np.testing.assert_allclose(got, arrays[f"out_{i}"], rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("size", [1e-30, 1e-22, 1e22, 1e35])
def test_small_and_large_numbers(size: float) -> None:
    """Norms whose squares FLOAT does not hold."""
    w = np.array([[3, -4], [0, 1]], np.float32) * np.float32(size)
    for rule in (lambda a: max_norm(np, a, 0.5, [1]), lambda a: min_max_norm(np, a, 0.3, 0.6, 1.0, [1]), lambda a: unit_norm(np, a, [1])):
        np.testing.assert_allclose(rule(w), rule(w.astype(np.float64)), 1e-5, 1e-44)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_norms_of_long_vectors_of_16_bits(dtype: Any) -> None:
    """Sums of squares in these types stop growing."""
    w = np.full((5000, 2), 0.5, dtype)
    for rule in (lambda a: max_norm(np, a, 0.5, [0]), lambda a: min_max_norm(np, a, 0.3, 0.6, 1.0, [0]), lambda a: unit_norm(np, a, [0])):
        np.testing.assert_allclose(rule(w).astype(float), rule(w.astype(float)), 2e-2)


def test_a_vector_of_zeros_has_no_direction() -> None:
    np.testing.assert_array_equal(unit_norm(np, np.array([[0.0, 0], [3, 4]]), [1]), [[0, 0], [0.6, 0.8]])


def test_dimension_that_a_bias_does_not_have() -> None:
    with pytest.raises(ShapeError, match=r"dimension 1 .*\(3,\)"):
        max_norm(np, np.ones(3), 1.0, [1])


def test_limits_in_the_wrong_order() -> None:
    with pytest.raises(ConfigurationError, match=r"0\.9"):
        min_max_norm(np, np.ones((2, 2)), 0.9, 0.1, 1.0, [0])
