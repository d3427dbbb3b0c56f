"""Frozen TensorFlow graphs: values of operators, names, branches, what is refused."""
from __future__ import annotations

import io

import numpy as np
import pytest
from scipy import special

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import (
    DL4PyError,
    FileFormatError,
    GraphError,
    LimitError,
    MissingOpError,
    UnknownNameError,
)
from dl4py.samediff.onnx import onnx_converter, registry
from dl4py.samediff.tensorflow.wire import graph_of
from tests.samediff.tensorflow.graphs import called, const, function, graph, library, node, part, placeholder, shape

X = np.random.default_rng(4).standard_normal((4, 3)).astype(np.float32)
IMAGES = np.random.default_rng(5).standard_normal((2, 6, 6, 3)).astype(np.float32)
I32 = np.int32


def dense():
    return graph(const("w", np.ones((3, 2), np.float32)), const("b", np.float32([1, 2])), placeholder("x"),
                 node("product", "MatMul", "x", "w", transpose_a=False, transpose_b=False), node("sum", "BiasAdd", "product", "b"),
                 node("y", "Relu", "sum"))


def test_a_dense_layer(tmp_path):
    (tmp_path / "net.pb").write_bytes(dense())
    for source in (tmp_path / "net.pb", str(tmp_path / "net.pb"), dense(), io.BytesIO(dense())):
        sd = SameDiff.import_frozen_tf(source)
        assert sd.inputs() == ["x"] and sd.outputs() == ["y"] and sd.get_variable("x").spec.shape == (-1, 3)
        np.testing.assert_allclose(sd.output_single({"x": X}, "y"), np.maximum(X.sum(axis=1, keepdims=True) + [1, 2], 0), 1e-6)
    sd.save(tmp_path / "net.fb")
    np.testing.assert_array_equal(SameDiff.load(tmp_path / "net.fb").output_single({"x": X}, "y"), sd.output_single({"x": X}, "y"))
    assert SameDiff.importFrozenTF(dense()).outputs() == ["y"]


def test_constants_can_be_trained():
    sd = SameDiff.import_frozen_tf(dense())
    sd.convert_to_variables([sd.get_variable("w")])
    sd.get_variable("y").sum().mark_as_loss()
    assert sd.calculate_gradients({"x": X}, "w")["w"].shape == (3, 2)


