"""Ops that only graph files name: their values, by NumPy or as DL4J 1.0.0-M2.1 gives them."""
from __future__ import annotations

import io

import numpy as np
import pytest
from scipy.special import expit, log_softmax

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DataTypeError, DL4PyError, GradientError, GraphError, NumericalError, ShapeError

X = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]], np.float32)


def run(op_id, *inputs, **attributes):
    """Values of an op on arrays, as a list when there are several."""
    sd = SameDiff()
    made = sd.op(op_id, *(sd.constant(np.asarray(a)) for a in inputs), **attributes)
    return [v.eval() for v in made] if isinstance(made, list) else made.eval()


def refused(error, text, op_id, *inputs, **attributes):
    with pytest.raises(error, match=text):
        run(op_id, *inputs, **attributes)


@pytest.mark.parametrize("q, interpolation, expected", [
    (25, "lower", 3), (25, "higher", 4), (25, "nearest", 3), (0, "nearest", 1), (100, "lower", 10), (50, "nearest", 5), (70, "nearest", 7)])
def test_percentile(q, interpolation, expected):
    assert run("percentile", np.arange(10, 0, -1, dtype=np.float32), q=float(q), interpolation=interpolation) == expected


def test_percentile_over_axes():
    np.testing.assert_array_equal(run("percentile", X, q=50.0, keep_dims=True, axes=(1,)), [[3], [5]])
    x = np.random.default_rng(1).normal(size=(3, 4, 5))
    found = run("percentile", x, q=30.0, interpolation="lower", axes=(0, 2))
    np.testing.assert_array_equal(found, np.percentile(x, 30, axis=(0, 2), method="lower"))
    refused(GraphError, "between 0 and 100", "percentile", X, q=101.0)


def test_nth_element_and_in_top_k():
    np.testing.assert_array_equal(run("nth_element", X, np.int32(1)), [1, 3])
    np.testing.assert_array_equal(run("nth_element", X, np.int32(1), reverse=True), [4, 6])
    refused(ShapeError, "between 0 and 4", "nth_element", X, np.int32(5))
    np.testing.assert_array_equal(run("in_top_k", X, np.array([2, 1], np.int32), k=2), [True, False])
    ties = np.array([[1, 1, 1, 0]] * 4, np.float32)
    np.testing.assert_array_equal(run("in_top_k", ties, np.arange(4, dtype=np.int32), k=1), [True, True, True, False])
    np.testing.assert_array_equal(run("in_top_k", ties, np.array([-1, 4, 0, 3]), k=4), [False, False, True, True])


def test_unique():
    values, places = run("unique", np.array([3, 1, 3, 2, 1], np.float32))
    np.testing.assert_array_equal(values, [3, 1, 2])
    np.testing.assert_array_equal(places, [0, 1, 0, 2, 1])
    assert places.dtype == np.int64


def test_histograms():
    np.testing.assert_array_equal(run("histogram", X, num_bins=4), [3, 3, 3, 1])
    np.testing.assert_array_equal(run("histogram", np.ones(3, np.float32), num_bins=4), [3, 0, 0, 0])
    x = np.random.default_rng(2).normal(size=200)
    np.testing.assert_array_equal(run("histogram", x, num_bins=7), np.histogram(x, 7)[0])
    ends = np.array([1, 5], np.float32)
    np.testing.assert_array_equal(run("histogram_fixed_width", X, ends, num_bins=4), [2, 1, 2, 5])
    np.testing.assert_array_equal(run("histogram_fixed_width", X, ends, np.int32(4)), [2, 1, 2, 5])
    assert run("histogram_fixed_width", X, ends).shape == (100,)
    refused(GraphError, "ascend", "histogram_fixed_width", X, ends[::-1].copy(), num_bins=4)
    refused(ShapeError, "NaN", "histogram", np.array([1.0, np.nan]), num_bins=4)


def test_bincount():
    x = np.array([1, 2, 2, 5], np.int32)
    np.testing.assert_array_equal(run("bincount", x), np.bincount(x))
    assert run("bincount", x).dtype == np.int32
    np.testing.assert_array_equal(run("bincount", x, min_length=8), [0, 1, 2, 0, 0, 1, 0, 0])
    np.testing.assert_array_equal(run("bincount", x, min_length=2, max_length=4), [0, 1, 2, 0])
    np.testing.assert_array_equal(run("bincount", x, np.array([0.5, 1, 2, 3], np.float32)), [0, 0.5, 3, 0, 0, 3])
    refused(ShapeError, "value -5 is out of range", "bincount", -x)


