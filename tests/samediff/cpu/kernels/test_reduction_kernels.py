"""Compiled reductions, searches and normalizations against their definition in array code."""
from __future__ import annotations

import numpy as np
import pytest

import dl4py.samediff  # noqa: F401  # registers the ops
from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cpu.kernel_table import KERNELS
from dl4py.samediff.cpu.native.program import Program
from dl4py.samediff.cpu.native.thresholds import ALWAYS
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.plans.sweeps.loops import loops

AXES = [((3, 5), (1,)), ((3, 5), (0,)), ((2, 3, 4), (0, 2)), ((2, 3, 4), (1,)), ((2, 3, 4, 5), (0, 2)), ((2, 3, 2, 3, 2), (0, 2, 4)),
        ((1, 1), (0,)), ((7,), (0,)), ((2, 2100), (1,)), ((41, 3), (0,)), ((3, 1, 600), (0, 1)), ((4, 5), ())]
MANY = {"reduce_sum": "FLOAT DOUBLE INT HALF", "reduce_mean": "FLOAT BOOL", "reduce_max": "FLOAT", "reduce_prod": "FLOAT",
        "amin": "INT", "reduce_logsumexp": "FLOAT", "std": "FLOAT", "countZero": "FLOAT", "all": "BOOL",
        "argmax": "FLOAT", "argmin": "INT"}
EXACT = {DataType.FLOAT: (1e-5, 1e-6), DataType.DOUBLE: (1e-10, 1e-11), DataType.HALF: (1e-3, 1e-3)}


def layouts(x):
    """The same values contiguous, transposed in memory, and with gaps."""
    yield x
    yield np.ascontiguousarray(x.T).T
    yield np.repeat(np.repeat(x, 2, axis=-1), 2, axis=0)[::2][..., ::2]
    yield np.concatenate([x, x], axis=-1)[..., : x.shape[-1]]


def run(op, *arrays):
    """The kernel's results, in fresh arrays."""
    specs = [TensorSpec(a.shape, DataType.of(a.dtype)) for a in arrays]
    kernel = KERNELS.kernel(op, *specs)
    assert kernel is not None
    made = op.infer(*specs)
    results = [np.full(s.shape, 7, s.dtype.numpy) for s in (made if isinstance(made, tuple) else (made,))]
    kernel.call(*arrays, *results)
    return results


def agree(op, *arrays):
    with np.errstate(all="ignore"):
        half = arrays[0].dtype == np.float16        # summed in float32
        want = op.compute(np, *(a.astype(np.float32) if half else a for a in arrays))
        found = run(op, *arrays)
    rtol, atol = EXACT.get(DataType.of(arrays[0].dtype), (1e-5, 0))
    for a, b in zip(found, want if isinstance(want, tuple) else (want,)):
        np.testing.assert_allclose(a.astype(np.float64), np.asarray(b).astype(np.float64), rtol=rtol, atol=atol)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name, dtype", [(n, d) for n, types in MANY.items() for d in types.split()])
def test_reductions_over_any_axes(name, dtype, rng):
    for shape, axes in AXES:
        values = (3 * rng.normal(size=shape)).astype(DataType[dtype].numpy)
        for x in layouts(values):
            agree(OPS[name](dimensions=axes, keep_dims=bool(axes and axes[0])), x)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", ["reduce_norm1", "reduce_norm2", "reduce_sqnorm", "reduce_normmax", "amean", "reduce_min", "entropy",
                                  "shannonentropy", "logentropy", "any", "countNonZero", "zero_fraction", "var", "moments"])
def test_the_other_reductions(name, rng):
    x = (rng.random((5, 6)) / 8).astype(np.float32)
    x[1, 2] = 0 if name in ("any", "countNonZero", "zero_fraction") else x[1, 2]
    agree(OPS[name](dimensions=() if name == "zero_fraction" else (1,)), x)


def test_divisor_of_samples(rng):
    agree(OPS["var"](dimensions=(0,), bias_corrected=True), rng.normal(size=(9, 3)).astype(np.float32))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_max", "reduce_logsumexp", "argmax", "argmin", "softmax"])
@pytest.mark.parametrize("axis", [0, 1])
def test_nan_and_infinity(name, axis):
    x = np.array([[1, np.nan, 2, 0], [np.inf, -np.inf, -np.inf, 1], [3, 4, -np.inf, np.inf], [-np.inf] * 4], np.float32)
    agree(OPS[name](dimension=axis) if name == "softmax" else OPS[name](dimensions=(axis,)), x if axis else x.T.copy())


def test_first_of_equal_elements(rng):
    x = rng.integers(0, 3, size=(40, 700)).astype(np.float32)
    for axes in ((0,), (1,), (0, 1)):
        agree(OPS["argmax"](dimensions=axes), x)


def test_empty_arrays_have_no_kernel():
    spec = TensorSpec((0, 3), DataType.FLOAT)
    assert all(KERNELS.kernel(OPS[n](dimensions=(0,)), spec) is None for n in ("reduce_sum", "argmax"))
    assert KERNELS.kernel(OPS["softmax"](), spec) is None


