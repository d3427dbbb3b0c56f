"""Pooling on a grid of sizes around those where its loops change: windows hang over every edge, shares are uneven."""
from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dl4py.samediff.cpu import threads
from dl4py.samediff.cpu.routines.parallel_kernel import ParallelKernel
from dl4py.samediff.ops.conv.pool import MaxPool2D
from dl4py.samediff.ops.conv.pooling import Pool, WindowGather, WindowScatter, WindowSpread, WindowSum
from dl4py.samediff.ops.conv.window import Window
from tests.samediff.cpu.kernels.agreement import agree

TYPES = [np.float32, np.float64]
HEIGHTS = [1, 2, 3, 4, 5, 8]
#: Rows of outputs around 4, 8 and 16, with strides of 1, 2 and 3.
WIDTHS = [1, 2, 5, 7, 8, 9, 14, 15, 16, 17, 18, 30, 31, 32, 33, 34, 35, 47, 48, 49]
SPECIAL = [np.nan, np.inf, -np.inf, 0.5, 1.5]
KERNELS = [(2, 2), (1, 1), (3, 2), (2, 3)]
STRIDES = [(2, 2), (1, 1), (1, 2), (2, 1), (3, 3)]
PADDINGS = [(0, 0), (1, 0), (0, 1), (1, 1)]
DILATIONS = [(1, 1), (2, 1), (1, 2)]


def fits(window, sizes):
    return window.mode == "SAME" or all(n + 2 * p >= window.extent(k) for k, (n, p) in enumerate(zip(sizes, window.padding)))


def windows(sizes):
    """All windows of pairs, and some others of each size."""
    pairs = [Window((2, 2), stride, padding, (1, 1), mode)
             for stride, padding, mode in product([(2, 2), (1, 2)], PADDINGS, ["VALID", "SAME"])]
    others = [Window(*options, mode) for *options, mode in product(KERNELS, STRIDES, PADDINGS, DILATIONS, ["VALID", "SAME"])]
    some = np.random.default_rng(sizes).choice(len(others), 6, replace=False)
    return [w for w in (*pairs, *(others[k] for k in some)) if fits(w, sizes)]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("height", HEIGHTS)
def test_windows_over_every_edge(height, dtype, rng):
    for width in WIDTHS:
        x, other = (rng.normal(size=(1, 3, height, width)).astype(dtype) for _ in range(2))
        for k, window in enumerate(windows((height, width))):
            pool = Pool(window, False, ("none", "kernel", "inside")[k % 3])
            g = rng.normal(size=pool.shape(x.shape)).astype(dtype)
            agree(WindowSum(pool), (x,))
            agree(WindowSpread(pool), (g, x))
            for values in (x, rng.choice(SPECIAL, x.shape).astype(dtype)):
                agree(WindowScatter(pool), (values, g))
                agree(WindowGather(pool), (values, other))
            names = dict(zip(("k_h", "k_w", "s_h", "s_w", "p_h", "p_w", "d_h", "d_w"),
                             (*window.kernel, *window.stride, *window.padding, *window.dilation)))
            agree(MaxPool2D(**names, padding_mode=window.mode), (x,))


DEEP = [Window((2, 3, 2), (1, 2, 1), (1, 1, 1), (1, 1, 1)), Window((2, 2, 3), (2, 1, 2), (1, 0, 1), (1, 2, 1)),
        Window((3, 2, 2), (1, 1, 3), (0, 0, 0), (2, 1, 2), "SAME"), Window((1, 2, 2), (2, 2, 2), (0, 1, 0), (1, 1, 1))]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("window", DEEP)
def test_deep_windows_over_every_edge(window, dtype, rng):
    """Of equal cells the first inside the image has the place, also where all are -inf or NaN; NaN is larger than all numbers."""
    for sizes in product((3, 4), (4, 5), (5, 18, 35)):
        pool = Pool(window, False, "inside")
        x, other = (rng.normal(size=(1, 2, *sizes)).astype(dtype) for _ in range(2))
        g = rng.normal(size=pool.shape(x.shape)).astype(dtype)
        agree(WindowSum(pool), (x,))
        agree(WindowSpread(pool), (g, x))
        special = rng.choice(SPECIAL, x.shape).astype(dtype)
        for values in (x, rng.integers(0, 2, x.shape).astype(dtype), np.full_like(x, -np.inf), np.full_like(x, np.nan), special):
            agree(WindowScatter(pool), (values, g))
            agree(WindowGather(pool), (values, other))


@pytest.mark.parametrize("parts", [2, 3, 5, 7])
@pytest.mark.parametrize("planes", [1, 3, 4, 7])
def test_uneven_shares(planes, parts, monkeypatch, rng):
    """Fewer planes than shares among them."""
    def run(self, *arrays):
        for part in range(parts):
            self.function(*self.operands(*arrays), *self.numbers, part, parts)
    monkeypatch.setattr(ParallelKernel, "run", run)
    monkeypatch.setattr(threads, "thread_count", lambda: parts)
    for height, width in product((2, 5), (8, 17, 33, 64)):
        pool = Pool(Window((2, 2), (2, 2), (0, 0), (1, 1)), False, "kernel")
        x = rng.normal(size=(1, planes, height, width)).astype(np.float32)
        g = rng.normal(size=pool.shape(x.shape)).astype(np.float32)
        for op, arrays in ((WindowSum(pool), (x,)), (WindowSpread(pool), (g, x)), (WindowScatter(pool), (x, g)),
                           (MaxPool2D(k_h=2, k_w=2, s_h=2, s_w=2), (x,))):
            agree(op, arrays)