ROWS = {  # nodes that give "y" from "x", and the value
    "sum": ([const("a", I32([0])), node("y", "Sum", "x", "a", keep_dims=True)], X.sum(axis=0, keepdims=True)),
    "strided slice": ([const("b", I32([1, 0])), const("e", I32([3, 2])), const("s", I32([1, 1])),
                       node("y", "StridedSlice", "x", "b", "e", "s", begin_mask=0, end_mask=1, shrink_axis_mask=2)], X[1:, 0]),
    "slice of sizes": ([node("n", "Shape", "x"), const("b", I32([1])), const("one", I32([1])), node("y", "Slice", "n", "b", "one")],
                       I32([3])),
    "second output": ([const("a", I32(1)), node("p", "Split", "a", "x", num_split=3), node("y", "Neg", "p:2")], -X[:, 2:]),
    "stack": ([node("y", "Pack", "x", "x", axis=1)], np.stack([X, X], 1)),
    "gather": ([const("i", I32([2, 0])), const("a", I32(1)), node("y", "GatherV2", "x", "i", "a")], X[:, [2, 0]]),
    "remainder": ([const("m", np.float32(0.7)), node("y", "FloorMod", "x", "m")], np.remainder(X, np.float32(0.7))),
    "choice of rows": ([const("c", np.array([True, False, True, False])), node("z", "ZerosLike", "x"), node("y", "Select", "c", "x", "z")],
                       np.where(np.array([True, False, True, False])[:, None], X, np.float32(0))),
    "padding": ([const("p", I32([[1, 0], [0, 2]])), node("y", "MirrorPad", "x", "p", mode="REFLECT")],
                np.pad(X, ((1, 0), (0, 2)), "reflect")),
    "largest": ([const("k", I32(2)), node("t", "TopKV2", "x", "k"), node("y", "Identity", "t:1")],
                np.argsort(-X, axis=1)[:, :2].astype(I32)),
    "scattered": ([const("i", I32([[3], [1]])), const("s", I32([5, 3])), const("b", I32([0, 0])), const("n", I32([2, 3])),
                   node("u", "Slice", "x", "b", "n"), node("y", "ScatterNd", "i", "u", "s")],
                  np.stack([X[0] * 0, X[1], X[0] * 0, X[0], X[0] * 0])),
    "sparse plus dense": ([const("i", np.int64([[1, 2], [0, 1]])), const("v", np.float32([5, 7])), const("s", np.int64([4, 3])),
                           node("y", "SparseTensorDenseAdd", "i", "v", "s", "x")],
                          X + np.float32([[0, 7, 0], [0, 0, 5], [0, 0, 0], [0, 0, 0]])),
    "rows taken away": ([const("i", I32([[1]])), const("v", np.ones((1, 3), np.float32)), node("y", "TensorScatterSub", "x", "i", "v")],
                        X - np.float32([[0], [1], [0], [0]])),
    "rows replaced": ([const("i", I32([[1]])), const("v", np.ones((1, 3), np.float32)), node("y", "TensorScatterUpdate", "x", "i", "v")],
                      np.where(np.array([[False], [True], [False], [False]]), np.float32(1), X)),
    "polygamma": ([const("n", np.float32(1)), node("a", "Exp", "x"), node("y", "Polygamma", "n", "a")],
                  special.polygamma(1, np.exp(X)).astype(np.float32)),
    "zeta": ([const("s", np.float32([2, 3])), const("q", np.float32([1, 2])), node("y", "Zeta", "s", "q")],
             special.zeta([2, 3], [1, 2]).astype(np.float32)),
    "incomplete gamma": ([const("a", np.float32([2, 3])), const("b", np.float32([1, 2])), node("p", "Igamma", "a", "b"),
                          node("q", "Igammac", "a", "b"), node("y", "Div", "p", "q")],
                         (special.gammainc([2, 3], [1, 2]) / special.gammaincc([2, 3], [1, 2])).astype(np.float32)),
    "incomplete beta": ([*(const(n, np.float32([v])) for n, v in (("a", 2), ("b", 3), ("c", 0.25))), node("y", "Betainc", "a", "b", "c")],
                        special.betainc([2], [3], [0.25]).astype(np.float32)),
}


@pytest.mark.parametrize("name", ROWS)
def test_values(name):
    nodes, expected = ROWS[name]
    sd = SameDiff.import_frozen_tf(graph(placeholder("x", (4, 3)), *nodes))
    found = sd.output_single({"x": X}, "y")
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, 1e-6, 1e-6)


LARGE = np.int64([1 << 20, 1 << 20])
ONE = np.float32(1)


@pytest.mark.parametrize("name, operator, constants, options", [
    ("zeros", "Fill", (LARGE, ONE), {}), ("anything", "Empty", (LARGE,), {"dtype": np.float32}),
    ("numbers", "Range", (np.int64(0), LARGE[0] ** 2, np.int64(1)), {}), ("steps", "LinSpace", (ONE, ONE, LARGE[0] ** 2), {}),
    ("places", "ScatterNd", (I32([[0]]), np.float32([1]), np.int64([1 << 40])), {})])
def test_arrays_that_are_larger_than_any_file(name, operator, constants, options):
    """A few bytes of a file do not fill the memory."""
    with pytest.raises(LimitError, match=f"{operator}.*makes an array of the shape"):
        SameDiff.import_frozen_tf(graph(*(const(f"c{i}", c) for i, c in enumerate(constants)),
                                        node("y", operator, *(f"c{i}" for i in range(len(constants))), **options)))


def test_ranges_have_steps():
    with pytest.raises(GraphError, match="a range from 0 to 3 by 0"):
        SameDiff.import_frozen_tf(graph(const("a", I32(0)), const("b", I32(3)), node("y", "Range", "a", "b", "a")))


@pytest.mark.parametrize("colours", [None, np.float32([[0.5]])])
def test_boxes_are_drawn(colours):
    """Rows and columns are those of the corners, cut off; what lies outside is not drawn, later boxes are on top."""
    boxes = np.float32([[[0, 0, 0.5, 0.5], [0.25, 0.25, 2, 0.9]]])
    given = [] if colours is None else [const("c", colours)]
    data = graph(placeholder("x", (1, 5, 5, 1)), const("b", boxes), *given,
                 node("y", "DrawBoundingBoxes" + ("V2" if given else ""), "x", "b", *(["c"] if given else [])))
    expected = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 0], [0, 1, 0, 1, 0], [0, 1, 0, 1, 0]])
    found = SameDiff.import_frozen_tf(data).output_single({"x": np.zeros((1, 5, 5, 1), np.float32)}, "y")
    np.testing.assert_array_equal(found[0, :, :, 0], expected * (1 if colours is None else 0.5))


