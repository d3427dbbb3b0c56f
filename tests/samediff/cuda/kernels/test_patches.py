"""Patches, repeated cells and blocks on the emulator."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.ops.conv.patches import Col2Im, ExtractImagePatches, Fold, Im2Col, Patches, Unfold
from dl4py.samediff.ops.conv.window import Window
from dl4py.samediff.ops.shape.batch_blocks import BatchToSpaceNd, SpaceToBatchNd
from dl4py.samediff.ops.shape.blocks import BatchToSpace, DepthToSpace, RepeatBlocks, SpaceToBatch, SpaceToDepth, SumBlocks, Upsampling2DOp
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler

rng = np.random.default_rng(5)

WINDOWS = [Window((3, 3), (2, 1), (1, 1), (1, 1)), Window((2, 3), (1, 2), (0, 0), (2, 1), "SAME"), Window((2, 3), (5, 4), (2, 1), (2, 3))]
ORDERS = [("ncyxhw", False, 1), ("nhwyxc", True, 3), ("nhwcyx", False, 3)]


def numbers(*shape, dtype="float32"):
    return (rng.standard_normal(shape) * 9).astype(dtype)


@pytest.mark.parametrize("order, last, merged", ORDERS)
def test_columns_and_back(order, last, merged):
    for window in WINDOWS:
        patches, x = Patches(window, order, last, merged), numbers(*((2, 9, 8, 3) if last else (2, 3, 9, 8)))
        check_kernel(Unfold(patches), x)
        check_kernel(Fold(patches), numbers(*patches.shape(x.shape)), x)


def test_ops_of_patches():
    check_kernel(Im2Col(2, 3, 1, 2, 1, 1), numbers(2, 3, 7, 6))
    check_kernel(Im2Col(2, 3, 1, 2, 1, 1), numbers(0, 3, 7, 6))
    check_kernel(Col2Im(2, 3, 1, 2, 1, 1), numbers(2, 3, 2, 3, 4, 5))
    check_kernel(Im2Col(2, 3, 1, 2, 1, 1), numbers(1, 2, 7, 6) > 0)
    for dtype in ("float16", "int64"):
        check_kernel(ExtractImagePatches(2, 3, 1, 2, 1, 1, True), numbers(2, 7, 6, 3, dtype=dtype))
        check_kernel(Col2Im(2, 3, 1, 2, 1, 1), numbers(2, 3, 2, 3, 4, 5, dtype=dtype))


@pytest.mark.parametrize("factors", [(1, 1, 2, 3), (1, 2, 3, 1), (1, 1, 1, 1), (2, 2, 2, 1), (1, 1, 1, 3), (1, 2, 3, 2, 1)])
def test_cells(factors):
    x = numbers(2, 3, 4, 5, 3)[..., 0] if len(factors) == 4 else numbers(2, 3, 2, 2, 3)
    check_kernel(RepeatBlocks(factors), x)
    check_kernel(SumBlocks(factors), numbers(*(n * f for n, f in zip(x.shape, factors))))


def test_cells_of_other_types():
    for dtype in ("float16", "int16", "float64"):
        check_kernel(RepeatBlocks((1, 2, 1, 3)), numbers(2, 3, 4, 5, dtype=dtype))
        check_kernel(SumBlocks((1, 2, 1, 3)), numbers(2, 4, 4, 6, dtype=dtype))
    check_kernel(Upsampling2DOp(2, 3, False), numbers(2, 3, 4, 5) > 0)
    check_kernel(RepeatBlocks((1, 1, 2, 3)), numbers(0, 3, 4, 5))
    check_kernel(SumBlocks((1, 1, 2, 3)), numbers(0, 3, 4, 6))
    check_kernel(SumBlocks((1, 2)), numbers(4, 1026))


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_depth(layout):
    for b in (1, 2, 3):
        check_kernel(SpaceToDepth(b, layout), numbers(2, 6, 6, 6, dtype="int16"))
        check_kernel(DepthToSpace(b, layout), numbers(2, 36, 5, 36, dtype="float16"))
    check_kernel(SpaceToDepth(2, layout), numbers(0, 6, 6, 6))


@pytest.mark.parametrize("edges", [[[0, 0], [0, 0]], [[1, 0], [2, 1]]])
def test_batch(edges):
    edges, blocks = np.array(edges, np.int32), np.array([2, 3])
    high = 6 - edges[0].sum()
    check_kernel(SpaceToBatch(2, (2, 3)), numbers(2, high, 3, 4), edges, known=(1,))
    check_kernel(BatchToSpace(2, (2, 3)), numbers(12, 3, 4, 2), edges, known=(1,))
    check_kernel(SpaceToBatchNd(), numbers(2, high, 3, 4, 2), blocks, edges, known=(1, 2))
    check_kernel(BatchToSpaceNd(), numbers(12, 3, 4, 2), blocks, edges, known=(1, 2))
