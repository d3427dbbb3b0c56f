"""Batch normalization on the emulator, channels on any axis."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.ir.op import OPS
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler

rng = np.random.default_rng(5)
SHAPES = [((6, 5), 1), ((4, 3, 5, 5), 1), ((4, 5, 5, 3), 3), ((33, 7), -1), ((3, 4, 5), 0), ((2, 3, 4, 5, 2), 2), ((1, 3), 1),
          ((1025, 2), 1)]
ALL = [("float32", s) for s in SHAPES] + [("float64", SHAPES[1]), ("float16", SHAPES[1]), ("bfloat16", SHAPES[3])]


def arrays(shape, axis, dtype, count):
    kind = DataType.of(dtype).numpy
    channels = shape[axis]
    some = [rng.standard_normal(channels), rng.random(channels) + 0.5, rng.standard_normal(channels), rng.standard_normal(channels)]
    return [rng.standard_normal(shape).astype(kind), *(a.astype(kind) for a in some[:count])]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("dtype, shape", ALL)
def test_training(dtype, shape):
    for affine in ([0, 1], [0], [1], []) if dtype == "float32" else ([0, 1],):
        x, mean, variance, *given = arrays(*shape, dtype, 4)
        check_kernel(OPS["batch_norm_training"](shape[1], 1e-3), x, mean, variance,
                     *(given[k] if k in affine else None for k in range(2)), tolerance=2e-5 if dtype == "float32" else None)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("dtype, shape", ALL)
def test_inference(dtype, shape):
    for affine in ([0, 1], []) if dtype == "float32" else ([0, 1],):
        x, mean, variance, *given = arrays(*shape, dtype, 4)
        check_kernel(OPS["batch_norm_inference"](shape[1], 1e-3), x, mean, variance, *(given[k] if k in affine else None for k in range(2)))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype, shape", ALL)
def test_gradient(dtype, shape):
    for has_gamma in (True, False):
        x, _, _, gamma = arrays(*shape, dtype, 3)
        g = rng.standard_normal(x.shape).astype(x.dtype)
        axes = tuple(i for i in range(x.ndim) if i != shape[1] % x.ndim)
        mean, variance = x.astype("f8").mean(axes).astype(x.dtype), x.astype("f8").var(axes).astype(x.dtype)
        tolerance = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}.get(dtype)
        check_kernel(OPS["batch_norm_training_grad"](shape[1], 1e-3), x, g, mean, variance, gamma if has_gamma else None,
                     tolerance=tolerance)


@pytest.mark.slow
def test_few_channels_of_many_elements():
    shape = (3, 2, 40000)
    x, mean, variance, gamma, beta = arrays(shape, 1, "float32", 4)
    check_kernel(OPS["batch_norm_training"](1, 1e-3), x, mean, variance, gamma, beta, tolerance=1e-4)


def test_given_statistics_on_several_axes():
    x = rng.standard_normal((4, 3, 5)).astype(np.float32)
    for axis, sizes in [((), (5,)), ((1,), (3,)), ((0, 2), (4, 5))]:
        some = [rng.random(sizes).astype(np.float32) + 0.5 for _ in range(4)]
        check_kernel(OPS["batchnorm"](1e-3, axis), x, *some)
        check_kernel(OPS["batchnorm"](1e-3, axis), x, *some[:2], None, some[3])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("layout, shape", [("NHWC", (3, 4, 5, 6)), ("NCHW", (3, 4, 5, 6)), ("NCHW", (1, 4, 1, 1))])
def test_images(dtype, layout, shape):
    axis = 1 if layout == "NCHW" else 3
    x, mean, variance, scale, offset = arrays(shape, axis, dtype, 4)
    check_kernel(OPS["fused_batch_norm"](layout, True), x, scale, offset, tolerance=2e-5 if dtype == "float32" else None)
    check_kernel(OPS["fused_batch_norm"](layout, False), x, scale, offset, mean, variance)