def test_statistics_and_positions():
    count, total, squares = run("sufficient_statistics", X, np.array([1]))
    assert count == 5 and total.tolist() == [14, 25] and squares.tolist() == [52, 155]
    assert run("sufficient_statistics", X, np.array([0, 1]), shift=2.0)[3] == 2
    x = np.array([[-7, 7, 5]], np.float32)
    assert run("argamax", x, dimensions=(1,)).tolist() == [0] and run("argamin", x, dimensions=(1,)).tolist() == [2]


def test_roll():
    for arguments in ({"shift": 1}, {"shift": 1, "axes": (1,)}, {"shift": -2, "axes": (0, 1)}):
        np.testing.assert_array_equal(run("roll", X, **arguments), np.roll(X, arguments["shift"], arguments.get("axes")))
    np.testing.assert_array_equal(run("roll", X, np.array([1, 2]), np.array([0, 1])), np.roll(X, (1, 2), (0, 1)))


def test_shapes():
    assert [a.tolist() for a in run("shapes_of", X, X[0])] == [[2, 5], [5]]
    assert run("flatten_2d", np.zeros((2, 3, 4)), axis=2).shape == (6, 4)
    assert run("flatten_2d", np.zeros((2, 3, 4)), axis=0).shape == (1, 24)
    np.testing.assert_array_equal(run("broadcast_to", X[:, :1], np.array([2, 3])), np.broadcast_to(X[:, :1], (2, 3)))
    refused(ShapeError, "cannot be", "broadcast_to", X, np.array([2, 3]))
    assert run("broadcast_dynamic_shape", np.array([3, 1]), np.array([2, 1, 4])).tolist() == [2, 3, 4]
    two = np.array([1, 2], np.float32)
    assert run("bitcast", two, data_type=DataType.INT).tolist() == [1065353216, 1073741824]
    assert run("bitcast", two, data_type=DataType.SHORT).tolist() == [[0, 16256], [0, 16384]]
    pairs = run("bitcast", np.array([[1, 2], [3, 4]], np.float32), data_type=DataType.DOUBLE)
    np.testing.assert_allclose(pairs, [2.000000473, 512.00012254], 1e-9)
    refused(ShapeError, "together", "bitcast", X, data_type=DataType.DOUBLE)


def test_scatter_nd_and_mirror_pad():
    np.testing.assert_array_equal(run("scatter_nd", np.array([[0], [2], [0]]), np.ones((3, 2)), np.array([3, 2])), [[2, 2], [0, 0], [1, 1]])
    refused(ShapeError, "updates must have shape", "scatter_nd", np.array([[0], [2]]), np.ones((3, 2)), np.array([3, 2]))
    row, padding = np.array([[1, 2, 3]], np.float32), np.array([[0, 0], [2, 1]])
    assert run("mirror_pad", row, padding).tolist() == [[3, 2, 1, 2, 3, 2]]
    assert run("mirror_pad", row, padding, symmetric=True).tolist() == [[2, 1, 1, 2, 3, 3]]


def test_elementwise_and_checks():
    assert run("truncatediv", np.array([-7, 7, 5.0]), np.array([2, -2, 2.0])).tolist() == [-3, -3, 2]
    np.testing.assert_allclose(run("tanh_bp", np.array([0.5]), np.array([2.0])), 2 * (1 - np.tanh(0.5) ** 2))
    assert run("relu_bp", np.array([-1, 0, 2.0]), np.array([3, 3, 3.0])).tolist() == [0, 0, 3]
    assert [a.tolist() for a in run("identity_n", X, X[0])] == [X.tolist(), X[0].tolist()]
    assert run("noop").item() is True
    assert run("Assert", np.array([True]), X).tolist() == [True]
    refused(GraphError, r"1 of 2 places; its data: \[7", "Assert", np.array([True, False]), np.array([7.0]))
    refused(DataTypeError, "BOOL", "Assert", X)


def test_clip_by_global_norm():
    *clipped, norm = run("clip_by_global_norm", np.array([3.0]), np.array([4.0]), clip_norm=1.0)
    np.testing.assert_allclose(clipped, [[0.6], [0.8]])
    assert norm == 5 and run("clip_by_global_norm", X, clip_norm=100.0)[0].tolist() == X.tolist()


def test_matrices():
    np.testing.assert_array_equal(run("matrix_diag", X), [np.diag(r) for r in X])
    a = np.array([[[1, 2], [3, 4]], [[2, 0], [0, 3]]], np.float64)
    np.testing.assert_allclose(run("log_matrix_determinant", a), np.linalg.slogdet(a)[1])
    sign, log = run("log_matrix_determinant", a, num=2)
    assert sign.tolist() == [-1, 1] and np.allclose(log, np.linalg.slogdet(a)[1])
    assert run("log_matrix_determinant", np.array([[1, 2], [2, 4.0]])) == -np.inf


