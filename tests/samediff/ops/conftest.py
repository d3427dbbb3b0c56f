"""Checks of gradients against central differences, for every test of ops."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import SameDiff

Build = Callable[..., Any]


def _weights(n: int) -> np.ndarray:
    return ((7 * np.arange(n) + 3) % 11 - 5.5) / 4


def _numeric(value: Callable[[list[np.ndarray]], float], arrays: list[np.ndarray], step: float = 1e-5) -> list[np.ndarray]:
    found = []
    for k, a in enumerate(arrays):
        slope = np.zeros_like(a)
        for i in np.ndindex(a.shape):
            sides = []
            for sign in (1, -1):
                moved = [b.copy() for b in arrays]
                moved[k][i] += sign * step
                sides.append(value(moved))
            slope[i] = (sides[0] - sides[1]) / (2 * step)
        found.append(slope)
    return found


def check_gradients(build: Build, arrays: Sequence[Any], order: int = 2, rtol: float = 1e-5) -> None:
    """Compare gradients (and those of gradients) of a weighted sum of ``build(sd, *variables)`` with central differences."""
    given = [np.asarray(a, np.float64) for a in arrays]
    sd = SameDiff.create()
    variables = [sd.var(f"x{i}", a) for i, a in enumerate(given)]
    result = build(sd, *variables)
    loss = None
    for out in result if isinstance(result, (list, tuple)) else [result]:
        n = int(np.prod(out.eval().shape))
        part = (out.reshape(-1) * sd.constant(_weights(n))).sum()
        loss = part if loss is None else loss + part
    for _ in range(order):
        def value(moved: list[np.ndarray], target: Any = loss) -> float:
            for v, a in zip(variables, moved):
                v.set_array(a)
            return float(target.eval())

        want = _numeric(value, given)
        for v, a in zip(variables, given):
            v.set_array(a)
        slopes = sd.gradients(loss, variables)
        for v, slope, w in zip(variables, slopes, want):
            got = np.zeros_like(w) if slope is None else slope.eval()
            np.testing.assert_allclose(got, w, rtol=rtol, atol=rtol * max(1.0, np.abs(w).max()), err_msg=v.name())
        parts = [(s.reshape(-1) * sd.constant(_weights(a.size)[::-1].copy())).sum() for s, a in zip(slopes, given) if s is not None]
        loss = parts[0]
        for part in parts[1:]:
            loss = loss + part


@pytest.fixture(name="check_gradients")
def _check_gradients() -> Callable[..., None]:
    return check_gradients
