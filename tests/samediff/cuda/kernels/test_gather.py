"""Rows taken at indices."""
from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from dl4py.layers.ops.embedding_ops import RowIndices
from dl4py.layers.ops.loss_terms import OneHotLabels
from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import spec_of
from dl4py.samediff.cuda.drivers.emulator import Emulator
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.cuda.routines.gather import position_type
from dl4py.samediff.ops.index.gather import EmbeddingLookup, Gather, GatherNd, OneHot
from dl4py.samediff.ops.index.scatter import LastRow
from dl4py.samediff.ops.index.segment import CountOfRow
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler
random = np.random.default_rng(0)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.bool_, np.int8])
def test_slices_along_an_axis(dtype):
    for shape, axis in (((5,), 0), ((5, 33), 0), ((3, 4), 1), ((2, 3, 4), -2), ((2, 300), 0)):
        x = (10 * random.normal(size=shape)).astype(dtype)
        for places in ((), (0,), (7,), (2, 3)):
            check_kernel(Gather((), axis), x, random.integers(0, shape[axis], places).astype(np.int32))


def test_other_indices():
    x = random.normal(size=(4, 3)).astype(np.float32)
    check_kernel(Gather((2, 0, 2), 1), x)
    check_kernel(Gather((), -1), x, np.array([2, 1], np.uint8))
    check_kernel(EmbeddingLookup(), x, np.array([[2, 1]]))
    check_kernel(Gather((), 0), x[:, ::2], np.array([3, 3]))
    check_kernel(Gather((), 0), np.zeros((0, 3), np.float32), np.zeros(0, np.int64))


def test_index_vectors():
    x = random.normal(size=(3, 4, 5)).astype(np.float32)
    for indices in (random.integers(0, 3, (6, 2)), random.integers(0, 3, (2, 2, 3)).astype(np.int32), np.array([1]), np.zeros((0, 1), int)):
        check_kernel(GatherNd(), x, indices)


@pytest.mark.parametrize("op", [Gather(), GatherNd()])
def test_what_is_out_of_range_is_not_a_number(op):
    x, indices, out = np.ones((4, 3), np.float32), np.array([1, 4, -1, 2**32 + 1])[:, None], np.full((4, 1, 3), 7, np.float32)
    out = out if op == Gather() else out[:, 0].copy()
    kernel = KERNELS.kernel(op, spec_of(x), spec_of(indices).with_shape((4, 1)))
    Emulator(guard=True).prepare(kernel.actions(x, indices, out, *(np.empty(s.shape, s.dtype.numpy) for s in kernel.workspace)))()
    assert np.isnan(out).all(axis=-1).reshape(-1).tolist() == [False, True, True, True]


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_one_hot(axis):
    check_kernel(OneHot(5, axis, 2.0, -1.0), random.integers(-1, 6, (3, 4)))


def test_one_hot_of_other_types():
    indices = np.array([1, 0, 4])
    check_kernel(OneHot(5, data_type=DataType.HALF), indices.astype(np.uint8))
    check_kernel(OneHot(5, data_type=DataType.INT), np.array(2))
    check_kernel(OneHot(4, data_type=DataType.BOOL), indices.astype(np.float32))
    check_kernel(OneHot(0), indices)


def test_large_arrays_are_counted_by_64_bits():
    assert position_type(10, 2**20) == ("int", np.int32)
    assert position_type(10, 2**31) == ("long long", np.int64)


def test_labels_and_indices_of_layers():
    output = np.zeros((2, 4), np.float32)
    check_kernel(OneHotLabels("loss"), np.array([[1], [0]], np.float32), output)
    check_kernel(OneHotLabels("loss"), np.array([1, 3]), output)
    check_kernel(RowIndices(5), np.array([[1, 0, 4]]))
    check_kernel(RowIndices(5), np.array([3.0], np.float32))


def test_what_layers_refuse_becomes_nan():
    x, rows = np.array([1, -1, 5, 0.5, np.nan], np.float32), np.zeros(5, np.int32)
    Emulator(guard=True).prepare(KERNELS.kernel(RowIndices(5), spec_of(x)).actions(x, rows))()
    assert rows.tolist() == [1, -1, -1, -1, -1]
    labels, output, columns = np.array([1.0, 4.0], np.float32), np.zeros((2, 4), np.float32), np.zeros((2, 4), np.float32)
    Emulator(guard=True).prepare(KERNELS.kernel(OneHotLabels("loss"), spec_of(labels), spec_of(output)).actions(labels, output, columns))()
    assert columns[0].tolist() == [0, 1, 0, 0]
    assert np.isnan(columns[1]).all()


@pytest.mark.parametrize("shape", [(0,), (1,), (33,), (2, 3)])
def test_equal_indices(shape):
    indices, like = random.integers(0, 4, shape), np.zeros((*shape, 5), np.float32)
    check_kernel(CountOfRow(), indices, like)
    if len(shape) == 1:
        check_kernel(LastRow(), indices.astype(np.int32), like)