def test_hues_of_channels_below_0():
    """The least and the largest channel stay."""
    x = np.float32([[[-1.5, 0.25, -0.5], [-2, -1, -3], [0.2, 0.4, 0.6]]])
    data = graph(placeholder("x", (1, 3, 3)), const("d", np.float32(1 / 3)), node("y", "AdjustHue", "x", "d"))
    found = SameDiff.import_frozen_tf(data).output_single({"x": x}, "y")
    np.testing.assert_allclose(found, np.roll(x, 1, axis=-1), 1e-4, 1e-5)


def test_images():
    window = {"strides": [1, 2, 2, 1], "padding": "SAME", "data_format": "NHWC"}
    w = np.ones((1, 1, 3, 2), np.float32)
    sd = SameDiff.import_frozen_tf(graph(
        placeholder("x", (-1, 6, 6, 3)), const("w", w), node("c", "Conv2D", "x", "w", **window),
        node("p", "AvgPool", "c", ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding="VALID", data_format="NHWC")))
    conv = np.repeat(IMAGES[:, ::2, ::2].sum(axis=-1, keepdims=True), 2, axis=-1)
    np.testing.assert_allclose(sd.output_single({"x": IMAGES}, "p"), conv.mean(axis=(1, 2), keepdims=True), 1e-5, 1e-6)


def test_branches_of_a_known_condition():
    data = graph(placeholder("x"), placeholder("c", (), np.bool_), node("s", "Switch", "x", "c"), node("no", "Neg", "s"),
                 node("yes", "Abs", "s:1"), node("y", "Merge", "no", "yes"))
    for condition, expected in ((True, np.abs(X)), (False, -X)):
        sd = SameDiff.import_frozen_tf(data, {"c": np.bool_(condition)})
        np.testing.assert_array_equal(sd.output_single({"x": X}, "y"), expected)


def test_a_number_with_a_default():
    """A phase such as that of Keras is its default unless told otherwise; a batch stays open."""
    data = graph(const("no", np.bool_(False)), const("zeros", np.zeros((1, 3), np.float32)),
                 node("x", "PlaceholderWithDefault", "zeros", dtype=np.float32, shape=(-1, 3)),
                 node("phase", "PlaceholderWithDefault", "no", dtype=np.bool_, shape=()), node("s", "Switch", "x", "phase"),
                 node("n", "Neg", "s"), node("e", "Exp", "s:1"), node("y", "Merge", "n", "e"))
    assert SameDiff.import_frozen_tf(data).inputs() == ["x"]
    for given, expected in (({}, -X), ({"phase": np.bool_(True)}, np.exp(X))):
        np.testing.assert_allclose(SameDiff.import_frozen_tf(data, given).output_single({"x": X}, "y"), expected, 1e-6)


def test_nodes_may_stand_in_any_order():
    sd = SameDiff.import_frozen_tf(graph(node("y", "Neg", "h", "^note"), node("h", "Abs", "x"), node("note", "NoOp"), placeholder("x")))
    np.testing.assert_array_equal(sd.output_single({"x": X}, "y"), -np.abs(X))


def test_what_is_constant_is_computed_at_once():
    sd = SameDiff.import_frozen_tf(graph(const("a", np.float32([1, 2])), node("y", "Exp", "a"), node("z", "Identity", "y")))
    np.testing.assert_allclose(sd.get_variable("y").get_arr(), np.exp([1, 2]), 1e-6)
    np.testing.assert_allclose(sd.output_single({}, "z"), np.exp([1, 2]), 1e-6)


def test_operators_of_users(monkeypatch):
    """Own operators, and others in the place of known ones, also inside of functions."""
    monkeypatch.setattr(registry, "_TABLE", {key: list(held) for key, held in registry._TABLE.items()})
    onnx_converter("Acme", domain="tensorflow")(lambda node, x: x * node.get("by"))
    onnx_converter("Relu6", domain="tensorflow", replace=True)(lambda node, x: node.xp.tanh(x))
    inner = library(function("f", ["v"], ["w"], [node("w", "Relu6", "v")], {"w": "w:activations:0"}))
    sd = SameDiff.import_frozen_tf(graph(placeholder("x"), node("a", "Acme", "x", by=3.0), called("y", "f", "a")) + inner)
    np.testing.assert_allclose(sd.output_single({"x": X}, "y"), np.tanh(3 * X), 1e-5)


