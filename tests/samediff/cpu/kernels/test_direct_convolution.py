"""Convolution without columns, and pooling of pairs, against ``compute``: sizes around those of vectors and blocks."""
from __future__ import annotations

import math

import numpy as np
import pytest

from dl4py.samediff.base.spec import spec_of
from dl4py.samediff.cpu import threads
from dl4py.samediff.cpu.kernel_table import KERNELS
from dl4py.samediff.cpu.matrix.tiles import lanes_of
from dl4py.samediff.cpu.ops.conv.convolving import sizes_of
from dl4py.samediff.cpu.routines.direct_convolution import DirectConvolution
from dl4py.samediff.cpu.routines.parallel_kernel import ParallelKernel
from dl4py.samediff.ops.conv.conv import Conv2D
from dl4py.samediff.ops.conv.convolving import Convolution, ConvolutionDataGrad, ConvolutionWeightGrad, Geometry, output_shape
from dl4py.samediff.ops.conv.pool import MaxPool2D
from dl4py.samediff.ops.conv.pooling import Pool, WindowScatter, WindowSpread, WindowSum
from dl4py.samediff.ops.conv.window import Window
from tests.samediff.cpu.kernels.agreement import agree

TYPES = [np.float32, np.float64]

HALF = lanes_of(np.dtype(np.float32)) // 2

CASES = {  # batch, channels, height, width, out, kernel, padding, dilation
    "first layer": (3, 1, 28, 28, 20, (5, 5), (0, 0), (1, 1)),
    "second layer": (3, 20, 12, 12, 50, (5, 5), (0, 0), (1, 1)),
    "one tap, padded": (2, 3, 5, 9, 4, (1, 1), (1, 2), (1, 1)),
    "padded": (3, 3, 9, 16, 17, (3, 3), (1, 1), (1, 1)),
    "dilated": (2, 3, 11, 21, 5, (3, 2), (2, 1), (2, 3)),
    "short rows": (1, 3, 4, HALF + 2, 3, (2, 3), (0, 0), (1, 1)),
    "rows of a vector": (1, 2, 3, 10, 1, (1, 3), (0, 0), (1, 1)),
    "rows of a vector and one": (1, 2, 3, 19, 13, (2, 3), (0, 0), (1, 1)),
    "long rows": (1, 2, 2, 75, 3, (2, 4), (0, 0), (1, 1)),
    "wide kernel": (2, 2, 9, 24, 3, (2, 9), (1, 4), (1, 1)),
    "tall kernel": (2, 2, 3, 24, 3, (7, 1), (3, 0), (1, 1)),
    "many factors": (1, 150, 4, 16, 3, (3, 3), (1, 1), (1, 1)),
    "one cell": (3, 5, 3, 4, 6, (1, 1), (0, 0), (1, 1)),
    "many maps": (1, 2, 3, 16, 700, (3, 3), (1, 1), (1, 1)),
    "images in groups": (40, 8, 34, 42, 2, (3, 3), (1, 1), (1, 1)),
}


def drawn(case, dtype, form="OIYX"):
    batch, channels, height, width, out, kernel, padding, dilation = CASES[case]
    rng = np.random.default_rng(5)
    geometry = Geometry(Window(kernel, (1, 1), padding, dilation), False, form)
    x = rng.normal(size=(batch, channels, height, width)).astype(dtype)
    w = rng.normal(size={"OIYX": (out, channels, *kernel), "YXIO": (*kernel, channels, out)}[form]).astype(dtype)
    g = rng.normal(size=output_shape(geometry, x.shape, w.shape)).astype(dtype)
    return geometry, x, w, g


def direct(geometry, x, w):
    """What chooses the kernels here."""
    shapes = sizes_of(geometry, spec_of(x), spec_of(w))
    return None if shapes is None else DirectConvolution.of(shapes)


@pytest.fixture(params=[0, 1e9], ids=["sums", "turned"])
def always(request, monkeypatch):
    """No columns where they may be avoided; gradients of images in both ways."""
    for name, value in (("MAPS", math.inf), ("CELLS", 0), ("BEYOND", request.param)):
        monkeypatch.setattr(f"dl4py.samediff.cpu.routines.direct_convolution.{name}", value)


def run(op, *arrays):
    """The kernel on inputs and an output, in memory that holds NaN."""
    kernel = KERNELS.kernel(op, *map(spec_of, arrays[:-1]))
    kernel.call(*arrays, *[np.full(s.shape, np.nan if s.dtype.numpy.kind == "f" else 9, s.dtype.numpy) for s in kernel.workspace])


def all_three(geometry, x, w, g):
    return [(Convolution(geometry), (x, w)), (ConvolutionDataGrad(geometry), (w, g, x)), (ConvolutionWeightGrad(geometry), (x, g, w))]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("case", CASES)
def test_convolution_and_its_gradients(case, dtype, always):
    geometry, x, w, g = drawn(case, dtype)
    assert direct(geometry, x, w) is not None
    for op, arrays in all_three(geometry, x, w, g):
        agree(op, arrays)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["padded", "short rows"])
def test_other_forms_of_arrays(case, always):
    geometry, x, w, g = drawn(case, np.float32, "YXIO")
    x, w, g = np.asfortranarray(x), np.flip(np.flip(w)), np.repeat(g, 2, axis=-1)[..., ::2]
    for op, arrays in all_three(geometry, x, w, g):
        agree(op, arrays)


def test_gradient_into_an_array_of_another_order(always):
    geometry, x, w, g = drawn("padded", np.float32)
    agree(ConvolutionWeightGrad(geometry), (x, g, w), order="F")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("mode", ["SAME", "VALID"])
