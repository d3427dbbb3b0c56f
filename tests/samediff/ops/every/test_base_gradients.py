"""Gradients of the base and math ops against central differences, first and second order."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType

A = np.array([[0.3, -1.2, 0.7], [1.4, 0.5, -0.6]])
B = np.array([[1.1, 0.4, -0.8], [-0.3, 2.0, 0.9]])
P = np.abs(A) + 0.2
IDS = np.array([0, 1, 0, 2])
ROWS = np.arange(8.0).reshape(4, 2) / 3 - 1.1

UNARY = ["exp", "sin", "cos", "tanh", "atan", "asinh", "erf", "square", "cube", "expm1", "reciprocal", "rational_tanh", "abs"]
POSITIVE = ["log", "sqrt", "rsqrt", "log1p", "lgamma", "log2"]
ACTIVATIONS = ["sigmoid", "log_sigmoid", "softplus", "softsign", "swish", "mish", "gelu", "precise_gelu", "selu", "elu", "relu",
               "leaky_relu", "hard_sigmoid", "hard_tanh", "c_relu"]
BINARY = ["add", "sub", "mul", "div", "rsub", "rdiv", "squared_difference", "atan2", "max", "min"]
REDUCTIONS = ["sum", "mean", "prod", "norm1", "norm2", "norm_max", "squared_norm", "reduce_max", "reduce_min", "log_sum_exp", "amean",
              "asum", "reduce_a_max"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, check_gradients):
    check_gradients(lambda sd, x: getattr(sd.math, name)(x), [A])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", POSITIVE)
def test_unary_of_positive(name, check_gradients):
    check_gradients(lambda sd, x: getattr(sd.math, name)(x), [P])


@pytest.mark.sampled(15)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation(name, check_gradients):
    check_gradients(lambda sd, x: getattr(sd.nn, name)(x), [A])


@pytest.mark.sampled(32)
@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("y", [B, B[0], B[:, :1]], ids=["equal", "row", "column"])
def test_binary_broadcasts(name, y, check_gradients):
    check_gradients(lambda sd, x, y: getattr(sd.math, name)(x, y), [A, y])


@pytest.mark.sampled(60)
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axes", [(), (1,), (0,), (-1, 0)])
@pytest.mark.parametrize("keep", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_reduction(name, axes, keep, check_gradients):
    check_gradients(lambda sd, x: getattr(sd.math, name)(x, keep, *axes), [A])


def test_reduction_over_axes_in_a_variable(check_gradients):
    check_gradients(lambda sd, x: sd.math.norm2(x, sd.constant(np.array([1])), False), [A])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["entropy", "shannon_entropy", "log_entropy"])
def test_entropy(name, check_gradients):
    check_gradients(lambda sd, x: getattr(sd.math, name)(x, 1), [P / 4])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("corrected", [True, False])
@pytest.mark.parametrize("name", ["variance", "standard_deviation"])
def test_deviation(name, corrected, check_gradients):
    check_gradients(lambda sd, x: getattr(sd, name)(x, corrected, 1), [A])


@pytest.mark.slow
def test_moments_and_standardize(check_gradients):
    check_gradients(lambda sd, x: sd.math.moments(x, [1], False), [A])
    check_gradients(lambda sd, x: sd.math.standardize(x, 1), [A])
    check_gradients(lambda sd, n, s, q: sd.math.normalize_moments(n, s, q, 0.5), [P[0] + 2, A[0], B[0]])


def test_product_with_zeros(check_gradients):
    check_gradients(lambda sd, x: sd.prod(x, 1), [np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 1.5], [1.0, 2.0, 3.0]])], order=1)
    check_gradients(lambda sd, x: sd.cumprod(x, 1), [np.array([[2.0, 0.0, 3.0], [0.5, 2.0, 3.0]])], order=1)


SHAPES = {
    "reshape": lambda sd, x: x.reshape(3, 2),
    "permute": lambda sd, x: x.permute(1, 0),
    "transpose": lambda sd, x: sd.transpose(x),
    "expand_squeeze": lambda sd, x: sd.squeeze(sd.expand_dims(x, 1), 1),
    "flatten": lambda sd, x: sd.flatten(x, x, "f"),
    "concat": lambda sd, x: sd.concat(1, x, x * 2.0),
    "stack": lambda sd, x: sd.stack(1, x, x),
    "unstack": lambda sd, x: sd.unstack(x, 0, 2),
    "split": lambda sd, x: sd.split(x, 3, 1),
    "slice": lambda sd, x: sd.slice(x, [0, 1], [2, 2]),
    "strided": lambda sd, x: sd.strided_slice(x, [1, 2], [-3, 0], [-1, -1]),
    "index": lambda sd, x: x[1, ::2],
    "point": lambda sd, x: x[..., -1],
    "new_axis": lambda sd, x: x[None, :, 1:],
    "reverse": lambda sd, x: sd.reverse(x, 0, 1),
    "tile": lambda sd, x: sd.tile(x, 2, 3),
    "repeat": lambda sd, x: sd.repeat(x, sd.constant(np.array([2, 1, 3])), 1),
    "gather": lambda sd, x: sd.gather(x, sd.constant(np.array([[2, 0], [2, 2]])), 1),
    "gather_nd": lambda sd, x: sd.gather_nd(x, sd.constant(np.array([[0, 1], [1, 2], [0, 1]]))),
    "cumsum": lambda sd, x: sd.cumsum(x, True, True, 1),
    "cumprod": lambda sd, x: sd.cumprod(x, False, False, 1),
    "where": lambda sd, x: sd.where(x, x * x, x.gt(0.4)),
    "clip": lambda sd, x: sd.clip_by_value(x, -0.65, 0.65),
    "clip_norm": lambda sd, x: sd.math.clip_by_norm(x, 1.0, 1),
    "clip_avg_norm": lambda sd, x: sd.math.clip_by_avg_norm(x, 0.2),
    "cast": lambda sd, x: x * x.cast_to(DataType.BFLOAT16).cast_to(DataType.INT).cast_to(DataType.DOUBLE),
    "partition": lambda sd, x: sd.dynamic_partition(sd.transpose(x), sd.constant(np.array([1, 0, 1])), 2),
    "meshgrid": lambda sd, x: sd.math.meshgrid(x[0], x[1], True),
    "trace": lambda sd, x: sd.math.trace(x),
    "pow": lambda sd, x: x ** 3,
    "merge": lambda sd, x: sd.math.merge_max(x, x * x) + sd.math.merge_avg(x, x * x),
}


@pytest.mark.sampled(36)
@pytest.mark.parametrize("name", SHAPES)
def test_shape_op(name, check_gradients):
    check_gradients(SHAPES[name], [A])


@pytest.mark.parametrize("flags", [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)])
def test_matrix_product(flags, check_gradients):
    tx, ty, tz = map(bool, flags)
    check_gradients(lambda sd, x, y: sd.mmul(x, y, tx, ty, tz), [A.T if tx else A, B if ty else B.T])


@pytest.mark.parametrize("x, y", [(A[0], B[0]), (A, B[0]), (A[0], B.T), (np.stack([A, B]), B.T), (np.stack([A, B]), np.stack([B.T, A.T]))])
def test_vectors_and_batches(x, y, check_gradients):
    check_gradients(lambda sd, x, y: x @ y, [x, y])


def test_tensor_product(check_gradients):
    x, y = np.stack([A, B]), np.stack([B.T, A.T])
    check_gradients(lambda sd, x, y: sd.tensor_mmul(x, y, [1, 2], [2, 1]), [x, y])
    check_gradients(lambda sd, x, y: sd.dot(x, y, 1), [A, B])


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "max", "min", "update"])
def test_scatter(name, check_gradients):
    rows = np.array([[1.3, 0.7], [-0.4, 1.9], [0.6, -1.7]])
    check_gradients(lambda sd, x, u: getattr(sd, f"scatter_{name}")(x, sd.constant(np.array([2, 0, 2])), u), [ROWS + 0.13, rows])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", ["sum", "mean", "sqrt_n", "prod", "max", "min"])
def test_segments(name, check_gradients):
    check_gradients(lambda sd, x: getattr(sd, f"unsorted_segment_{name}")(x, sd.constant(IDS), 3), [ROWS + 0.13])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", ["manhattan_distance", "euclidean_distance", "cosine_similarity", "cosine_distance", "jaccard_distance"])
def test_distances(name, check_gradients):
    check_gradients(lambda sd, x, y: getattr(sd.math, name)(x, y, 1), [P, np.abs(B) + 0.17])
