"""Compiled gather, scatter and segment kernels against their definition in array code."""
from __future__ import annotations

import numpy as np
import pytest

import dl4py.samediff  # noqa: F401  # registers the ops
from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cpu.kernel_table import KERNELS
from dl4py.samediff.errors import ShapeError
from dl4py.samediff.ir.op import OPS


def run(op, *arrays, order="C"):
    specs = [TensorSpec(a.shape, DataType.of(a.dtype)) for a in arrays]
    kernel = KERNELS.kernel(op, *specs)
    assert kernel is not None
    made = op.infer(*specs)
    shape = op.compute(np, *arrays).shape if not made.is_static else made.shape
    out = np.full(shape, 7, made.dtype.numpy, order)
    kernel.call(*arrays, out)
    return out


def agree(op, *arrays):
    for order in "CF":          # gradients of weights lie in column order
        np.testing.assert_allclose(run(op, *arrays, order=order), op.compute(np, *arrays), rtol=1e-6, atol=1e-6)


def strided(x):
    """The same values with gaps, and transposed in memory."""
    return np.repeat(x, 2, axis=-1)[..., ::2], np.ascontiguousarray(x.T).T


@pytest.mark.sampled(20)
@pytest.mark.parametrize("dtype", ["float32", "int64", "float16", "bool"])
@pytest.mark.parametrize("shape, axis, indices", [((5, 3), 0, (7,)), ((5, 3), 1, (2, 2)), ((2, 6, 3), -2, ()), ((4,), 0, (9,))])
def test_gather(dtype, shape, axis, indices, rng):
    x = (4 * rng.normal(size=shape)).astype(dtype)
    for kind in (np.int32, np.int64):
        at = np.asarray(rng.integers(0, shape[axis], size=indices), kind)
        for a in (x, *strided(x)):
            agree(OPS["gather"](axis=axis), a, at)


@pytest.mark.parametrize("shape, axis", [((5, 3), 0), ((5, 3), 1), ((2, 6, 3), 1), ((4,), 0)])
def test_gather_gradient_accumulates(shape, axis, rng):
    at = rng.integers(0, shape[axis], size=(3, 8))
    op = OPS["gather_bp"](axis=axis)
    g = rng.normal(size=(*shape[:axis], 3, 8, *shape[axis + 1:])).astype(np.float32)
    for upstream in (g, *strided(g), np.broadcast_to(g[..., :1], g.shape)):
        agree(op, upstream, np.empty(shape, np.float32), at)


def test_fixed_indices(rng):
    x = rng.normal(size=(4, 3)).astype(np.float32)
    agree(OPS["gather"](indices=(3, 0, 3)), x)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("how", ["add", "sub", "mul", "div", "max", "min", "update"])
def test_scatter(how, rng):
    for shape in ((5, 3), (5,)):
        ref, at = rng.normal(size=shape).astype(np.float32), rng.integers(0, 5, size=8)
        agree(OPS[f"scatter_{how}"](), ref, at, 2 + rng.random((8, *shape[1:])).astype(np.float32))


def test_scatter_of_integers_wraps():
    agree(OPS["scatter_add"](), np.array([100, 1], np.int8), np.array([0, 0, 1]), np.array([100, 5, 2], np.int8))


@pytest.mark.parametrize("k", [1, 2])
def test_index_vectors(k, rng):
    x = rng.normal(size=(4, 5)).astype(np.float32)
    at = rng.integers(0, 4, size=(6, k))
    rows = rng.normal(size=(6, *x.shape[k:])).astype(np.float32)
    agree(OPS["gather_nd"](), x, at)
    agree(OPS["gather_nd_bp"](), rows, x, at)
    for how in ("add", "sub"):
        agree(OPS[f"scatter_nd_{how}"](), x, at, rows)


@pytest.mark.parametrize("name", ["sum", "mean", "sqrt_n", "prod", "max", "min"])
def test_segments(name, rng):
    data = rng.normal(size=(7, 2)).astype(np.float32)
    agree(OPS[f"unsorted_segment_{name}"](num_segments=5), data, np.array([3, 0, 3, 1, 1, 0, 3]))
    if name != "sqrt_n":
        agree(OPS[f"segment_{name}"](), data, np.array([0, 0, 1, 3, 3, 3, 4]))


@pytest.mark.parametrize("bad", [-1, 4])
def test_indices_out_of_range(bad):
    x, at = np.zeros((4, 2), np.float32), np.array([0, bad])
    for op, arrays in ((OPS["gather"](), (x, at)), (OPS["scatter_add"](), (x, at, x[:2])), (OPS["gather_nd"](), (x, at[:, None]))):
        with pytest.raises(ShapeError, match=f"index {bad} is out of range for (an axis|axis 0) of size 4"):
            run(op, *arrays)
