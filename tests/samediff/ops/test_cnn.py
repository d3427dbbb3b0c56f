"""Convolution, pooling and patches: values against plain loops, gradients to second order, layouts, messages."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import (
    Conv1DConfig,
    Conv2DConfig,
    Conv3DConfig,
    DataType,
    DeConv2DConfig,
    LocalResponseNormalizationConfig,
    Pooling2DConfig,
    SameDiff,
)
from dl4py.samediff.errors import ShapeError
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.ops.conv.conv import Conv1D, Conv2D, Conv3D, DepthwiseConv2D, SeparableConv2D
from dl4py.samediff.ops.conv.deconv import Deconv2D, Deconv3D
from tests.helpers.gradcheck import check_gradients


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def plain_convolution(x, w, stride, padding, dilation):
    """NCHW cross-correlation, cell by cell."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    k = (w.shape[0] - 1) * dilation + 1
    high, wide = (x.shape[2] - k) // stride + 1, (x.shape[3] - k) // stride + 1
    y = np.zeros((x.shape[0], w.shape[3], high, wide))
    for i in range(high):
        for j in range(wide):
            part = x[:, :, i * stride:i * stride + k:dilation, j * stride:j * stride + k:dilation]
            y[:, :, i, j] = np.einsum("nchw,hwco->no", part, w)
    return y


@pytest.mark.parametrize("executor", ["", "reference"])
@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 0, 1), (2, 1, 1), (1, 2, 2), (3, 0, 1)])
def test_convolution_is_the_sum_over_windows(monkeypatch, executor, stride, padding, dilation):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    x, w, b = numbers(2, 3, 7, 7), numbers(3, 3, 3, 4, seed=1), numbers(4, seed=2)
    sd = SameDiff.create()
    config = Conv2DConfig(k_h=3, k_w=3, s_h=stride, s_w=stride, p_h=padding, p_w=padding, d_h=dilation, d_w=dilation)
    y = sd.cnn.conv2d(sd.var("x", x), sd.var("w", w), sd.var("b", b), config)
    assert np.allclose(y.eval(), plain_convolution(x, w, stride, padding, dilation) + b.reshape(1, -1, 1, 1))


@pytest.mark.parametrize(("name", "axes"), [("OIYX", (3, 2, 0, 1)), ("OYXI", (3, 0, 1, 2))])
def test_weight_formats_hold_the_same_weights(name, axes):
    x, w = numbers(1, 2, 5, 4), numbers(2, 3, 2, 3, seed=1)
    sd = SameDiff.create()
    first = sd.cnn.conv2d(sd.constant(x), sd.constant(w), Conv2DConfig())
    second = sd.cnn.conv2d(sd.constant(x), sd.constant(w.transpose(axes).copy()), Conv2DConfig(weights_format=name))
    assert np.allclose(first.eval(), second.eval())


def test_channels_last_is_the_same_convolution():
    x, w = numbers(2, 3, 6, 5), numbers(3, 2, 3, 4, seed=1)
    sd = SameDiff.create()
    first = sd.cnn.conv2d(sd.constant(x), sd.constant(w), Conv2DConfig(padding_mode="SAME", s_h=2))
    last = sd.cnn.conv2d(sd.constant(x.transpose(0, 2, 3, 1).copy()), sd.constant(w),
                         Conv2DConfig(padding_mode="SAME", s_h=2, data_format="NHWC"))
    assert np.allclose(first.eval(), last.eval().transpose(0, 3, 1, 2))


@pytest.mark.parametrize("options", [{}, {"padding_mode": "SAME", "s_h": 2}, {"p_h": 1, "d_w": 2, "data_format": "NHWC"}])
def test_gradients_of_convolution(options):
    last = options.get("data_format") == "NHWC"
    x = numbers(1, 4, 5, 2) if last else numbers(1, 2, 4, 5)

    def build(sd, x, w, b):
        return sd.cnn.conv2d(x, w, b, Conv2DConfig(**options))
    check_gradients(build, {"x": x, "w": numbers(2, 2, 2, 2, seed=1), "b": numbers(2, seed=2)})


