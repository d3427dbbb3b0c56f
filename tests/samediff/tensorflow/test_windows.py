"""Windows over images: explicit paddings in both orders of axes, groups of channels, transposes."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import GraphError
from tests.samediff.tensorflow.graphs import const, graph, node, placeholder

RNG = np.random.default_rng(13)
X = RNG.standard_normal((2, 5, 6, 4)).astype(np.float32)
EDGES = [0, 0, 1, 2, 0, 3, 0, 0]
STRIDES = [1, 2, 1, 1]
PADDED = ((0, 0), (1, 2), (0, 3), (0, 0))


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


def weights(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def windows(x, kernel, strides):
    """(batch, rows, columns, channels, kernel rows, kernel columns)."""
    return np.lib.stride_tricks.sliding_window_view(x, kernel, (1, 2))[:, ::strides[1], ::strides[2]]


def turned(values):
    """Sizes of NHWC, in the order of NCHW; pairs stay together."""
    pairs = len(values) == 8
    groups = [values[i:i + 2] for i in range(0, 8, 2)] if pairs else [[v] for v in values]
    return [n for i in (0, 3, 1, 2) for n in groups[i]]


def run(layout, operator, *constants, first=(), **attributes):
    """The result for X in either order of axes, as NHWC."""
    options = {k: turned(v) if layout == "NCHW" and isinstance(v, list) else v for k, v in attributes.items()}
    x = X.transpose(0, 3, 1, 2) if layout == "NCHW" else X
    names = [f"c{i}" for i in range(len(constants))]
    nodes = [const(n, c) for n, c in zip(names, constants)]
    inputs = [*names, "x"] if first else ["x", *names]
    data = graph(placeholder("x", (-1, *x.shape[1:])), *nodes, node("y", operator, *inputs, data_format=layout, **options))
    found = SameDiff.import_frozen_tf(data).output_single({"x": x}, "y")
    return found.transpose(0, 2, 3, 1) if layout == "NCHW" else found


LAYOUTS = pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
EXPLICIT = {"strides": STRIDES, "padding": "EXPLICIT", "explicit_paddings": EDGES}


@LAYOUTS
def test_a_convolution(layout):
    w = weights(3, 2, 4, 5)
    expected = np.einsum("bijcuv,uvco->bijo", windows(np.pad(X, PADDED), (3, 2), STRIDES), w)
    np.testing.assert_allclose(run(layout, "Conv2D", w, **EXPLICIT), expected, 1e-4, 1e-4)


@LAYOUTS
def test_groups_of_channels(layout):
    w = weights(3, 2, 2, 6)
    seen = windows(X, (3, 2), STRIDES)
    groups = [(seen[:, :, :, :2], w[..., :3]), (seen[:, :, :, 2:], w[..., 3:])]
    expected = np.concatenate([np.einsum("bijcuv,uvco->bijo", *pair) for pair in groups], -1)
    np.testing.assert_allclose(run(layout, "Conv2D", w, strides=STRIDES, padding="VALID"), expected, 1e-4, 1e-4)


@LAYOUTS
def test_each_channel_by_itself(layout):
    w = weights(3, 2, 4, 2)
    expected = np.einsum("bijcuv,uvcm->bijcm", windows(np.pad(X, PADDED), (3, 2), STRIDES), w)
    np.testing.assert_allclose(run(layout, "DepthwiseConv2dNative", w, **EXPLICIT), expected.reshape(*expected.shape[:3], 8), 1e-4, 1e-4)


@LAYOUTS
def test_the_largest(layout):
    """Paddings never win, though all values are negative."""
    padded = np.pad(X, PADDED, constant_values=-np.inf)
    np.testing.assert_array_equal(run(layout, "MaxPool", ksize=[1, 3, 2, 1], **EXPLICIT), windows(padded, (3, 2), STRIDES).max((-1, -2)))


def test_the_largest_by_inputs():
    found = run("NHWC", "MaxPoolV2", np.int32([1, 3, 2, 1]), np.int32(STRIDES), padding="VALID")
    np.testing.assert_array_equal(found, windows(X, (3, 2), STRIDES).max((-1, -2)))


def test_dilation():
    w = weights(3, 2, 4)
    expected = (windows(X, (3, 2), STRIDES) + w.transpose(2, 0, 1)).max((-1, -2))
    data = graph(placeholder("x", X.shape), const("w", w),
                 node("y", "Dilation2D", "x", "w", strides=STRIDES, rates=[1, 1, 1, 1], padding="VALID"))
    np.testing.assert_allclose(SameDiff.import_frozen_tf(data).output_single({"x": X}, "y"), expected, 1e-5)


@LAYOUTS
@pytest.mark.parametrize("open_batch", [False, True])
def test_the_transpose_of_a_convolution(layout, open_batch):
    """It is what the gradient of that convolution is: the products of both with anything are equal."""
    w, sizes = weights(3, 2, 3, 4), (2, 9, 4, 3)
    large = RNG.standard_normal(sizes).astype(np.float32)
    conv = np.einsum("bijcuv,uvco->bijo", windows(np.pad(large, PADDED), (3, 2), STRIDES), w)
    assert conv.shape[1:] == X.shape[1:]
    order = (0, 3, 1, 2) if layout == "NCHW" else (0, 1, 2, 3)
    options = {k: turned(v) if layout == "NCHW" and isinstance(v, list) else v for k, v in EXPLICIT.items()}
    shape = [sizes[i] for i in order]
    x = X.transpose(order)
    given = [const("s", np.int32(shape))]
    if open_batch:
        given = [node("all", "Shape", "x"), *(const(n, np.int32([i])) for i, n in enumerate("ab")),
                 node("n", "StridedSlice", "all", "a", "b", "b", shrink_axis_mask=1),
                 *(const(f"n{i}", np.int32(shape[i])) for i in (1, 2, 3)), node("s", "Pack", "n", "n1", "n2", "n3", axis=0)]
    data = graph(placeholder("x", (-1 if open_batch else 2, *x.shape[1:])), *given, const("w", w),
                 node("y", "Conv2DBackpropInput", "s", "w", "x", data_format=layout, **options))
    found = SameDiff.import_frozen_tf(data).output_single({"x": x}, "y")
    assert found.shape == tuple(shape)
    np.testing.assert_allclose((found * large.transpose(order)).sum(), (conv * X).sum(), 1e-3)


def test_channels_of_volumes():
    """Means and variances of the batch, over all axes but the channels."""
    x = RNG.standard_normal((2, 3, 4, 2, 5)).astype(np.float32)
    one, none = np.ones(5, np.float32), np.zeros(5, np.float32)
    for layout, order in (("NDHWC", (0, 1, 2, 3, 4)), ("NCDHW", (0, 4, 1, 2, 3))):
        data = graph(placeholder("x", x.transpose(order).shape), const("one", one), const("none", none),
                     node("y", "FusedBatchNormV3", "x", "one", "none", "none", "one", data_format=layout, is_training=True, epsilon=0.0))
        found = SameDiff.import_frozen_tf(data).output_single({"x": x.transpose(order)}, "y")
        expected = (x - x.mean((0, 1, 2, 3))) / x.std((0, 1, 2, 3))
        np.testing.assert_allclose(found, expected.transpose(order), 1e-4, 1e-4)


def test_what_is_refused():
    with pytest.raises(GraphError, match="explicit paddings are 8 sizes"):
        run("NHWC", "Conv2D", weights(3, 2, 4, 5), **{**EXPLICIT, "explicit_paddings": [1, 1]})
    with pytest.raises(GraphError, match="paddings are SAME or VALID; got EXPLICIT"):
        run("NHWC", "AvgPool", ksize=[1, 2, 2, 1], strides=STRIDES, padding="EXPLICIT")
