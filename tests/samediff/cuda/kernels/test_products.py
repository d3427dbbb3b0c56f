"""Matrix products on a device."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.samediff.base.spec import spec_of
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.ops.linalg.matmul import BatchMmul, Matmul, TensorMmul
from dl4py.samediff.ops.nn.attention import Project, ProjectedInput, ProjectedWeights
from dl4py.samediff.plans.actions import ArrayCopy, MatrixProduct
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler


def numbers(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("sizes", [(2, 3, 4), (1, 1, 1), (0, 3, 2), (2, 0, 3), (3, 2, 0)])
def test_transposes_and_batches(sizes):
    n, k, m = sizes
    for tx, ty, tz in itertools.product((False, True), repeat=3):
        for left, right in (((), ()), ((5,), ()), ((), (5,)), ((2, 1), (3,)), ((2, 3), (2, 3)), ((0,), (0,))):
            x, y = numbers(*left, *((k, n) if tx else (n, k))), numbers(*right, *((m, k) if ty else (k, m)))
            check_kernel(Matmul(tx, ty, tz), x, y)


def test_vectors():
    for x, y in (((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((4, 2, 3), (3,)), ((3,), (4, 3, 2))):
        check_kernel(Matmul(), numbers(*x), numbers(*y))
    check_kernel(Matmul(True, False, True), numbers(4, 3, 2), numbers(3))


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_types(dtype):
    check_kernel(Matmul(), numbers(5, 33, dtype=dtype), numbers(33, 3, dtype=dtype))


def test_a_batch_of_rows_by_one_matrix_is_one_product():
    x, y, out = numbers(4, 2, 3), numbers(3, 5), numbers(4, 2, 5)
    product, = KERNELS.kernel(Matmul(), spec_of(x), spec_of(y)).actions(x, y, out)
    assert isinstance(product, MatrixProduct)
    assert product.out.shape == (8, 5)


def test_mixed_types_have_no_kernel():
    assert KERNELS.kernel(Matmul(), spec_of(numbers(2, 2)), spec_of(numbers(2, 2, dtype=np.float64))) is None


def test_lists():
    check_kernel(BatchMmul(), numbers(2, 3), numbers(4, 1), numbers(3, 2), numbers(1, 5))
    check_kernel(BatchMmul(True, False), numbers(3, 2), numbers(3, 2))


@pytest.mark.parametrize(("over_x", "over_y", "x", "y", "copies"), [
    ((1,), (0,), (3, 4), (4, 2), 0), ((0,), (0,), (3, 4), (3, 2), 0), ((0,), (1,), (3, 4), (2, 3), 0), ((0, 1), (0, 1), (3, 4), (3, 4), 0),
    ((1, 3), (2, 0), (2, 3, 4, 5), (5, 7, 3), 2), ((0, 2), (0, 1), (2, 3, 4), (2, 4, 6), 1), ((), (), (2, 3), (4,), 0)])
def test_contractions(over_x, over_y, x, y, copies):
    op, x, y = TensorMmul(over_x, over_y), numbers(*x), numbers(*y)
    check_kernel(op, x, y)
    kernel = KERNELS.kernel(op, spec_of(x), spec_of(y))
    made = kernel.actions(x, y, op.compute(np, x, y), *(np.empty(s.shape, np.float32) for s in kernel.workspace))
    assert sum(isinstance(action, ArrayCopy) for action in made) == copies


def test_contraction_of_reversed_axes():
    check_kernel(TensorMmul((0,), (0,), True), numbers(2, 3), numbers(3, 4))


@pytest.mark.parametrize("batch", [0, 1, 3])
def test_projections_of_heads(batch):
    x, w, g = numbers(batch, 4, 5), numbers(2, 3, 4), numbers(batch, 2, 3, 5)
    check_kernel(Project(), x, w)
    check_kernel(ProjectedInput(), g, w)
    check_kernel(ProjectedWeights(), g, x)
