"""Running totals and sums of neighbours, on the emulator."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.cuda.ops.nn import local_response
from dl4py.samediff.cuda.ops.reduce import cumulative
from dl4py.samediff.ir.op import OPS
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler

rng = np.random.default_rng(8)
SHAPES = [((7, 33), (1,)), ((7, 33), (0,)), ((2, 1025), (-1,)), ((3, 5000), (1,)), ((4, 5, 6), (1,)), ((4, 5, 6), (0, 2)), ((1,), (0,)),
          ((0, 3), (1,)), ((3, 0), (1,))]


@pytest.mark.slow
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_totals(exclusive, reverse):
    for shape, axes in SHAPES[:-1] if exclusive else SHAPES:
        x = rng.standard_normal(shape).astype(np.float32)
        check_kernel(OPS["cumsum"](exclusive, reverse, axes), x, tolerance=1e-4)
        check_kernel(OPS["cumprod"](exclusive, reverse, axes), 1 + x * np.float32(0.01), tolerance=1e-4)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "int64", "uint16"])
def test_types(dtype):
    x = rng.integers(0, 4, (5, 40)).astype(dtype)
    for axis in (0, 1):
        check_kernel(OPS["cumsum"](False, False, (axis,)), x)
        check_kernel(OPS["cumprod"](False, True, (axis,)), np.minimum(x, np.array(1, dtype)))


def test_no_running_totals_of_truth_values():
    assert KERNELS.kernel(OPS["cumsum"](False, False, (0,)), TensorSpec((3,), DataType.BOOL)) is None
    assert KERNELS.kernel(OPS["cumprod_bp"](False, False, (0,)), *[TensorSpec((3,), DataType.FLOAT)] * 2) is None


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_neighbours(dtype):
    for shape, axis, depth in [((2, 3, 3, 7), -1, 2), ((2, 7, 3), 1, 1), ((5, 4), 0, 9), ((31,), 0, 0), ((0, 3), 1, 2)]:
        check_kernel(OPS["neighbour_sum"](depth, axis), rng.standard_normal(shape).astype(dtype))


def test_large_arrays_take_wide_indices(monkeypatch):
    for module in (cumulative, local_response):
        monkeypatch.setattr(module, "NARROW", 10)
    check_kernel(OPS["cumsum"](False, False, (1,)), rng.standard_normal((5, 40)))
    check_kernel(OPS["neighbour_sum"](2, 1), rng.standard_normal((5, 40)))
