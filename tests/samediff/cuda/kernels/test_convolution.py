"""Convolutions on the emulator."""
from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.cuda.ops.conv import convolving
from dl4py.samediff.cuda.routines import convolution_sizes, depthwise, im2col_convolution
from dl4py.samediff.cuda.routines.convolution_sizes import LARGE, NARROW, SQUARE, TILES, shares_of, tile_for
from dl4py.samediff.ops.conv.conv import Conv1D, Conv2D, Conv3D, DepthwiseConv2D
from dl4py.samediff.ops.conv.conv_forms import PointwiseConv2D
from dl4py.samediff.ops.conv.convolving import FORMATS, Convolution, ConvolutionDataGrad, ConvolutionWeightGrad, Geometry, output_shape
from dl4py.samediff.ops.conv.deconv import Deconv2D, Deconv3D
from dl4py.samediff.ops.conv.window import Window
from dl4py.samediff.plans.actions import KernelLaunch, MatrixProduct
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler

rng = np.random.default_rng(5)

#: Images (channels first), outputs of a channel or all of them, windows.
CASES = {
    "padded": ((2, 3, 7, 6), 5, Window((3, 3), (1, 1), (1, 1), (1, 1))),
    "strides": ((2, 3, 8, 9), 33, Window((3, 2), (2, 3), (1, 0), (1, 1))),
    "same": ((1, 9, 8, 9), 4, Window((3, 2), (2, 3), (0, 0), (2, 1), "SAME")),
    "causal": ((2, 3, 11), 7, Window((4,), (3,), (0,), (2,), "CAUSAL")),
    "three axes": ((2, 2, 4, 5, 6), 3, Window((2, 3, 2), (1, 2, 2), (1, 0, 1), (1, 1, 2))),
    "single cells": ((2, 3, 7, 6), 5, Window((1, 1), (1, 1), (0, 0), (1, 1))),
    "single cells apart": ((2, 3, 7, 6), 5, Window((1, 1), (2, 2), (0, 0), (1, 1))),
    "stride and dilation share a factor": ((2, 3, 7, 9), 5, Window((2, 2), (4, 6), (0, 0), (3, 4))),
    "one window": ((3, 17, 1, 1), 5, Window((3, 3), (1, 1), (1, 1), (1, 1))),
    "one cell": ((3, 17, 1, 1), 5, Window((1, 1), (1, 1), (0, 0), (1, 1))),
    "padding alone": ((1, 2, 2, 2), 3, Window((1, 1), (1, 1), (3, 3), (1, 1))),
}


def arrays(shape, out, window, last, layout, dtype="float32"):
    """Geometry, and shapes of images, weights and result."""
    batch, channels, *sizes = shape
    x = (batch, *sizes, channels) if last else shape
    w = {"YXIO": (*window.kernel, channels, out), "OIYX": (out, channels, *window.kernel), "OYXI": (out, *window.kernel, channels)}[layout]
    return x, w


def normal(*shape, dtype="float32"):
    return rng.standard_normal(shape).astype(dtype)


def check(shape, out, window, last, layout, alone=False, dtype="float32"):
    """The convolution and both gradients."""
    geometry = Geometry(window, last, layout, alone)
    x, w = arrays(shape, out, window, last, layout)
    y = output_shape(geometry, x, w)
    check_kernel(Convolution(geometry), normal(*x, dtype=dtype), normal(*w, dtype=dtype))
    check_kernel(ConvolutionDataGrad(geometry), normal(*w, dtype=dtype), normal(*y, dtype=dtype), normal(*x, dtype=dtype))
    check_kernel(ConvolutionWeightGrad(geometry), normal(*x, dtype=dtype), normal(*y, dtype=dtype), normal(*w, dtype=dtype))


@pytest.mark.sampled(54)
@pytest.mark.parametrize("alone", [False, True], ids=["dense", "depthwise"])
@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
@pytest.mark.parametrize("name", CASES)
def test_windows(name, last, alone):
    shape, out, window = CASES[name]
    for layout in FORMATS:
        check(shape, 2 if alone else out, window, last, layout, alone)


@pytest.mark.slow
@pytest.mark.parametrize("tile", TILES, ids=["large", "square", "narrow"])
def test_tiles(monkeypatch, tile):
    monkeypatch.setattr(convolving, "tile_for", lambda rows, columns: tile)
    check((2, 9, 10, 9), 133, CASES["padded"][2], False, "OIYX")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["float64", "float16", ml_dtypes.bfloat16])