def test_sums_are_at_least_as_exact_as_numpys(rng):
    for dtype in (np.float32, np.float64):
        x = rng.random(100_003).astype(dtype)
        want = float(np.sum(x, dtype=np.longdouble))
        found = run(OPS["reduce_sum"](), x)[0]
        assert abs(float(found) - want) <= abs(float(x.sum()) - want) + np.spacing(dtype(want))


@pytest.mark.parametrize("shape, axes, want", [
    ((2, 3, 4), (2,), (True, (1, 1, 6, 4))), ((2, 3, 4), (0,), (False, (1, 2, 12, 1))), ((2, 3, 4), (0, 2), (True, (1, 2, 3, 4))),
    ((2, 3, 4, 5), (1, 3), (True, (2, 3, 4, 5))), ((1, 1), (0,), (False, (1, 1, 1, 1))), ((2, 3, 2, 3, 2), (0, 2, 4), None)])
def test_axes_become_four_loops(shape, axes, want):
    found = loops(shape, axes)
    assert (None if found is None else (found[0], found[1][0])) == want


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", ["softmax", "softmax_grad", "softmax_bp", "log_softmax", "log_softmax_grad", "standardized_axes",
                                  "standardize_slope"])
def test_normalizations_along_any_axis(name, rng):
    cases = [((3, 5), 1), ((1, 1), 1), ((600,), 0)]
    if name in ("softmax", "log_softmax_grad", "standardize_slope"):         # slices side by side are compiled on their own
        cases += [((6, 3), 0), ((2, 19, 3), 1), ((1, 1, 513), 1)]
    for shape, axis in cases:
        op = OPS[name](axes=(axis,)) if name.startswith("standard") else OPS[name](dimension=axis)
        x, g = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
        for a, b in zip(layouts(x), layouts(g)):
            agree(op, *([a, b] if name.endswith(("grad", "bp", "slope")) else [a]))


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(150, 3), (2, 70, 16), (65, 1), (3, 64, 2)])
def test_short_rows(shape, rng):
    x, g = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    axis = len(shape) - 1
    for op in (OPS["softmax"](dimension=axis), OPS["std"](dimensions=(axis,)), OPS["reduce_max"](dimensions=(axis,))):
        agree(op, x)
    agree(OPS["softmax_grad"](dimension=axis), x, g)
    agree(OPS["layer_norm"](channels_first=False, dimensions=(axis,)), x, g.reshape(-1)[:shape[-1]].copy())


@pytest.mark.parametrize("shape", [(301, 5), (2, 70, 16)])
def test_shares_of_short_rows(shape, rng):
    x, axis = rng.normal(size=shape).astype(np.float32), len(shape) - 1
    for op in (OPS["softmax"](dimension=axis), OPS["reduce_sum"](dimensions=(axis,))):
        wanted, = run(op, x)
        found, kernel = np.zeros_like(wanted), KERNELS.kernel(op, TensorSpec(x.shape, DataType.FLOAT))
        instruction = kernel.native(x, found)
        assert instruction.splits
        Program([instruction], worth=ALWAYS)()
        np.testing.assert_array_equal(found, wanted)


def test_normalizations_in_float64(rng):
    agree(OPS["softmax"](dimension=-1), rng.normal(size=(4, 7)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape, axes, first", [((4, 7), (1,), False), ((2, 3, 4, 5), (1, 2, 3), True), ((3, 2, 6), (1, 2), False)])
@pytest.mark.parametrize("given", ["gain bias", "gain"])
def test_layer_norm(shape, axes, first, given, rng):
    op = OPS["layer_norm"](channels_first=first, dimensions=axes)
    n = shape[1 if first else -1]
    x, gain, bias = (rng.normal(size=s).astype(np.float32) for s in (shape, n, n))
    agree(op, x, gain, *([bias] if "bias" in given else []))


def test_equal_elements_are_standardized_to_zero():
    assert not run(OPS["standardized_axes"](axes=(1,)), np.full((2, 7), 0.1, np.float32))[0].any()


@pytest.mark.parametrize("name", ["reduce_mean", "reduce_max"])
@pytest.mark.parametrize("order, axes, in_place", [((1, 2, 0), (2,), True), ((0, 2, 1), (1,), True), ((2, 0, 1), (0,), True),
                                                   ((1, 0, 2), (2,), False), ((1, 0, 2), (0, 1), False)])
def test_arrays_whose_axes_lie_otherwise_in_memory_are_read_where_they_are(name, order, axes, in_place, rng):
    """Without a copy, unless axes of the result, or those that are folded, lie in another order too."""
    x = rng.integers(0, 4, (30, 16, 8)).astype(np.float32).transpose(order)
    op = OPS[name](dimensions=axes)
    specs = [TensorSpec(x.shape, DataType.FLOAT)]
    kernel, out = KERNELS.kernel(op, *specs), op.infer(*specs)
    y = np.empty(out.shape, out.dtype.numpy)
    instruction = kernel.native(x, y)
    assert (instruction is not None) == in_place
    if instruction is not None:
        Program([instruction], worth=ALWAYS)()
        np.testing.assert_allclose(y, op.compute(np, x), rtol=1e-6)
