"""Results with fewer digits than their type has."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.base.user_code.check_report import CheckFailure
from dl4py.samediff.base.user_code.precision import _bits, keeps_precision

X = np.array([0.3, -1.7, 2.9, 5.1])


def rounded(a):
    return a.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("code", [
    lambda x: rounded(x * x), lambda x: np.exp(rounded(x)), lambda x: np.maximum(rounded(x) ** 2 - 1, 0) / 3])
def test_fewer_digits(code):
    with pytest.raises(CheckFailure, match="result 0 is float64, and something on the way is computed in float32"):
        keeps_precision(lambda by: [code(by * X)], "result")


@pytest.mark.parametrize("code", [
    lambda x: np.exp(x), lambda x: (x * x).astype(np.float32), lambda x: np.round(16 * x) / 16, lambda x: np.sign(x), lambda x: x[:2],
    lambda x: np.maximum(x, 0), lambda x: x / np.abs(x).max(), lambda x: np.argsort(x), lambda x: x * np.nan, lambda x: 0.1 + 0 * x])
def test_all_digits(code):
    keeps_precision(lambda by: [code(by * X)], "result")


def test_values_that_are_refused():
    def results(by):
        if by != 1:
            raise ValueError("1 alone")
        return [rounded(X * X)]
    keeps_precision(results, "result")


def test_bits_of_fractions():
    assert _bits(np.array([1.0, 0.75, -5.0])).tolist() == [1, 2, 3]
    assert _bits(np.array([float(np.float32(0.1))]))[0] <= 24 < _bits(np.array([1 / 3]))[0]