def test_types(monkeypatch, dtype):
    monkeypatch.setattr(convolution_sizes, "SHORTEST", 16)         # some in parts, which are summed in float32
    for alone in (False, True):
        check((2, 4, 6, 5), 6, CASES["padded"][2], dtype == "float16", "OIYX", alone, dtype)
    check((2, 4, 6, 5), 6, CASES["single cells"][2], False, "OIYX", False, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
def test_parts(monkeypatch, last):
    monkeypatch.setattr(convolution_sizes, "SHORTEST", 16)
    monkeypatch.setattr(depthwise, "SHORTEST", 8)
    for alone in (False, True):
        check((2, 40, 5, 6), 2 if alone else 10, CASES["padded"][2], last, "YXIO", alone)
    check_kernel(Conv2D(3, 3, data_format="NHWC" if last else "NCHW"), normal(2, 6, 6, 6), normal(3, 3, 6, 5), normal(5))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
@pytest.mark.parametrize("name", ["padded", "strides", "three axes", "stride and dilation share a factor"])
def test_columns(monkeypatch, name, last):
    monkeypatch.setattr(im2col_convolution, "WORK", 1)
    monkeypatch.setattr(im2col_convolution, "THINNEST", 1)
    for elements in (1 << 26, 1):               # all images at once, one at a time
        monkeypatch.setattr(im2col_convolution, "ELEMENTS", elements)
        for layout in FORMATS:
            check(*CASES[name], last, layout, dtype=ml_dtypes.bfloat16 if last else "float16")
            kernel = CASES[name][2].kernel
            if len(kernel) == 2:
                x, w = arrays(*CASES[name], last, layout)
                op = Conv2D(*kernel, 1, 1, 1, 1, data_format="NHWC" if last else "NCHW", weights_format=layout)
                check_kernel(op, normal(*x, dtype="float16"), normal(*w, dtype="float16"), normal(CASES[name][1], dtype="float16"))


def test_inputs_of_any_layout():
    x, w = normal(2, 6, 7, 3).transpose(0, 3, 1, 2), normal(5, 3, 6, 3)[:, :, ::2]
    check_kernel(Conv2D(3, 3, weights_format="OIYX"), x, w, normal(10)[::2])


def test_ops_with_a_bias():
    check_kernel(Conv1D(3, 2, 1), normal(2, 3, 9), normal(3, 3, 5), normal(5))
    check_kernel(Conv1D(3, data_format="NWC", padding_mode="SAME"), normal(2, 9, 3), normal(3, 3, 5), normal(5))
    check_kernel(Conv3D(3, 3, 3), normal(1, 3, 5, 4, 3), normal(3, 3, 3, 3, 5), normal(5))
    check_kernel(Deconv3D(2, 2, 2, 2, 2, 2), normal(2, 3, 3, 2, 3), normal(2, 2, 2, 4, 3), normal(4))
    for images in ("NCHW", "NHWC"):
        x = normal(2, 4, 4, 4)
        for kernel in (1, 3):
            check_kernel(Conv2D(kernel, kernel, data_format=images), x, normal(kernel, kernel, 4, 5), normal(1, 5))
            check_kernel(Deconv2D(kernel, kernel, 1, 1, data_format=images), x, normal(kernel, kernel, 5, 4), normal(5))
        check_kernel(Deconv2D(3, 3, 2, 2, 1, 1, data_format=images), x, normal(3, 3, 5, 4), normal(5))
        check_kernel(DepthwiseConv2D(3, 3, 2, 1, data_format=images), x, normal(3, 3, 4, 2), normal(8))
        check_kernel(PointwiseConv2D(images), x, normal(1, 1, 4, 5), normal(5))


@pytest.mark.parametrize("alone", [False, True], ids=["dense", "depthwise"])
@pytest.mark.parametrize("kernel", [1, 3])
def test_empty(kernel, alone):
    """What is empty is left alone; what is a sum of nothing is 0 (``compute`` does not take such images)."""
    window = Window((kernel,) * 2, (1, 1), (0, 0), (1, 1))
    for shape, out in (((0, 3, 7, 6), 5), ((2, 0, 7, 6), 5), ((2, 3, 7, 6), 0)):
        x, w = arrays(shape, out, window, False, "OIYX")
        geometry = Geometry(window, False, "OIYX", alone)
        y = output_shape(geometry, x, w)
        for op, shapes, result in ((Convolution(geometry), (x, w), y), (ConvolutionDataGrad(geometry), (w, y, x), x),
                                   (ConvolutionWeightGrad(geometry), (x, y, w), w)):
            check_kernel(_Zeros(op, result), *(normal(*s) for s in shapes))


class _Zeros:
    """An op whose result is 0."""

    stateful = False

    def __init__(self, op, result):
        self.infer, self.op, self.result = op.infer, op, result

    def cuda(self, *specs):
        return KERNELS.kernel(self.op, *specs)

    def compute(self, xp, *inputs):
        return np.zeros(self.result, np.float32)


def actions(op, *shapes, dtype=DataType.FLOAT):
    specs = [TensorSpec(s, dtype) for s in shapes]
    kernel = KERNELS.kernel(op, *specs)
    return kernel.actions(*(np.empty(s.shape, s.dtype.numpy) for s in (*specs, op.infer(*specs), *kernel.workspace)))


def test_cells_are_plain_products():
    w = (1, 1, 8, 16)
    assert [type(a) for a in actions(Conv2D(1, 1), (2, 8, 5, 5), w)] == [MatrixProduct]
    assert [type(a) for a in actions(Conv2D(1, 1, data_format="NHWC"), (2, 5, 5, 8), w, (16,))] == [KernelLaunch, MatrixProduct]
    assert [type(a) for a in actions(Conv2D(1, 1, 2, 2), (2, 8, 5, 5), w)] == [KernelLaunch]


def test_columns_for_large_products_of_16_bits():
    op, shapes = Conv2D(3, 3), ((2, 64, 18, 18), (3, 3, 64, 64))
    assert actions(op, *shapes)[0].name == "convolution"
    columns_first, product = actions(op, *shapes, dtype=DataType.HALF)
    assert columns_first.name == "to_columns" and product.b.shape == (2, 576, 256)
    assert actions(op, (2, 8, 18, 18), (3, 3, 8, 64), dtype=DataType.HALF)[0].name == "convolution"


def test_division_of_work():
    assert tile_for(32 * 24 * 24, 20) == NARROW and tile_for(32 * 8 * 8, 50) == SQUARE
    assert tile_for(256 * 56 * 56, 256) == LARGE and tile_for(49, 512) == SQUARE
    assert shares_of(1000, 10000, 100, False) == 1          # enough blocks
    assert shares_of(8, 4608, 100, False) > 8               # long sums of few blocks
    assert shares_of(8, 100, 100, False) == 1               # too short to divide
    assert shares_of(1, 1 << 20, 1 << 23, True) == 4        # not more parts than there is room for
