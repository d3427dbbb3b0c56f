"""Ops that are one loop, one copy or one sweep besides the families, on the emulator."""
from __future__ import annotations

import numpy as np
import pytest

import dl4py.layers  # noqa: F401 - registers its ops
from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.ir.op import OPS
from tests.samediff.cuda.support import DRIVERS, check_kernel, needs_compiler

pytestmark = needs_compiler

rng = np.random.default_rng(31)


def normal(*shape, dtype="float32"):
    return (rng.standard_normal(shape) * 3).astype(dtype)


def run(op, *arrays):
    """The one output, where ``compute`` would raise."""
    specs = [TensorSpec(a.shape, DataType.of(a.dtype)) for a in arrays]
    kernel, found = KERNELS.kernel(op, *specs), op.infer(*specs)
    out = np.zeros(found.shape, found.dtype.numpy)
    DRIVERS[0].prepare(kernel.actions(*arrays, out, *(np.empty(w.shape, w.dtype.numpy) for w in kernel.workspace)))()
    return out


def test_labels_and_slopes_of_losses():
    check_kernel(OPS["layer_one_hot_labels"]("loss"), rng.integers(0, 4, (5, 1)).astype(np.float32), normal(5, 4))
    rows = run(OPS["layer_one_hot_labels"]("loss"), np.array([[1], [4], [-1]], np.float32), normal(3, 4))
    np.testing.assert_array_equal(np.isnan(rows).all(1), [False, True, True])
    of = OPS["layer_cosine_proximity"]()
    check_kernel(OPS["layer_row_slope"](of), normal(5, 7), normal(5, 7), normal(5))
    check_kernel(OPS["layer_row_slope"](of), normal(2, 7), 0 * normal(2, 7), normal(2))
    assert KERNELS.kernel(OPS["layer_row_slope"](OPS["layer_multi_label"]()), *[TensorSpec((5, 7), DataType.FLOAT)] * 3) is None


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ["BOOL", "HALF", "BFLOAT16", "DOUBLE", "BYTE", "LONG"])
def test_conversions(target):
    for shape in ((5, 33), (), (0, 2)):
        check_kernel(OPS["cast"](DataType[target]), np.asarray(normal(*shape)))


@pytest.mark.slow
def test_with_broadcasting():
    check_kernel(OPS["biasadd"](True), normal(3, 4, 5, 6), normal(4))
    check_kernel(OPS["biasadd"](False), normal(3, 4, 5), normal(5))
    check_kernel(OPS["prelu"]((2,)), normal(3, 4, 5), normal(4, 1))
    check_kernel(OPS["matrix_scale"](), normal(3, 4, 5), normal(3))
    check_kernel(OPS["assign"](), normal(3, 4), normal(4))
    check_kernel(OPS["copy"](), normal(3, 4), normal(3, 1))
    check_kernel(OPS["hide_steps"](), normal(2, 3, 5, 4), (rng.random((2, 5)) < 0.5).astype(np.float32))
    for name in ("broadcastadd", "broadcastrsub", "broadcast_max", "broadcast_lessthan", "broadcastdiv"):
        check_kernel(OPS[name]((1,)), normal(3, 4, 5), normal(4))
        check_kernel(OPS[name](()), normal(3, 4, 5), normal(5))
        check_kernel(OPS[name]((0, 2)), normal(3, 4, 5), normal(3, 5))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["mergeadd", "mergeavg", "mergemax", "mergemaxindex"])
def test_merges(name):
    for count in (1, 2, 4):
        check_kernel(OPS[name](), *(normal(5, 7).round() for _ in range(count)))
    check_kernel(OPS["mergeadd"](), *(normal(40, dtype="float64") for _ in range(3)))


def test_norms():
    for dims in ((), (1,), (0,)):
        check_kernel(OPS["clipbynorm"](4.5, dims), normal(7, 33))
        check_kernel(OPS["clipbyavgnorm"](0.4, dims), normal(7, 33))
        check_kernel(OPS["sum_spread"](dims), abs(normal(7, 33)))
    check_kernel(OPS["l2_loss"](), normal(7, 33))
    check_kernel(OPS["tile_sum"](), normal(6, 8), normal(2, 4))
    check_kernel(OPS["layer_cosine_proximity"](), normal(5, 7), normal(5, 7))
    for axis in (0, 1):
        check_kernel(OPS["softmax_cross_entropy_loss_with_logits"](axis), normal(5, 7), rng.random((5, 7)).astype(np.float32))


@pytest.mark.parametrize("last", [False, True])
def test_rows_series_and_positions(last):
    check_kernel(OPS["series_rows"](last), normal(3, 4, 5))
    check_kernel(OPS["rows_series"](last), normal(15, 4), normal(3, 2))
    for shape in ((3, 4, 5), (2, 3, 4, 5), (2, 3, 4, 2, 2)):
        channels = shape[-1] if last else shape[1]
        positions = int(np.prod(shape)) // channels
        check_kernel(OPS["position_rows"](last), normal(*shape))
        check_kernel(OPS["row_positions"](last), normal(positions, 7), normal(*shape))
        one = tuple(1 if i == (len(shape) - 1 if last else 1) else n for i, n in enumerate(shape))
        check_kernel(OPS["position_mask_rows"](last), normal(*one), normal(*shape))
    check_kernel(OPS["position_mask_rows"](last), normal(2, 1, 1, 1, 1), normal(2, 3, 4, 2, 2))


def test_steps_and_examples():
    mask = (rng.random((6, 9)) < 0.4).astype(np.float32)
    mask[2] = 0                                                     # nothing is left
    check_kernel(OPS["last_unmasked_step"](), normal(6, 5, 9), mask)
    check_kernel(OPS["at_last_unmasked_step"](), normal(6, 5), mask)
    assert not run(OPS["last_unmasked_step"](), normal(6, 5, 9), mask)[2].any()
    check_kernel(OPS["repeat_steps"](), normal(6, 5), normal(6, 2, 9))
    check_kernel(OPS["mask_of_ones"](), normal(6, 5, 9))
    check_kernel(OPS["example_sums"](), normal(12), normal(4, 3))
    check_kernel(OPS["example_spread"](), normal(4), normal(12))
    check_kernel(OPS["layer_masked_rows"]("loss"), normal(6), normal(6, 1))
    check_kernel(OPS["layer_per_output"](), normal(6, 4), normal(6, 4))
    assert OPS["layer_per_output"]().same_as(TensorSpec((6, 4), DataType.FLOAT), TensorSpec((6, 1), DataType.FLOAT)) == 0