@pytest.mark.slow
def test_gradients_of_other_convolutions():
    check_gradients(lambda sd, x, w: sd.cnn.conv1d(x, w, Conv1DConfig(padding_mode="CAUSAL", d=2)),
                    {"x": numbers(1, 2, 5), "w": numbers(2, 2, 2, seed=1)})
    check_gradients(lambda sd, x, w: sd.cnn.conv3d(x, w, Conv3DConfig(s_d=2, data_format="NCDHW")),
                    {"x": numbers(1, 1, 3, 2, 3), "w": numbers(2, 1, 2, 1, 2, seed=1)}, order=1)
    check_gradients(lambda sd, x, w: sd.cnn.deconv2d(x, w, DeConv2DConfig(s_h=2)),
                    {"x": numbers(1, 2, 2, 2), "w": numbers(2, 2, 1, 2, seed=1)})
    check_gradients(lambda sd, x, w: sd.cnn.depth_wise_conv2d(x, w, Conv2DConfig(padding_mode="SAME")),
                    {"x": numbers(1, 2, 3, 3), "w": numbers(2, 2, 2, 2, seed=1)})
    check_gradients(lambda sd, x, d, p: sd.cnn.separable_conv2d(x, d, p, Conv2DConfig()),
                    {"x": numbers(1, 2, 3, 3), "d": numbers(2, 2, 2, 1, seed=1), "p": numbers(1, 1, 2, 3, seed=2)}, order=1)


def test_causal_convolution_looks_back_only():
    sd = SameDiff.create()
    x = numbers(1, 1, 6)
    w = sd.constant(numbers(3, 1, 1, seed=1))
    changed = x.copy()
    changed[..., 4] += 1
    y, z = (sd.cnn.conv1d(sd.constant(v), w, Conv1DConfig(padding_mode="CAUSAL")).eval() for v in (x, changed))
    assert y.shape == x.shape
    assert np.array_equal(y[..., :4], z[..., :4])
    assert not np.allclose(y[..., 4:], z[..., 4:])


def test_transposed_convolution_undoes_the_shape():
    sd = SameDiff.create()
    x = sd.constant(numbers(1, 3, 9, 9))
    y = sd.cnn.conv2d(x, sd.constant(numbers(3, 3, 3, 2)), Conv2DConfig(s_h=2, s_w=2))
    back = sd.cnn.deconv2d(y, sd.constant(numbers(3, 3, 3, 2)), DeConv2DConfig(s_h=2, s_w=2))
    assert back.get_shape() == x.get_shape() == back.eval().shape


@pytest.mark.parametrize("executor", ["", "reference"])
def test_pooling_of_known_numbers(monkeypatch, executor):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    x = sd.constant(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.float64).reshape(1, 1, 3, 3))
    config = Pooling2DConfig(k_h=2, k_w=2, s_h=2, s_w=2, p_h=1, p_w=1)
    largest = sd.cnn.max_pooling2d(x, config)
    without = sd.cnn.avg_pooling2d(x, config)
    with_it = sd.cnn.avg_pooling2d(x, config.replace(divisor="INCLUDE_PADDING"))
    assert largest.eval()[0, 0].tolist() == [[1, 3], [7, 9]]
    assert without.eval()[0, 0].tolist() == [[1, 2.5], [5.5, 7]]
    assert with_it.eval()[0, 0].tolist() == [[0.25, 1.25], [2.75, 7]]


def test_places_of_largest_values_point_at_them():
    sd = SameDiff.create()
    x = numbers(2, 3, 4, 4)
    values, places = sd.cnn.max_pool_with_argmax(sd.constant(x), Pooling2DConfig(k_h=2, k_w=2, s_h=2, s_w=2))
    assert np.array_equal(x.reshape(-1)[places.eval()], values.eval())


@pytest.mark.parametrize("method", ["max_pooling2d", "avg_pooling2d", "pnorm_pooling2d"])
def test_gradients_of_pooling(method):
    options = {"extra": 3.0} if method.startswith("pnorm") else {}
    config = Pooling2DConfig(k_h=2, k_w=3, s_h=1, s_w=2, padding_mode="SAME", **options)
    check_gradients(lambda sd, x: getattr(sd.cnn, method)(x, config), {"x": numbers(1, 2, 3, 4)}, rtol=1e-5)