def test_bias(dtype, mode, rng):
    op = Conv2D(padding_mode=mode, weights_format="OIYX")
    agree(op, [rng.normal(size=s).astype(dtype) for s in ((3, 3, 9, 13), (7, 3, 3, 3), (1, 7))])


@pytest.mark.sampled(8)
@pytest.mark.parametrize("shares", [1, 3])
@pytest.mark.parametrize("stride, size, channels, kernel", [((2, 1), 16, 1, 3), ((1, 1), 5, 2, 3), ((1, 1), 16, 280, 1),
                                                            ((1, 1), 9, 260, 3)])
def test_what_columns_serve(stride, size, channels, kernel, shares, monkeypatch, rng):
    monkeypatch.setattr("dl4py.samediff.cpu.routines.convolution_sizes.parts_for", lambda _: shares)
    geometry = Geometry(Window((kernel, kernel), stride, (0, 0), (1, 1)), False, "OIYX")
    x, w = rng.normal(size=(5, channels, 12, size)).astype(np.float32), rng.normal(size=(60, channels, kernel, kernel)).astype(np.float32)
    g = rng.normal(size=output_shape(geometry, x.shape, w.shape)).astype(np.float32)
    assert direct(geometry, x, w) is None
    for op, arrays in all_three(geometry, x, w, g):
        agree(op, arrays)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", ["second layer", "padded", "one tap, padded"])
def test_any_number_of_shares_gives_the_same_bits(case, monkeypatch, always):
    geometry, x, w, g = drawn(case, np.float32)
    found = []

    def shares(count):
        def run(self, *arrays):
            for part in range(count):
                self.function(*self.operands(*arrays), *self.numbers, part, count)
        return run
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    for count in (1, 2, 5):                         # with memory for 3
        monkeypatch.setattr(ParallelKernel, "run", shares(count))
        for op, arrays in all_three(geometry, x, w, g):
            found.append(np.full((g if op.id == "convolution" else arrays[2]).shape, np.nan, np.float32))
            run(op, *arrays, found[-1])
    for k in range(3):
        assert found[k].tobytes() == found[k + 3].tobytes() == found[k + 6].tobytes()


def test_threads_share_what_is_long(monkeypatch):
    geometry, x, w, g = drawn("images in groups", np.float32)
    seen = []
    own = "dl4py.samediff.cpu.routines"
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    monkeypatch.setattr(threads, "LEAST", 1e3)
    monkeypatch.setattr(f"{own}.direct_convolution.FAR", 1 << 20)
    monkeypatch.setattr(f"{own}.parallel_kernel.run_parts", lambda call, cut: [seen.append(p) or call(k, *p) for k, p in enumerate(cut)])
    for op, arrays in all_three(geometry, x, w, g):
        agree(op, arrays)
    assert len(seen) == 6           # of the turned weights there are too few


def test_numbers_that_are_not_finite_stay_in_their_windows(always):
    geometry, x, w, g = drawn("rows of a vector and one", np.float32)
    x[0, 0, 0, 0], g[0, 1, 1, 16] = np.nan, np.nan
    for op, arrays in all_three(geometry, x, w, g):
        want = op.compute(np, *arrays)
        out = np.zeros(want.shape, want.dtype)
        run(op, *arrays, out)
        np.testing.assert_array_equal(np.isfinite(out), np.isfinite(want))


POOLS = [(2, 3, 24, 24), (3, 5, 8, 8), (1, 2, 4, 9), (1, 1, 3, 17), (2, 1, 2, 38), (1, 2, 7, 75)]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", POOLS)
@pytest.mark.parametrize("divisor", ["none", "kernel", "inside"])
def test_pooling_of_pairs(shape, dtype, divisor, rng):
    pool = Pool(Window((2, 2), (2, 2), (0, 0), (1, 1)), False, divisor)
    x = rng.normal(size=shape).astype(dtype)
    g = rng.normal(size=pool.shape(shape)).astype(dtype)
    agree(MaxPool2D(k_h=2, k_w=2, s_h=2, s_w=2), (x,))
    agree(WindowScatter(pool), (x, g))
    agree(WindowSum(pool), (np.asfortranarray(x),))
    agree(WindowSpread(pool), (g, x))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", TYPES)
def test_the_first_of_equal_cells_is_the_largest(dtype, rng):
    x = rng.integers(0, 2, (3, 4, 12, 22)).astype(dtype)
    x[0, 0] = -np.inf
    pool = Pool(Window((2, 2), (2, 2), (0, 0), (1, 1)))
    agree(WindowScatter(pool), (x, rng.normal(size=(3, 4, 6, 11)).astype(dtype)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("cell", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_nan_is_the_largest(cell, dtype, rng):
    x = rng.normal(size=(2, 2, 4, 22)).astype(dtype)
    x[:, :, cell[0]::2, cell[1]::6] = np.nan
    op, pool = MaxPool2D(k_h=2, k_w=2, s_h=2, s_w=2), Pool(Window((2, 2), (2, 2), (0, 0), (1, 1)))
    y, g, dx = np.empty((2, 2, 2, 11), dtype), np.ones((2, 2, 2, 11), dtype), np.empty_like(x)
    run(op, x, y)
    np.testing.assert_array_equal(y, op.compute(np, x))
    run(WindowScatter(pool), x, g, dx)
    np.testing.assert_array_equal(dx.reshape(2, 2, 2, 2, 11, 2).sum(axis=(3, 5)), 1)        # each window gives to one cell
