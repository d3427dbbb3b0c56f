"""Kernels of convolution, pooling and patches against ``compute``, through the op that chooses them."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec, spec_of
from dl4py.samediff.cpu.kernel_table import KERNELS
from dl4py.samediff.ir.op import as_tuple
from dl4py.samediff.ops.conv.conv import Conv2D, DepthwiseConv2D, SeparableConv2D
from dl4py.samediff.ops.conv.convolving import Convolution, ConvolutionDataGrad, ConvolutionWeightGrad, Geometry, output_shape
from dl4py.samediff.ops.conv.deconv import Deconv2D, Deconv3D
from dl4py.samediff.ops.conv.patches import Col2Im, ExtractImagePatches, Fold, Im2Col, Patches, Unfold
from dl4py.samediff.ops.conv.pool import MaxPool2D, MaxPool3D, MaxPoolWithArgmax
from dl4py.samediff.ops.conv.pooling import Pool, WindowGather, WindowScatter, WindowSpread, WindowSum
from dl4py.samediff.ops.conv.window import Window
from dl4py.samediff.ops.nn.local_response import LocalResponseNormalizationOp, NeighbourSum
from dl4py.samediff.ops.shape.blocks import RepeatBlocks, SumBlocks, Upsampling2DOp
from tests.samediff.cpu.kernels import agreement

TYPES = [np.float32, np.float64]

WINDOWS = {  # sizes, kernel, stride, padding, dilation, mode
    "one axis": ((7,), (3,), (1,), (0,), (1,), "VALID"),
    "one axis, causal": ((9,), (3,), (2,), (0,), (2,), "CAUSAL"),
    "one cell": ((1,), (1,), (1,), (0,), (1,), "VALID"),
    "two axes": ((5, 7), (3, 2), (1, 1), (1, 1), (1, 1), "VALID"),
    "wide rows": ((4, 37), (2, 3), (2, 1), (0, 1), (1, 1), "VALID"),
    "pairs": ((4, 38), (2, 2), (2, 2), (0, 0), (1, 1), "VALID"),
    "strides and dilation": ((9, 41), (2, 3), (3, 2), (1, 0), (2, 3), "VALID"),
    "same": ((5, 4), (3, 3), (2, 3), (0, 0), (1, 1), "SAME"),
    "same, cells left out": ((9, 8), (1, 2), (3, 4), (0, 0), (1, 1), "SAME"),
    "larger than the image": ((3, 2), (5, 5), (1, 2), (2, 2), (1, 1), "VALID"),
    "only padding": ((1, 2), (1, 1), (1, 1), (2, 1), (1, 1), "VALID"),
    "an axis of one": ((1, 6), (1, 2), (1, 2), (0, 0), (1, 1), "VALID"),
    "three axes": ((4, 5, 3), (2, 3, 2), (1, 2, 1), (0, 1, 1), (1, 1, 1), "VALID"),
    "three axes, same": ((3, 4, 20), (3, 2, 2), (2, 1, 1), (0, 0, 0), (1, 2, 1), "SAME"),
}


@pytest.fixture(params=WINDOWS)
def case(request):
    sizes, *window = WINDOWS[request.param]
    return sizes, Window(*window)


def drawn(rng, shape, dtype):
    """Values in an order of axes of their own, so that kernels see strides."""
    return np.moveaxis(rng.normal(size=(*shape[1:], shape[0])).astype(dtype), -1, 0)


def agree(op, *arrays):
    """The kernel gives what ``compute`` gives, for contiguous and strided arrays."""
    for given in (arrays, [np.ascontiguousarray(a) for a in arrays]):
        agreement.agree(op, given)


def image(batch, channels, sizes, last):
    return (batch, *sizes, channels) if last else (batch, channels, *sizes)


@pytest.mark.sampled(31)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("form", "last", "depthwise"), [("YXIO", False, False), ("OIYX", True, False), ("OYXI", False, False),
                                                         ("YXIO", False, True), ("OIYX", True, True), ("OYXI", False, True)])
def test_convolution_and_its_gradients(case, form, last, depthwise, dtype, rng):
    sizes, window = case
    geometry = Geometry(window, last, form, depthwise)
    x = drawn(rng, image(3, 2, sizes, last), dtype)
    plain = (*window.kernel, 2, 4)
    w = drawn(rng, {"YXIO": plain, "OIYX": (4, 2, *window.kernel), "OYXI": (4, *window.kernel, 2)}[form], dtype)
    g = drawn(rng, output_shape(geometry, x.shape, w.shape), dtype)
    if depthwise and min(window.befores(sizes)) < 0:
        assert KERNELS.kernel(Convolution(geometry), spec_of(x), spec_of(w)) is None        # array code serves these
        return
    agree(Convolution(geometry), x, w)
    agree(ConvolutionDataGrad(geometry), w, g, x)
    agree(ConvolutionWeightGrad(geometry), x, g, w)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("divisor", "last"), [("none", False), ("kernel", True), ("inside", False)])
def test_pooling_and_its_gradients(case, divisor, last, dtype, rng):
    sizes, window = case
    pool = Pool(window, last, divisor)
    x = drawn(rng, image(2, 3, sizes, last), dtype)
    g = drawn(rng, pool.shape(x.shape), dtype)
    agree(WindowSum(pool), x)
    agree(WindowSpread(pool), g, x)
    agree(WindowScatter(pool), x, g)
    agree(WindowGather(pool), x, drawn(rng, x.shape, dtype))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("order", "last", "merged"), [("ncyxhw", False, 1), ("nhwyxc", True, 3), ("whncyx", False, 3), ("whncyx", True, 3),
                                                       ("hwnyxc", False, 1)])
@pytest.mark.parametrize("name", [n for n, w in WINDOWS.items() if len(w[0]) == 2])
def test_patches_and_back(name, order, last, merged, dtype, rng):
    sizes, *window = WINDOWS[name]
    patches = Patches(Window(*window), order, last, merged)
    x = drawn(rng, image(2, 3, sizes, last), dtype)
    agree(Unfold(patches), x)
    agree(Fold(patches), drawn(rng, patches.shape(x.shape), dtype), x)


THREE = {"k_d": 2, "k_h": 3, "k_w": 2, "s_d": 2, "s_h": 1, "s_w": 2}
OPS = [
    (Conv2D(p_h=1, p_w=1), (2, 3, 5, 6), (3, 3, 3, 4), (4,)),
    (Conv2D(data_format="NHWC"), (2, 5, 6, 3), (1, 1, 3, 4), (1, 4)),
    (DepthwiseConv2D(s_h=2, s_w=2), (2, 3, 5, 6), (3, 3, 3, 2), (6,)),
    (DepthwiseConv2D(padding_mode="SAME", data_format="NHWC"), (2, 5, 6, 3), (3, 2, 3, 1), (3,)),
    (Deconv2D(s_h=2, s_w=3), (2, 3, 4, 5), (2, 2, 6, 3), (6,)),
    (Deconv2D(s_h=2, s_w=2, padding_mode="SAME", data_format="NHWC"), (2, 4, 5, 3), (3, 3, 6, 3)),
    (Deconv2D(p_h=1, p_w=1, d_h=2, d_w=1, weights_format="OIYX"), (2, 3, 4, 5), (3, 2, 3, 3), (2,)),
    (Deconv3D(s_d=2, data_format="NDHWC"), (2, 3, 4, 2, 3), (2, 2, 2, 5, 3), (5,)),
    (MaxPool2D(k_h=3, k_w=2, padding_mode="SAME", data_format="NHWC"), (2, 5, 6, 3)),
    (MaxPool3D(**THREE), (2, 3, 4, 5, 6)),
    (MaxPoolWithArgmax(k_h=2, k_w=2, s_h=2, s_w=2), (2, 3, 5, 40)),
    (MaxPoolWithArgmax(k_h=2, k_w=3, data_format="NHWC", output_type=DataType.LONG), (2, 5, 6, 3)),
    (MaxPoolWithArgmax(k_h=1, k_w=1, p_h=1, p_w=1), (2, 3, 2, 2)),
    (Im2Col(k_h=3, k_w=2, padding_mode="SAME"), (2, 3, 5, 6)),
    (Im2Col(k_h=1, k_w=2, s_h=4, s_w=3, padding_mode="SAME"), (2, 3, 8, 6)),          # windows that leave cells out
    (MaxPool2D(k_h=1, k_w=2, s_h=4, s_w=4, padding_mode="SAME"), (2, 3, 8, 8)),
    (Col2Im(s_h=2, s_w=1), (2, 3, 3, 2, 4, 5)),
    (ExtractImagePatches(2, 3, 2, 1, 1, 2, True), (2, 5, 6, 3)),
    (Upsampling2DOp(2, 3), (2, 3, 4, 5)),
    (Upsampling2DOp(2, 1, False), (2, 4, 5, 3)),
    (RepeatBlocks((1, 1, 3, 2, 1)), (2, 3, 2, 3, 4)),
    (SumBlocks((1, 1, 2, 3)), (2, 3, 4, 6)),
    (SumBlocks((1, 2, 3, 1)), (2, 4, 6, 3)),
    (NeighbourSum(2, 1), (2, 7, 3, 2)),
    (NeighbourSum(9, -1), (2, 3, 5)),
]


@pytest.mark.sampled(42)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("op", "shapes"), [(o, s) for o, *s in OPS], ids=[f"{o.id}{s}" for o, s, *_ in OPS])
def test_ops(op, shapes, dtype, rng):
    agree(op, *(drawn(rng, s, dtype) for s in shapes))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("op", "shapes"), [
    (SeparableConv2D(padding_mode="SAME"), [(2, 3, 5, 6), (3, 3, 3, 2), (1, 1, 6, 4), (4,)]),
    (SeparableConv2D(data_format="NHWC"), [(2, 5, 6, 3), (3, 3, 3, 1), (1, 1, 3, 4)]),
    (SeparableConv2D(), [(2, 3, 5, 6), (2, 2, 3, 2)]),
    (LocalResponseNormalizationOp(depth=2, alpha=.3, beta=.75), [(2, 3, 4, 9)]),
])
def test_composed_ops_run_as_their_parts(op, shapes, rng):
    arrays = [drawn(rng, s, np.float32) for s in shapes]
    sd = SameDiff.create()
    y = sd.add_op(op, [sd.constant(a) if i else sd.var("x", a) for i, a in enumerate(arrays)])
    np.testing.assert_allclose(y.eval(), op.compute(np, *arrays), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("width", [6, 40])
def test_places_of_windows_without_a_number(width):
    x = np.random.default_rng(3).normal(size=(1, 2, 4, width)).astype(np.float32)
    x[0, 0, :2, :4], x[0, 1, 3, 1] = -np.inf, np.nan
    op = MaxPoolWithArgmax(k_h=2, k_w=2, s_h=2, s_w=2)
    agree(op, x)
    assert as_tuple(op.compute(np, x))[1][0, 0, 0].tolist()[:2] == [0, 2]


def test_chunks_of_the_batch_are_all_there(monkeypatch, rng):
    monkeypatch.setattr("dl4py.samediff.cpu.routines.convolution_sizes.COLUMN_BYTES", 4 * 2 * 9 * 16 * 2)
    geometry = Geometry(Window((3, 3), (1, 1), (1, 1), (1, 1)))
    x, w, g = (drawn(rng, s, np.float32) for s in ((5, 2, 4, 4), (3, 3, 2, 3), (5, 3, 4, 4)))
    agree(Convolution(geometry), x, w)
    agree(ConvolutionDataGrad(geometry), w, g, x)
    agree(ConvolutionWeightGrad(geometry), x, g, w)


@pytest.mark.parametrize("op, shapes, dtype", [
    (MaxPool2D(k_h=2, k_w=2), [(2, 3, 4, 4)], DataType.HALF),
    (MaxPool2D(k_h=2, k_w=2), [(0, 3, 4, 4)], DataType.FLOAT),
    (DepthwiseConv2D(s_h=5, s_w=5), [(1, 2, 9, 9), (3, 3, 2, 1)], DataType.FLOAT),
    (Upsampling2DOp(2, 2), [(2, 3, 4, 4)], DataType.INT),
    (Im2Col(k_h=2, k_w=2), [(2, 0, 4, 4)], DataType.FLOAT),
])
def test_compute_serves_the_rest(op, shapes, dtype):
    assert KERNELS.kernel(op, *[TensorSpec(s, dtype) for s in shapes]) is None