def test_what_is_refused():
    with pytest.raises(MissingOpError, match=r"no converter for TensorFlow operator Relux .*node 'y' needs; did you mean 'Relu"):
        SameDiff.import_frozen_tf(graph(placeholder("x"), node("y", "Relux", "x")))
    with pytest.raises(FileFormatError, match="reads 'gone', which nothing gives"):
        SameDiff.import_frozen_tf(graph(node("y", "Neg", "gone")))
    with pytest.raises(FileFormatError, match="holds no nodes"):
        SameDiff.import_frozen_tf(b"")
    with pytest.raises(UnknownNameError, match="no placeholder 'xx'; did you mean 'x'"):
        SameDiff.import_frozen_tf(dense(), {"xx": X})
    with pytest.raises(GraphError, match="a path, bytes or a binary stream; got int"):
        SameDiff.import_frozen_tf(3)
    with pytest.raises(GraphError, match=r"TensorFlow node 'y' \(tensorflow.MatMul"):
        SameDiff.import_frozen_tf(graph(placeholder("x", (4, 3)), node("y", "MatMul", "x", "x")))


def described(sizes, *values):
    """A constant of which few values stand in the file."""
    value = part(1, 1) + part(2, shape(sizes)) + (part(5, np.asarray(values, "f4").tobytes()) if values else b"")
    return part(1, part(1, b"c") + part(2, b"Const") + part(5, part(1, b"value") + part(2, part(8, value))))


@pytest.mark.parametrize("sizes, values, error", [
    ((3, 1 << 40), (), LimitError), ((3, 1 << 40), (1,), LimitError), ((1 << 20, 1 << 10), (1, 2), LimitError),
    ((1 << 40, 1 << 20), (), LimitError),
    ((-3, 5), (1,), FileFormatError), ((-1,), (), FileFormatError)])
def test_constants_that_are_larger_than_the_file(sizes, values, error):
    with pytest.raises(error, match="a tensor|constants"):
        SameDiff.import_frozen_tf(described(sizes, *values))


def test_repeated_numbers():
    assert graph_of(described((2, 3), 4, 5))[0].attributes["value"].tolist() == [[4, 5, 5], [5, 5, 5]]
    assert SameDiff.import_frozen_tf(described((2, 2), 4)).get_variable("c").get_arr().tolist() == [[4, 4], [4, 4]]


@pytest.mark.parametrize("said", [True, 3, "three"])
def test_shapes_of_placeholders_that_are_none(said):
    with pytest.raises(FileFormatError, match="node 'x' .* attribute 'shape' is no shape"):
        SameDiff.import_frozen_tf(graph(node("x", "Placeholder", shape=said), node("y", "Neg", "x")))


@pytest.mark.parametrize("nodes", [
    [node("y", "Identity")], [node("y", "Const", value=3), node("z", "Neg", "y")],
    [placeholder("x"), node("s", "Switch", "x"), node("y", "Merge", "s", "x")],
    [placeholder("x"), node("e", "Enter", "x", frame_name="y"), node("c", "LoopCond")]])
def test_nodes_that_lack_something(nodes):
    with pytest.raises(DL4PyError, match="'[ysc]'|index"):
        SameDiff.import_frozen_tf(graph(*nodes))


@pytest.mark.parametrize("size", range(1, 60, 3))
def test_bytes_that_end_early(size):
    with pytest.raises(FileFormatError):
        graph_of(dense()[:-size] if size % 2 else dense()[:size])


def test_numbers_that_are_not_packed():
    value = part(1, 3) + part(2, part(2, part(1, 4))) + part(7, 5) + part(7, (1 << 64) - 2)       # the last number is repeated
    attribute = part(1, b"value") + part(2, part(8, value))
    (made,) = graph_of(part(1, part(1, b"c") + part(2, b"Const") + part(5, attribute)))
    assert made.attributes["value"].tolist() == [5, -2, -2, -2] and made.attributes["value"].dtype == np.int32