def test_transposed_and_pointwise_convolution():
    w = np.arange(24, dtype=np.float32).reshape(2, 2, 2, 3)
    found = run("deconv2d_tf", np.array([1, 3, 3, 2]), w, np.ones((1, 2, 2, 3), np.float32), k_h=2, k_w=2, data_format="NHWC")
    assert found[0].tolist() == [[[3, 12], [24, 42], [21, 30]], [[42, 60], [120, 156], [78, 96]], [[39, 48], [96, 114], [57, 66]]]
    same = run("deconv2d_tf", np.array([1, 4, 4, 2]), w, np.ones((1, 2, 2, 3), np.float32), k_h=2, k_w=2, s_h=2, s_w=2, padding_mode="SAME",
               data_format="NHWC")
    assert same[0, 0].tolist() == [[3, 12], [21, 30], [3, 12], [21, 30]]
    x, k = np.random.default_rng(3).normal(size=(2, 4, 3, 2)), np.random.default_rng(4).normal(size=(1, 1, 2, 5))
    np.testing.assert_allclose(run("pointwise_conv2d", x, k, np.ones(5), data_format="NHWC"), x @ k[0, 0] + 1)
    np.testing.assert_allclose(run("pointwise_conv2d", np.moveaxis(x, -1, 1), k), np.moveaxis(x @ k[0, 0], -1, 1))


def test_blocks():
    x = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    blocks, none = np.array([2, 2]), np.zeros((2, 2), np.int32)
    found = run("space_to_batch_nd", x, blocks, none)
    assert found[..., 0].tolist() == [[[0, 2], [8, 10]], [[1, 3], [9, 11]], [[4, 6], [12, 14]], [[5, 7], [13, 15]]]
    np.testing.assert_array_equal(run("batch_to_space_nd", found, blocks, none), x)
    row, edges = np.arange(3.0).reshape(1, 3, 1), np.array([[1, 0]])
    assert run("space_to_batch_nd", row, np.array([2]), edges)[..., 0].tolist() == [[0, 1], [0, 2]]
    assert run("batch_to_space_nd", np.arange(4.0).reshape(2, 2, 1), np.array([2]), edges)[0, :, 0].tolist() == [2, 1, 3]
    refused(ShapeError, "not divisible", "space_to_batch_nd", row, np.array([2]), np.array([[0, 0]]))
    refused(ShapeError, "cut off", "batch_to_space_nd", np.zeros((2, 1, 1)), np.array([2]), np.array([[2, 1]]))


IMAGE = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)


@pytest.mark.parametrize("attributes, expected", [
    ({}, [[0, 2], [4, 6], [8, 10]]), ({"align_corners": True}, [[0, 3], [8, 11], [12, 15]]),
    ({"half_pixel_centers": True}, [[1, 3], [9, 11], [13, 15]])])
def test_resize_nearest_neighbor(attributes, expected):
    for image in (IMAGE, IMAGE.astype(np.int32)):
        found = run("resize_nearest_neighbor", image, height=3, width=2, **attributes)
        assert found[0, ..., 0].tolist() == expected and found.dtype == image.dtype


def test_resize_area():
    covered = [[1.25, 2.5, 3.75], [6.25, 7.5, 8.75], [11.25, 12.5, 13.75]]
    np.testing.assert_allclose(run("resize_area", IMAGE, height=3, width=3)[0, ..., 0], covered)
    aligned = [[5 / 3, 3, 13 / 3], [7, 25 / 3, 29 / 3], [37 / 3, 41 / 3, 15]]
    np.testing.assert_allclose(run("resize_area", IMAGE, height=3, width=3, align_corners=True)[0, ..., 0], aligned, 1e-6)
    assert run("resize_area", IMAGE.astype(np.int32), np.array([2, 2]))[0, ..., 0].tolist() == [[2.5, 4.5], [10.5, 12.5]]


@pytest.mark.parametrize("channels_first", [False, True])
def test_fused_batch_norm(channels_first):
    x = np.random.default_rng(5).normal(size=(3, 2, 2, 4))
    scale, offset = np.arange(1, 5.0), np.arange(4.0)
    given = np.moveaxis(x, -1, 1) if channels_first else x
    layout = {"data_format": "NCHW" if channels_first else "NHWC"}
    y, mean, variance = run("fused_batch_norm", given, scale, offset, **layout)
    m, v = x.mean((0, 1, 2)), x.var((0, 1, 2))
    expected = scale * (x - m) / np.sqrt(v + 0.001) + offset
    np.testing.assert_allclose(y, np.moveaxis(expected, -1, 1) if channels_first else expected)
    np.testing.assert_allclose(mean, m)
    np.testing.assert_allclose(variance, x.var((0, 1, 2), ddof=1))
    y, mean, _ = run("fused_batch_norm", given, scale, offset, m + 1, v, is_training=False, epsilon=0.0, **layout)
    expected = scale * (x - m - 1) / np.sqrt(v + 1.001e-5) + offset
    np.testing.assert_allclose(y, np.moveaxis(expected, -1, 1) if channels_first else expected)
    np.testing.assert_array_equal(mean, m + 1)