@pytest.mark.parametrize("config", [Conv2DConfig(k_h=3, k_w=2), Conv2DConfig(k_h=2, k_w=3, s_h=2, s_w=3),
                                    Conv2DConfig(k_h=2, k_w=3, s_h=3, s_w=1, p_h=1, p_w=2)])
def test_columns_name_dilation_or_the_size_of_the_image(config):
    """The attributes d_h and d_w of col2im hold the size in files of DL4J."""
    sd = SameDiff.create()
    x = numbers(2, 2, 5, 7)
    columns = sd.cnn.im2col(sd.constant(x), config)
    dilated = sd.cnn.col2im(columns, config)
    height, width = dilated.get_shape()[2:]
    named = sd.cnn.col2im(columns, config.replace(d_h=height, d_w=width))
    assert named.get_shape() == dilated.get_shape()
    np.testing.assert_array_equal(named.eval(), dilated.eval())


def test_columns_and_blocks_go_back():
    sd = SameDiff.create()
    x = sd.constant(numbers(4, 4, 6, 8))
    ones = sd.constant(np.ones((4, 4, 6, 8)))
    config = Conv2DConfig(k_h=3, k_w=2)
    counted = sd.cnn.col2im(sd.cnn.im2col(ones, config), config) * x
    assert np.allclose(sd.cnn.col2im(sd.cnn.im2col(x, config), config).eval(), counted.eval())
    assert np.array_equal(sd.cnn.depth_to_space(sd.cnn.space_to_depth(x, 2, "NCHW"), 2, "NCHW").eval(), x.eval())
    moved = sd.cnn.space_to_batch(x, [2, 3], [1, 1], [0, 0])
    assert np.array_equal(sd.cnn.batch_to_space(moved, [2, 3], [1, 1], [0, 0]).eval(), x.eval())


def test_gradients_of_the_rest():
    check_gradients(lambda sd, x: sd.cnn.local_response_normalization(x, LocalResponseNormalizationConfig(depth=1, beta=0.75)),
                    {"x": numbers(1, 2, 2, 3)})
    check_gradients(lambda sd, x: sd.cnn.upsampling2d(x, 2, 3, True), {"x": numbers(1, 1, 2, 2)}, order=1)
    check_gradients(lambda sd, x: sd.cnn.extract_image_patches(x, 2, 2, 1, 1, 1, 1, True), {"x": numbers(1, 3, 3, 1)}, order=1)
    check_gradients(lambda sd, x, w: sd.cnn.dilation2d(x, w, [1, 1], [1, 1], False),
                    {"x": numbers(1, 3, 3, 2), "w": numbers(2, 2, 2, seed=1)}, order=1)


def test_a_batch_of_unknown_size_is_kept_open():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 3, 28, 28)
    y = sd.cnn.conv2d(x, sd.var("w", np.zeros((5, 5, 3, 8), np.float32)), Conv2DConfig())
    assert sd.cnn.max_pooling2d(y, Pooling2DConfig(k_h=2, k_w=2, s_h=2, s_w=2)).get_shape() == (-1, 8, 12, 12)


@pytest.mark.parametrize(("weights", "config", "text"), [
    ((3, 3, 2, 4), {}, "2"), ((9, 9, 3, 4), {}, "does not fit"), ((3, 3, 3, 4), {"k_h": 2}, "declared"), ((3, 3, 3), {}, "rank 4"),
    ((3, 3, 3, 4), {"s_h": 0}, "stride")])
def test_wrong_convolutions_are_told(weights, config, text):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 3, 6, 6)
    with pytest.raises(ShapeError, match=text):
        sd.cnn.conv2d(x, sd.var("w", np.zeros(weights, np.float32)), Conv2DConfig(**config))
    assert not sd.ops()


def test_configurations_have_builders():
    config = Conv2DConfig.builder().kH(3).kW(2).isSameMode(True).dataFormat("NHWC").build()
    assert config == Conv2DConfig(k_h=3, k_w=2, padding_mode="SAME", data_format="NHWC")


