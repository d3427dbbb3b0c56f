"""Rows changed at indices, and rows joined by numbers: every way gives the result of ``compute``."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import spec_of
from dl4py.samediff.cuda.drivers.emulator import Emulator
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.cuda.routines import scatter
from dl4py.samediff.cuda.routines.scatter import ScatterSizes, lowest
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.ops.index.gather import GatherGradient, GatherNdGradient
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler
random = np.random.default_rng(0)

#: (shape of what is changed, axis, number of indices)
CASES = [((5,), 0, 40), ((6, 33), 0, 9), ((3, 4, 2), 1, 70), ((50, 3), 0, 10), ((5, 200), 0, 1), ((5, 2), 0, 0)]


@pytest.fixture(params=["walk", "few", "sort"])
def way(request, monkeypatch):
    """Whatever the sizes are, work is done in that way."""
    if request.param != "walk":
        monkeypatch.setattr(scatter, "_WALK", 0)
    if request.param == "sort":
        monkeypatch.setattr(scatter, "_FEW", 0)
    return request.param


def numbers(*shape, dtype=np.float32):
    return random.normal(size=shape).astype(dtype)


def away_from_0(x):
    return np.sign(x) * (0.7 + 0.3 * np.abs(x))


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("way", "dtype"), [("walk", np.float32), ("few", np.float32), ("sort", np.float32), ("walk", np.float64),
                                            ("few", np.float16)], indirect=["way"])
def test_gradient_of_gather(way, dtype):
    for shape, axis, count in CASES:
        x, indices = numbers(*shape[:axis], count, *shape[axis + 1:], dtype=dtype), random.integers(0, shape[axis], count)
        check_kernel(GatherGradient(axis), x, np.zeros(shape, dtype), indices, tolerance=1e-2 if dtype == np.float16 else None)


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("way", "how"), [*(("walk", how) for how in ("add", "sub", "mul", "div", "max", "min", "update")),
                                          *((way, how) for way in ("few", "sort") for how in ("add", "div", "update"))], indirect=["way"])
def test_scatter(way, how):
    for shape, axis, count in CASES:
        if axis == 0:
            indices = random.integers(0, shape[0], (count, 1))
            check_kernel(OPS[f"scatter_{how}"](), numbers(*shape), indices, away_from_0(numbers(count, 1, *shape[1:])))


def test_scatter_of_other_types(way):
    check_kernel(OPS["scatter_update"](), numbers(5, 3) > 0, np.array([4, 1, 4]), numbers(3, 3) > 0)
    check_kernel(OPS["scatter_add"](), np.ones((5, 3), np.int8), np.array([4, 1, 4]), np.full((3, 3), 100, np.int8))


@pytest.mark.sampled(2)
def test_index_vectors(way):
    x, indices = numbers(3, 4, 5), random.integers(0, 3, (6, 2))
    for how in ("add", "sub"):
        check_kernel(OPS[f"scatter_nd_{how}"](), x, indices, numbers(6, 5))
    check_kernel(OPS["scatter_nd_update"](), x, np.array([[0, 1], [2, 3], [1, 1]], np.int32), numbers(3, 5))
    check_kernel(GatherNdGradient(), numbers(6, 5), x, indices)
    check_kernel(GatherNdGradient(), numbers(6), numbers(3, 4), indices.astype(np.int32))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("way", "name"), [*(("walk", name) for name in ("sum", "mean", "sqrt_n", "prod", "max", "min")),
                                           ("sort", "mean"), ("sort", "max")], indirect=["way"])
def test_segments(way, name):
    for n, count, inner in ((4, 10, (3,)), (4, 300, (2,)), (4, 40, ()), (3, 2, (5,)), (3, 0, (2,)), (70, 40, (2,))):
        data, ids = away_from_0(numbers(count, *inner)), random.integers(0, n, count)
        check_kernel(OPS[f"unsorted_segment_{name}"](n), data, ids, tolerance=1e-4)
        if name != "sqrt_n" and count:
            check_kernel(OPS[f"segment_{name}"](), data, np.sort(ids), known=(1,), tolerance=1e-4)


def test_segments_of_integers():
    for name, dtype in (("max", np.int64), ("min", np.uint64), ("sum", np.int8)):
        check_kernel(OPS[f"unsorted_segment_{name}"](4), random.integers(0, 100, (9, 2)).astype(dtype), random.integers(0, 4, 9))


def test_segments_whose_number_is_not_known_have_no_kernel():
    data, ids = spec_of(numbers(3, 2)), np.array([0, 0, 1])
    assert KERNELS.kernel(OPS["segment_sum"](), data, spec_of(ids)) is not None
    assert KERNELS.kernel(OPS["segment_sum"](), data, spec_of(ids).with_shape((3,))) is None


def test_many_indices(monkeypatch):
    monkeypatch.setattr(scatter, "_WALK", 0)
    monkeypatch.setattr(scatter, "_FEW", 0)
    for n, inner in ((70000, (3,)), (7, (3,)), (7, ())):      # several passes and blocks of the sort; long runs
        check_kernel(GatherGradient(), numbers(2500, *inner), numbers(n, *inner), random.integers(0, n, 2500), tolerance=1e-4)


def test_what_is_out_of_range_counts_for_nothing(way):
    ref, indices, updates = np.zeros((4, 2), np.float32), np.array([1, 4, -1, 2**32 + 1, 1]), np.ones((5, 2), np.float32)
    kernel = KERNELS.kernel(OPS["scatter_add"](), spec_of(ref), spec_of(indices).with_shape((5,)), spec_of(updates))
    out, workspace = np.full((4, 2), 7, np.float32), [np.empty(s.shape, s.dtype.numpy) for s in kernel.workspace]
    Emulator(guard=True).prepare(kernel.actions(ref, indices, updates, out, *workspace))()
    assert out[:, 0].tolist() == [0, 2, 0, 0]


def test_what_is_not_served():
    assert not ScatterSizes("div", DataType.INT, 1, 3, 2, 1).served
    assert not ScatterSizes("add", DataType.BOOL, 1, 3, 2, 1).served
    assert ScatterSizes("update", DataType.BOOL, 1, 3, 2, 1).served


def test_limits_of_types():
    assert lowest(DataType.BYTE, False) == "(W)(-128ll)"
    assert lowest(DataType.LONG, False) == "(W)(-9223372036854775807ll - 1)"
    assert lowest(DataType.UINT64, True) == "(W)(18446744073709551615ull)"
    assert lowest(DataType.HALF, False) == "(W)-65504.0"
