"""Ops that only move elements."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers.ops.step_ops import StackedPart, StackPadded
from dl4py.samediff.base.enums import PadMode
from dl4py.samediff.base.spec import spec_of
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.ops.nn.attention import HeadRows
from dl4py.samediff.ops.shape.joining import Concat, ConcatPart, Split, SplitV, Stack, Tile, Unstack
from dl4py.samediff.ops.shape.mirror_pad import MirrorPad
from dl4py.samediff.ops.shape.pad import Pad, PadSum
from dl4py.samediff.ops.shape.slicing import Index, Slice, SliceGrad
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler
EDGES = np.array([[1, 2], [0, 3]])


def numbers(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def test_concat():
    for axis, shapes in ((1, ((2, 3), (2, 1), (2, 0))), (-1, ((2, 3, 2), (2, 3, 5))), (0, ((), (3,), (0,))), (0, ((0,), (2, 3), (1, 3))),
                         (0, ((0,),))):
        check_kernel(Concat(axis), *(numbers(*s) for s in shapes))


def test_stack():
    for axis, shape in ((0, (2, 3)), (-1, (2, 3)), (1, (2,)), (0, ()), (0, (0,))):
        check_kernel(Stack(axis), numbers(*shape), numbers(*shape) + 1)


def test_tile():
    for counts, shape in (((2, 3), (3, 2)), ((1,), (4,)), ((2,), (0,)), ((), ())):
        check_kernel(Tile(counts), numbers(*shape))
    check_kernel(Tile(), numbers(2, 3), np.array([2, 1]), known=(1,))
    assert KERNELS.kernel(Tile(), spec_of(numbers(2, 3)), spec_of(EDGES[0]).with_shape((2,))) is None


def test_parts_put_back():
    check_kernel(SliceGrad(Index((("slice", 1, None, 2), ("point", -1, False)))), numbers(2), numbers(4, 3))
    check_kernel(SliceGrad(Index((("slice", None, None, -1), "new"))), numbers(4, 1, 3), numbers(4, 3))
    check_kernel(SliceGrad(Index((("point", 1, False),))), numbers(), numbers(4))
    check_kernel(SliceGrad(Index((("slice", 0, 0, 1),))), numbers(0, 3), numbers(4, 3))
    check_kernel(SliceGrad(Slice()), numbers(2, 2), numbers(4, 3), np.array([1, 0]), np.array([2, 2]), known=(2, 3))


@pytest.mark.parametrize("mode", PadMode)
def test_pad(mode):
    check_kernel(Pad(mode, 2.5), numbers(3, 4), EDGES, known=(1,))
    check_kernel(Pad(mode), numbers(3, 4).astype(np.float16), 0 * EDGES, known=(1,))
    check_kernel(Pad(mode), numbers(3, 4, 3), np.array([[1, 1], [2, 0], [0, 2]]), known=(1,))


def test_pad_of_other_arrays():
    check_kernel(Pad(PadMode.CONSTANT, 3), np.ones((2, 2), np.int64), EDGES, known=(1,))
    check_kernel(Pad(PadMode.CONSTANT, 3), numbers(0, 2), EDGES, known=(1,))
    check_kernel(MirrorPad(True), numbers(3, 4), EDGES, known=(1,))
    assert KERNELS.kernel(Pad(), spec_of(numbers(3, 4)), spec_of(EDGES).with_shape((2, 2))) is None


def test_arrays_taken_apart():
    check_kernel(ConcatPart(1, 1), numbers(2, 6), numbers(2, 1), numbers(2, 3), numbers(2, 2))
    check_kernel(ConcatPart(0, 1), numbers(4), numbers(), numbers(), numbers(2))
    check_kernel(ConcatPart(0, 0), numbers(4, 2), numbers(0), numbers(4, 2))
    check_kernel(Unstack(1), numbers(2, 3, 4))
    check_kernel(Split(2, -1), numbers(2, 4))
    check_kernel(SplitV(2, 1), numbers(2, 5), np.array([2, 3]), known=(1,))
    assert KERNELS.kernel(SplitV(2, 1), spec_of(numbers(2, 5)), spec_of(EDGES[0]).with_shape((2,))) is None


def test_batches_below_each_other():
    check_kernel(StackPadded(), numbers(2, 3, 4), numbers(1, 3, 6))
    check_kernel(StackedPart(1), numbers(3, 3, 6), numbers(2, 3, 4), numbers(1, 3, 5))


def test_rows_of_heads():
    check_kernel(HeadRows(), numbers(6, 4), numbers(5, 2, 3, 7))


def test_gradient_of_padding():
    check_kernel(PadSum(PadMode.CONSTANT), numbers(6, 7), EDGES, numbers(3, 4), known=(1,))
    assert KERNELS.kernel(PadSum(PadMode.REFLECT), *map(spec_of, (numbers(6, 7), EDGES, numbers(3, 4)))) is None