def test_same_windows_that_leave_cells_out_start_behind_them():
    """As DL4J has it: half of the cells that no window covers lie in front."""
    sd = SameDiff.create()
    x = sd.constant(np.arange(1.0, 10.0, dtype=np.float32).reshape(1, 1, 1, 9))
    one = sd.constant(np.ones((1, 1, 1, 1), np.float32))
    options = {"kH": 1, "kW": 1, "sH": 1, "sW": 3, "paddingMode": "SAME"}
    assert sd.cnn.conv2d(x, one, Conv2DConfig(**options)).eval().ravel().tolist() == [2, 5, 8]
    spread = sd.cnn.deconv2d(sd.constant(np.float32([[[[7, 9]]]])), one, DeConv2DConfig(**options)).eval()
    assert spread.ravel().tolist() == [0, 7, 0, 0, 9, 0]


EMPTY = {  # op, images, weights
    "conv1d": (Conv1D(k=3), (2, 6), (3, 2, 4)), "conv1d, causal": (Conv1D(k=3, padding_mode="CAUSAL", d=2), (2, 6), (3, 2, 4)),
    "conv2d": (Conv2D(), (2, 4, 5), (2, 3, 2, 4)), "conv2d, same": (Conv2D(padding_mode="SAME", s_h=2), (2, 4, 5), (2, 3, 2, 4)),
    "conv2d, last": (Conv2D(data_format="NHWC", p_h=1), (4, 5, 2), (2, 3, 2, 4)), "conv3d": (Conv3D(), (2, 3, 4, 3), (2, 2, 2, 2, 3)),
    "depthwise": (DepthwiseConv2D(d_w=2), (2, 4, 5), (2, 2, 2, 3)),
    "depthwise, last": (DepthwiseConv2D(data_format="NHWC"), (4, 5, 2), (2, 2, 2, 3)),
    "separable": (SeparableConv2D(), (2, 4, 5), (2, 2, 2, 3), (1, 1, 6, 4)), "deconv2d": (Deconv2D(s_h=2), (2, 3, 3), (2, 3, 4, 2)),
    "deconv2d, same": (Deconv2D(padding_mode="SAME", s_w=2), (2, 3, 3), (2, 3, 4, 2)),
    "deconv3d": (Deconv3D(), (2, 2, 3, 2), (2, 2, 2, 3, 2)),
}


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["", "reference"])
@pytest.mark.parametrize("name", list(EMPTY))
def test_gradients_of_no_images(name, executor, monkeypatch, rng):
    """Weights get zeros, also where the number of images is known in a run only; gradients of gradients too."""
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    op, image, *weights = EMPTY[name]
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.DOUBLE, -1, *image)
    w = [sd.var(f"w{k}", rng.normal(size=shape)) for k, shape in enumerate(weights)]
    y = sd.add_op(op, [x, *w])
    first = sd.gradients((y * y).sum(), [x, *w])
    second = sd.gradients(sum(((g * g).sum() for g in first[1:]), (first[0] * first[0]).sum()), w)
    for count in (0, 2, 0):
        found = sd.output({"x": np.ones((count, *image))}, y.name(), *[g.name() for g in (*first, *second)])
        assert len(found[y.name()]) == count
        assert found[first[0].name()].shape == (count, *image)
        for shape, *grads in zip(weights, first[1:], second):
            for g in grads:
                assert found[g.name()].shape == shape
                assert found[g.name()].any() == bool(count)


def test_windows_have_a_size():
    sd = SameDiff()
    with pytest.raises(ShapeError, match="give its size, k_h and k_w"):
        sd.add_op(OPS["im2col"](), [sd.constant(np.ones((1, 2, 4, 4), np.float32))])


@pytest.mark.parametrize("multiplier, outputs", [(1, 1), (1, 3), (2, 2), (3, 1)])
def test_separable_convolution_of_one_channel(multiplier, outputs):
    """DL4J 1.0.0-M2.1 leaves the point-wise weights out where outputs and multiplier are one number, and fails elsewhere."""
    rng, sd = np.random.default_rng(0), SameDiff.create()
    x, depth, point = (sd.constant(rng.normal(size=size)) for size in ((2, 1, 4, 4), (2, 2, 1, multiplier), (1, 1, multiplier, outputs)))
    config = Conv2DConfig(k_h=2, k_w=2, s_h=1, s_w=1)
    found = sd.cnn.separable_conv2d(x, depth, point, config).eval()
    each = sd.cnn.depth_wise_conv2d(x, depth, config).eval()
    np.testing.assert_allclose(found, np.einsum("bmhw,mo->bohw", each, point.get_arr()[0, 0]), rtol=1e-9)
