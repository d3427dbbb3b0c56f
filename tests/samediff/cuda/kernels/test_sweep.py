"""Reductions and normalizations as sweeps, on the emulator."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.cuda.sweeps.sweep import folded, shares
from dl4py.samediff.cuda.sweeps.sweep_source import SweepForm, passes
from dl4py.samediff.cuda.sweeps.table import CROSS_ENTROPY
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.plans.sweeps.table import NORMALIZATIONS, REDUCTIONS
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler

rng = np.random.default_rng(9)
#: As rows: short, long, several runs of axes, one slice and one element.
ROWS = [((7, 33), (1,)), ((3, 1025), (1,)), ((5, 4, 3), (0, 2)), ((2, 3, 4, 5), (1, 3)), ((31,), (0,)), ((1, 1), (0, 1)), ((600, 5), (1,))]
#: As columns, the last of which are many.
COLUMNS = [((7, 33), (0,)), ((5, 4, 3), (1,)), ((1025, 3), (0,)), ((3, 2, 40), (1,)), ((2, 300), (0,))]


def numbers(name, shape, dtype="float32"):
    """Numbers of which a reduction has a value."""
    if name in ("all", "any", "countZero", "countNonZero", "zero_fraction"):
        return (rng.random(shape) < 0.9).astype(dtype)
    if name == "logentropy":
        return (rng.random(shape) * 0.4 + 0.1).astype(dtype)
    if "entropy" in name or "prod" in name:
        return (1 + (rng.random(shape) - 0.5) * 0.1).astype(dtype)
    return (rng.standard_normal(shape) * 4).astype(dtype)


def reduction(name, dims):
    if name == "zero_fraction":
        return OPS[name]()
    if name.startswith("sample_"):
        return OPS[name.removeprefix("sample_")](dimensions=dims, bias_corrected=True)
    return OPS[name](dimensions=dims)


@pytest.mark.sampled(27)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_rows(name):
    for shape, dims in ROWS:
        if not (name.startswith("sample_") and shape == (1, 1)):
            check_kernel(reduction(name, dims), numbers(name, shape))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_max", "reduce_norm2", "reduce_logsumexp", "var", "moments", "countZero"])
def test_columns(name):
    for shape, dims in COLUMNS:
        check_kernel(reduction(name, dims), numbers(name, shape))


@pytest.mark.sampled(28)
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_max", "var", "all", "any"])
@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "int64", "bool"])
def test_types(name, dtype):
    x = numbers(name, (5, 33)) * (100 if dtype == "int8" and name == "reduce_sum" else 1)       # wraps
    op, x = reduction(name, (1,)), (x > 0 if dtype == "bool" else x.astype(dtype))
    if KERNELS.kernel(op, TensorSpec(x.shape, DataType.of(x.dtype))) is None:
        assert dtype == "bool" and name in ("reduce_sum", "reduce_max")
    else:
        check_kernel(op, x)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_logsumexp", "moments"])
@pytest.mark.parametrize("shape, dims", [((140000,), (0,)), ((2, 80000), (1,)), ((20000, 3), (0,)), ((100, 2, 1100), (0, 2))])
def test_few_long_slices_are_shared_among_blocks(name, shape, dims):
    x = numbers(name, shape)
    kernel = KERNELS.kernel(reduction(name, dims), TensorSpec(shape, DataType.FLOAT))
    assert kernel.workspace
    check_kernel(reduction(name, dims), x, tolerance=1e-4)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name, count", [("softmax", 1), ("softmax_grad", 2), ("softmax_bp", 2), ("log_softmax", 1),
                                         ("log_softmax_grad", 2)])
def test_softmaxes(name, count):
    for shape, axis in [((7, 33), 1), ((3, 1025), 1), ((40, 3), 1), ((7, 33), 0), ((5, 4, 3), 1), ((1, 70000), 1), ((0, 3), 1), ((1,), 0)]:
        check_kernel(OPS[name](axis), *(numbers(name, shape) for _ in range(count)))
    for dtype in ("float16", "float64"):
        check_kernel(OPS[name](-1), *(numbers(name, (5, 33), dtype) for _ in range(count)))


def test_axes_in_more_runs_than_loops_are_copied_together():
    check_kernel(OPS["reduce_sum"](dimensions=(0, 2, 4)), numbers("", (3, 2, 3, 2, 3)))
    check_kernel(OPS["var"](dimensions=(1, 3), keep_dims=True), numbers("", (2, 3, 2, 3, 2, 2)))


def test_nothing_to_fold():
    check_kernel(OPS["reduce_sum"](dimensions=(1,)), numbers("", (3, 0)))
    check_kernel(OPS["reduce_sum"](dimensions=(0,)), numbers("", (3, 0)))
    assert KERNELS.kernel(OPS["reduce_max"](dimensions=(1,)), TensorSpec((3, 0), DataType.FLOAT)) is None      # array code refuses it


def test_not_a_number_and_infinities():
    x = numbers("", (4, 40))
    x[0, 7], x[1, 3], x[2] = np.nan, np.inf, -np.inf
    for name in ("reduce_max", "reduce_min", "reduce_logsumexp"):
        check_kernel(OPS[name](dimensions=(1,)), x)


def test_shares_are_whole_warps():
    for rows in (True, False):
        for slices in (1, 3, 40, 1000, 10**6):
            for length in (1, 2, 31, 33, 1025, 10**6):
                s = shares(rows, slices, length, 1)
                assert s.threads % 32 == 0 and s.threads <= (1024 if rows else 512)
                assert s.lanes & (s.lanes - 1) == 0 and s.threads % s.lanes == 0
                assert s.blocks * s.parts <= 2**16 and (s.parts == 1 or s.blocks <= 64)


def test_folds_go_over_slices_together():
    def of(sweep):
        form = SweepForm(True, np.dtype("f4"), (np.dtype("f4"),) * sweep.inputs, (np.dtype("f4"),), False)
        return passes(form.traced(sweep))
    assert of(NORMALIZATIONS["softmax_bp"]) == [[0], [1, 2]]
    assert of(CROSS_ENTROPY["labels"]) == [[0], [1, 2, 3]]
    assert of(REDUCTIONS["reduce_sum"]) == [[0]]
    assert of(NORMALIZATIONS["standardize_backward"]) == [[0], [1], [2], [3], [4, 5]]       # 2 and 3 are the second turn


def test_sizes_are_not_compiled_in():
    texts = set()
    for shape in ((5, 40), (17, 33), (2, 1025)):
        x = np.zeros(shape, np.float32)
        kernel = folded(REDUCTIONS["reduce_sum"], (1,), [TensorSpec(shape, DataType.FLOAT)], [TensorSpec(None, DataType.FLOAT)])
        texts.add(kernel.actions(x, x[:, 0].copy())[0].source)
    assert len(texts) == 1
