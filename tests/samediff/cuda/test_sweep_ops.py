"""Ops whose kernels are sweeps or loops over elements, on the emulator."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.expressions.conditions import Conditions
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.ops.losses.cross_entropy import SparseCrossEntropySlope, SparseSoftmaxCrossEntropy
from tests.samediff.cuda.support import DRIVERS, check_kernel, needs_compiler

pytestmark = needs_compiler

rng = np.random.default_rng(21)
SHAPES = [((7, 33), (1,)), ((7, 33), (0,)), ((3, 1025), (1,)), ((5, 4, 3), (0, 2)), ((5, 4, 6), (1, 2)), ((4, 1), (1,)), ((0, 3), (1,))]


def normal(*shape, dtype="float32"):
    return (rng.standard_normal(shape) * 3).astype(dtype)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_standardization(dtype):
    for shape, dims in SHAPES if dtype == "float32" else SHAPES[:2]:
        x = normal(*shape, dtype=dtype) + np.array(5, dtype)
        check_kernel(OPS["standardize"](dims), x)
        check_kernel(OPS["standardized_axes"](dims), x)
        check_kernel(OPS["standardize_slope"](dims), x, normal(*shape, dtype=dtype), tolerance=2e-5 if dtype == "float32" else None)
    same = np.full((3, 40), 0.1, dtype)         # no deviation at all
    assert not check_kernel(OPS["standardize"]((1,)), same)[0].any()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("given", [(), ("gain",), ("bias",), ("gain", "bias")])
def test_layer_norm(given):
    for shape, first, dims in [((7, 33), False, (1,)), ((5, 4, 6), True, (1, 2)), ((5, 4, 6), False, (2,)), ((3, 5, 8), True, (1,))]:
        channels = shape[1 if first else -1]
        affine = [normal(channels) if name in given else None for name in ("gain", "bias")]
        check_kernel(OPS["layer_norm"](first, dims), normal(*shape), *affine)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_cross_entropy(dtype):
    kind = DataType.of(dtype).numpy
    for shape in [(5, 10), (3, 2, 33), (2, 1025), (4, 1), (7,), (0, 4)] if dtype == "float32" else [(5, 10)]:
        logits, label = normal(*shape).astype(kind), rng.random(shape).astype(kind)
        label[label < 0.5] = 0
        check_kernel(OPS["cross_entropy_terms"](), logits, label)
        check_kernel(OPS["cross_entropy_slope"](), logits, label, normal(*shape[:-1]).astype(kind))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("labels", ["int32", "int64", "uint8"])
def test_cross_entropy_of_class_numbers(labels):
    for shape in [(5, 10), (3, 2, 33), (4, 1)]:
        logits, classes = normal(*shape), rng.integers(0, shape[-1], shape[:-1]).astype(labels)
        check_kernel(SparseSoftmaxCrossEntropy(), classes, logits)
        check_kernel(SparseCrossEntropySlope(), classes, logits, normal(*shape[:-1]))


def run(op, *arrays):
    kernel = KERNELS.kernel(op, *(TensorSpec(a.shape, DataType.of(a.dtype)) for a in arrays))
    found = op.infer(*(TensorSpec(a.shape, DataType.of(a.dtype)) for a in arrays))
    out = np.zeros(found.shape, found.dtype.numpy)
    DRIVERS[0].prepare(kernel.actions(*arrays, out, *(np.empty(w.shape, w.dtype.numpy) for w in kernel.workspace)))()
    return out


def test_numbers_that_are_no_class_give_not_a_number():
    logits, classes = normal(4, 3), np.array([0, 3, -1, 2])
    np.testing.assert_array_equal(np.isnan(run(SparseSoftmaxCrossEntropy(), classes, logits)), [False, True, True, False])
    slope = run(SparseCrossEntropySlope(), classes, logits, np.ones(4, np.float32))
    np.testing.assert_array_equal(np.isnan(slope).all(1), [False, True, True, False])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["argmax", "argmin", "argamax", "argamin"])
def test_positions(name):
    for shape, dims in [*SHAPES[:-1], ((40,), ()), ((2, 3, 4, 5), (1, 3)), ((2, 3, 2, 3, 2), (0, 2, 4))]:
        x = rng.integers(-4, 4, shape).astype(np.float32)           # many are equal
        check_kernel(OPS[name](dimensions=dims), x)
    x[...] = np.nan
    check_kernel(OPS[name](dimensions=dims), x)
    y = normal(6, 50)
    y[1, 7] = y[1, 9] = y[2, 0] = np.nan
    y[3, 4] = np.inf
    check_kernel(OPS[name](dimensions=(1,)), y)
    check_kernel(OPS[name](dimensions=(1,), keep_dims=True), rng.integers(-100, 100, (5, 70)).astype(np.int8))
    check_kernel(OPS[name](dimensions=(0,)), normal(70, 5, dtype="float16"))


def test_first_of_the_largest():
    for dtype in ("float32", "int32", "bool"):
        for shape, dims in [((7, 33), (1,)), ((7, 33), (0,)), ((40,), ())]:
            check_kernel(OPS["ismax"](dims), rng.integers(0, 5, shape).astype(dtype))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("condition", [Conditions.greater_than(1.5), Conditions.is_nan(), Conditions.abs_less_than(0.5)])
def test_conditions(condition):
    for shape, dims in [((7, 33), (1,)), ((7, 33), (0,)), ((5, 4, 3), (0, 2))]:
        x = normal(*shape)
        x.reshape(-1)[::17] = np.nan
        for name in ("match_condition", "first_index", "last_index"):
            check_kernel(OPS[name](dimensions=dims, condition=condition), x)


@pytest.mark.parametrize("name", ["hasnan", "hasinf"])
def test_not_a_number_and_infinities(name):
    x = normal(6, 40)
    x[1, 7], x[2, 3], x[3, 4], x[3, 5] = np.nan, np.inf, -np.inf, np.nan
    check_kernel(OPS[name](dimensions=(1,)), x)
    check_kernel(OPS[name](dimensions=(0,)), x)
    check_kernel(OPS[name](dimensions=(1,)), rng.integers(0, 5, (3, 4)))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", ["manhattan", "euclidean", "cosinesimilarity", "cosinedistance", "jaccarddistance", "hammingdistance"])
def test_distances(name):
    for shape, other, dims in [((7, 33), (7, 33), (1,)), ((7, 33), (33,), (1,)), ((7, 33), (7,), (0,)), ((5, 4, 3), (4, 1), (0, 2))]:
        check_kernel(OPS[name](dimensions=dims), abs(normal(*shape)).round(), abs(normal(*other)).round())


def test_spreading_and_back():
    for shape, dims in SHAPES:
        kept = tuple(n for i, n in enumerate(shape) if i not in dims)
        for divisor in (None, 0, 1):
            if divisor is not None and 1 not in shape:
                check_kernel(OPS["spread"](dims, False, divisor), normal(*kept), normal(*shape))
            if not (divisor == 1 and shape == (4, 1)):
                check_kernel(OPS["spread_sum"](dims, False, divisor), normal(*shape), normal(*kept), normal(*shape))


def test_sums_to_a_shape():
    for shape, like in [((7, 33), (33,)), ((7, 33), (7, 1)), ((5, 4, 3), (4, 1)), ((5, 4, 3), ()), ((1025, 3), (3,)), ((0, 3), (3,))]:
        check_kernel(OPS["sum_to"](), normal(*shape), normal(*like))
    check_kernel(OPS["sum_to"](), rng.integers(0, 99, (5, 4)).astype(np.int16), np.zeros(4, np.int16))


def test_weights_of_losses():
    for shape, weights in [((5, 4), ()), ((5, 4), (5, 1)), ((5,), (5, 1))]:
        check_kernel(OPS["loss_weights"](), normal(*weights), normal(*shape))
        check_kernel(OPS["loss_weights_sum"](), normal(*shape), normal(*weights))
    check_kernel(OPS["last_axis_spread"](), normal(5, 3), normal(5, 3, 4))
