"""What the tests of ops share."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.helpers import gradcheck


@pytest.fixture
def check_gradients() -> Callable[..., None]:
    """Gradients for unnamed float64 inputs, to the second order: ``check_gradients(build, arrays)``."""
    def check(build: Callable[..., Any], arrays: Sequence[Any], order: int = 2, rtol: float = 1e-5) -> None:
        named = {f"x{i}": np.asarray(a, np.float64) for i, a in enumerate(arrays)}
        gradcheck.check_gradients(lambda sd, **inputs: build(sd, *inputs.values()), named, order, rtol=2 * rtol)
    return check
