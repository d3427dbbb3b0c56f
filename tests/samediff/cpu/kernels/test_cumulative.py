"""Running sums and products along any axes, either way, with and without the element itself."""
from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.cpu.kernel_table import KERNELS
from dl4py.samediff.ops.reduce.cumulative import CumProd, CumSum
from tests.samediff.cpu.kernels.agreement import agree, spec

AXES = [((5,), (0,)), ((3, 4), (1,)), ((3, 4), (0,)), ((2, 3, 5), (1,)), ((2, 3, 5), (-1,)), ((2, 3, 5), (2, 0)), ((2, 3, 4), (0, 1, 2)),
        ((1, 1), (0,))]


@pytest.mark.parametrize("kind", [CumSum, CumProd])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_every_way(kind, dtype, rng):
    for (shape, axes), exclusive, reverse in product(AXES, (False, True), (False, True)):
        agree(kind(exclusive, reverse, axes), (rng.integers(-3, 4, shape).astype(dtype),))
        agree(kind(exclusive, reverse, axes), (rng.choice(np.array([np.nan, np.inf, 1, 0.5, -2]).astype(dtype), shape),)
              if np.dtype(dtype).kind == "f" else (np.ones(shape, dtype),))


@pytest.mark.parametrize("array", [np.ones(3, np.float16), np.ones((0, 3), np.float32)])
def test_what_no_kernel_takes(array):
    assert KERNELS.kernel(CumSum(axis=(0,)), spec(array)) is None


def test_no_step_is_called_from_python(rng):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, 3, 4, 5)
    sd.cumprod(sd.cumsum(sd.math.sin(x.permute(2, 0, 1)), 0, 2), 1).rename("y")
    assert "steps called from Python: 0" in sd.explain({"x": rng.normal(size=(3, 4, 5)).astype(np.float32)}, "y")