def test_cross_entropy_with_logits():
    z, y = np.random.default_rng(6).normal(size=(2, 3, 4)), np.random.default_rng(7).uniform(size=(2, 3, 4))
    for axis in (-1, 1):
        found = run("softmax_cross_entropy_loss_with_logits", z, y, classes_dim=axis)
        np.testing.assert_allclose(found, -(y * log_softmax(z, axis)).sum(axis))


@pytest.mark.parametrize("peephole", [False, True])
@pytest.mark.parametrize("projection", [False, True])
def test_lstm_cell(peephole, projection):
    rng = np.random.default_rng(8)
    shapes = [(2, 3), (2, 4), (2, 4), (3, 16), (4, 16), (12,), (4, 4), (16,)]
    x, h0, c0, wx, wh, wc, wp, b = arrays = [rng.normal(size=s) for s in shapes]
    found = run("lstmCell", *arrays, peephole=peephole, projection=projection, cell_clip=0.5, projection_clip=0.3, forget_bias=1.0)
    i, f, g, o = np.split(x @ wx + h0 @ wh + b, 4, axis=1)
    own = wc.reshape(3, 4) * peephole
    c = np.clip(expit(f + c0 * own[1] + 1) * c0 + expit(i + c0 * own[0]) * np.tanh(g), -0.5, 0.5)
    h = expit(o + c * own[2]) * np.tanh(c)
    np.testing.assert_allclose(found[0], np.clip(h @ wp, -0.3, 0.3) if projection else h)
    np.testing.assert_allclose(found[1], c)


def test_lists_grow_in_any_order_and_have_gradients():
    sd = SameDiff()
    handle, flow = sd.op("create_list", data_type=DataType.DOUBLE)
    x = sd.var("x", np.array([1.0, 2.0]))
    second = sd.op("write_list", handle, sd.constant(np.int32(1)), x * 2.0, flow)
    both = sd.op("write_list", handle, sd.constant(np.array([0], np.int32)), x * x, second)
    assert sd.op("gather_list", handle, sd.constant(np.array([-1], np.int32)), both).eval().tolist() == [[1, 4], [2, 4]]
    assert sd.op("stack_list", handle, both).eval().tolist() == [1, 4, 2, 4] and sd.op("size_list", both).eval() == 2
    sd.op("read_list", handle, sd.constant(np.int32(0)), both).sum().rename("loss")
    sd.set_loss_variables("loss")
    assert sd.calculate_gradients({}, "x")["x"].tolist() == [2, 4]
    with pytest.raises(GraphError, match="flow of the list"):
        sd.op("write_list", handle, sd.constant(np.int32(1)), x)


def test_refusals_are_typed_when_saved_and_loaded():
    sd = SameDiff()
    sd.op("Assert", "checked", sd.placeholder("c", DataType.BOOL, -1), sd.constant(np.float32(3)))
    stream = io.BytesIO()
    sd.save(stream)
    stream.seek(0)
    again = SameDiff.load(stream)
    assert again.output({"c": np.array([True])}, "checked")["checked"].tolist() == [True]
    with pytest.raises(DL4PyError, match="does not hold"):
        again.output({"c": np.array([False])}, "checked")


def test_numbers_are_checked_with_a_message():
    sd = SameDiff.create()
    x = sd.var("x", np.float32([1, 2]))
    y = sd.math.check_numerics(x, sd.constant("message", np.array("here")))
    y.sum("loss").mark_as_loss()
    np.testing.assert_array_equal(y.eval(), [1, 2])
    np.testing.assert_array_equal(sd.calculate_gradients({}, "x")["x"], [1, 1])
    sd.associate_array_with_variable(np.float32([np.nan, 2]), "x")
    with pytest.raises(NumericalError, match="here: 1 of 2 elements"):
        y.eval()


@pytest.mark.parametrize("op_id, count", [("zeta", 2), ("igamma", 2), ("igammac", 2), ("betainc", 3)])
def test_special_functions_have_a_gradient_by_their_last_input_alone(op_id, count):
    for i in range(count):
        sd = SameDiff.create()
        values = [np.float64([0.3, 0.6])] * count if op_id == "betainc" else [np.float64([1.5, 2.5])] * count
        sd.op(op_id, *(sd.var("x", v) if k == i else sd.constant(v) for k, v in enumerate(values))).sum("loss").mark_as_loss()
        if i == count - 1:
            assert np.isfinite(sd.calculate_gradients({}, "x")["x"]).all()
        else:
            with pytest.raises(GradientError, match="no gradient by its input"):
                sd.calculate_gradients({}, "x")
