"""Constraints: recorded arrays and bad options."""
from __future__ import annotations

from pathlib import Path
from typing import Any

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


def test_dimension_that_a_bias_does_not_have() -> None:
    with pytest.raises(ShapeError, match=r"dimension 1 .*\(3,\)"):
        max_norm(np, np.ones(3), 1.0, [1])


def test_limits_in_the_wrong_order() -> None:
    with pytest.raises(ConfigurationError, match=r"0\.9"):
        min_max_norm(np, np.ones((2, 2)), 0.9, 0.1, 1.0, [0])
