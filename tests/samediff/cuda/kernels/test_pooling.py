"""Pooling on the emulator."""
from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.ops.conv.pool import AvgPool2D, AvgPool3D, MaxPool2D, MaxPool3D, MaxPoolWithArgmax, PNormPool2D
from dl4py.samediff.ops.conv.pooling import Pool, WindowGather, WindowScatter, WindowSpread, WindowSum
from dl4py.samediff.ops.conv.window import Window
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler

rng = np.random.default_rng(5)

CASES = {
    "overlapping": ((2, 3, 7, 6), Window((3, 3), (2, 1), (1, 1), (1, 1))),
    "pairs": ((2, 3, 9, 8), Window((2, 2), (2, 2), (0, 0), (1, 1), "SAME")),
    "gaps": ((2, 3, 9, 8), Window((3, 2), (4, 3), (2, 0), (2, 2))),
    "one axis": ((2, 3, 17), Window((3,), (1,), (0,), (2,), "CAUSAL")),
    "three axes": ((2, 2, 4, 5, 6), Window((2, 3, 2), (1, 2, 2), (1, 0, 1), (1, 1, 2))),
    "windows outside": ((2, 3, 4, 4), Window((1, 1), (4, 3), (2, 2), (1, 1))),
    "all": ((1, 31, 33), Window((33,), (1,), (0,), (1,))),
    "nothing": ((0, 3, 7, 6), Window((3, 3), (2, 1), (1, 1), (1, 1))),
}


def images(shape, last, dtype):
    """With many equal values."""
    batch, channels, *sizes = shape
    return np.round(rng.standard_normal((batch, *sizes, channels) if last else shape) * 2).astype(dtype)


@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
@pytest.mark.parametrize("name", CASES)
def test_windows(name, last):
    shape, window = CASES[name]
    for divisor in ("none", "kernel", "inside"):
        pool, x = Pool(window, last, divisor), images(shape, last, "float32")
        check_kernel(WindowSum(pool), x)
        check_kernel(WindowSpread(pool), _normal(pool.shape(x.shape)), x)
    x.reshape(-1)[3:4] = np.nan
    check_kernel(WindowScatter(pool), x, _normal(pool.shape(x.shape)))
    check_kernel(WindowGather(pool), x, _normal(x.shape))


def _normal(shape, dtype="float32"):
    return rng.standard_normal(shape).astype(dtype)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", ml_dtypes.bfloat16])
def test_floating_types(dtype):
    pool = Pool(CASES["overlapping"][1], True, "inside")
    x = images((2, 3, 7, 6), True, dtype)
    check_kernel(WindowSum(pool), x)
    check_kernel(WindowSpread(pool), _normal(pool.shape(x.shape), dtype), x)
    check_kernel(WindowScatter(pool), x, _normal(pool.shape(x.shape), dtype))
    x.reshape(-1)[7] = np.nan
    check_kernel(MaxPoolWithArgmax(3, 2, 2, 1, 1, 1, data_format="NHWC"), x)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "uint64", "bool"])
def test_other_types(dtype):
    x = images((2, 3, 7, 8), False, "float32").astype(np.int32).astype(dtype)
    if dtype != "bool":
        x.reshape(-1)[5:7] = np.iinfo(dtype).min, np.iinfo(dtype).max
    check_kernel(MaxPool2D(3, 2, 2, 1, 1, 1), x)
    check_kernel(MaxPoolWithArgmax(1, 1, 4, 3, 1, 1, output_type=DataType.LONG), x)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_ops(layout):
    x, last = _normal((2, 3, 7, 8)), layout == "NHWC"
    check_kernel(MaxPool2D(3, 2, 2, 1, 1, 1, data_format=layout), x)
    check_kernel(MaxPoolWithArgmax(3, 2, 2, 1, 1, 1, data_format=layout), x)
    for divisor in ("INCLUDE_PADDING", "EXCLUDE_PADDING"):
        check_kernel(AvgPool2D(3, 2, 2, 1, 1, 1, data_format=layout, divisor=divisor), x)
    for power in (1.0, 2.0, 3.5):
        check_kernel(PNormPool2D(3, 2, 2, 1, 1, 1, data_format=layout, extra=power), x)
    volume = _normal((2, 4, 5, 6, 3) if last else (2, 3, 4, 5, 6))
    check_kernel(MaxPool3D(2, 3, 2, 2, 1, 2, data_format="NDHWC" if last else "NCDHW"), volume)
    check_kernel(AvgPool3D(2, 3, 2, 2, 1, 2, padding_mode="SAME", data_format="NDHWC" if last else "NCDHW"), volume)


def test_inputs_of_any_layout():
    check_kernel(MaxPool2D(2, 2, 2, 2), _normal((2, 9, 8, 3)).transpose(0, 3, 1, 2))


def test_many_elements():
    check_kernel(MaxPool2D(2, 2, 2, 2), _normal((1, 1, 2, 4100)))
