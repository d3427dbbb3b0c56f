"""Whole models: names, training, files, branches, functions, what is refused."""
from __future__ import annotations

import io
import os

import numpy as np
import pytest
from onnx import AttributeProto, TensorProto, external_data_helper, helper, save

from dl4py.samediff import OnnxFrameworkImporter, SameDiff, TrainingConfig
from dl4py.samediff.errors import (
    DataTypeError,
    FileFormatError,
    GraphError,
    MissingOpError,
    RegistrationError,
    UnknownNameError,
    ValueNeededError,
)
from dl4py.samediff.onnx import known_converters, onnx_converter
from dl4py.samediff.training import Adam
from tests.samediff.onnx.models import model, one_node, value

X = np.random.default_rng(1).standard_normal((4, 3)).astype(np.float32)
W = np.random.default_rng(2).standard_normal((3, 2)).astype(np.float32)


def dense(**more):
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Add", ["h", "b"], ["s"]),
             helper.make_node("Mul", ["s", "c"], ["y"])]
    held = {"w": W, "b": np.zeros(2, np.float32), "c": np.float32(2)}
    return model(nodes, [value("x", shape=["batch", 3])], [value("y", shape=["batch", 2])], held, **more)


def test_variables_are_named_as_in_the_model():
    sd = SameDiff.import_onnx(dense())
    assert sd.inputs() == ["x"] and sd.outputs() == ["y"]
    assert sd.get_variable("x").spec.shape == (-1, 3)
    kinds = {n: sd.get_variable(n).get_variable_type().name for n in "xwbchsy"}
    assert kinds == {"x": "PLACEHOLDER", "w": "VARIABLE", "b": "VARIABLE", "c": "CONSTANT", "h": "ARRAY", "s": "ARRAY", "y": "ARRAY"}
    np.testing.assert_allclose(sd.output_single({"x": X}, "y"), 2 * (X @ W), 1e-6)


def test_what_is_trained_can_be_chosen():
    sd = SameDiff.import_onnx(dense(), trainable=lambda name, array: name == "w")
    assert [v.name() for v in sd.variables() if v.is_trainable()] == ["w"]


def test_every_form_of_a_model(tmp_path):
    made = dense()
    path = tmp_path / "net.onnx"
    path.write_bytes(made.SerializeToString())
    importer = OnnxFrameworkImporter()
    graphs = [SameDiff.import_onnx(s) for s in (made, path, str(path), made.SerializeToString(), io.BytesIO(made.SerializeToString()))]
    graphs += [SameDiff.importOnnx(path), SameDiff.load(path), importer.run_import(path), importer.runImport(str(path))]
    for sd in graphs:
        np.testing.assert_allclose(sd.output_single({"x": X}, "y"), 2 * (X @ W), 1e-6)


def test_training_goes_on_and_is_saved(tmp_path):
    sd = SameDiff.import_onnx(dense())
    label = sd.placeholder("label", "FLOAT", -1, 2)
    sd.loss.mean_squared_error("loss", label, sd.get_variable("y"))
    sd.set_training_config(TrainingConfig(updater=Adam(1e-2), data_set_feature_mapping=["x"], data_set_label_mapping=["label"]))
    before = sd.output_single({"x": X}, "y")
    sd.fit(X, np.ones((4, 2), np.float32))
    after = sd.output_single({"x": X}, "y")
    assert (before != after).any() and float(sd.get_variable("c").get_arr()) == 2
    sd.save(tmp_path / "net.fb")
    np.testing.assert_array_equal(SameDiff.load(tmp_path / "net.fb").output_single({"x": X}, "y"), after)


def test_names_of_nodes_do_not_collide_with_those_of_values():
    nodes = [helper.make_node("Relu", ["relu_1"], ["add"]), helper.make_node("Celu", ["add"], ["relu"]),
             helper.make_node("Identity", ["relu_1"], ["same"])]
    sd = SameDiff.import_onnx(model(nodes, [value("relu_1", shape=[2])], [value("relu"), value("same")]))
    got = sd.output({"relu_1": np.float32([-1, 2])}, ["add", "relu", "same"])
    assert {n: v.tolist() for n, v in got.items()} == {"add": [0, 2], "relu": [0, 2], "same": [-1, 2]}


def test_shapes_that_are_computed():
    """The usual way to flatten: the batch stays open, all other sizes are known."""
    nodes = [helper.make_node("Shape", ["x"], ["shape"]), helper.make_node("Gather", ["shape", "zero"], ["n"]),
             helper.make_node("Unsqueeze", ["n", "axes"], ["n1"]), helper.make_node("Concat", ["n1", "rest"], ["target"], axis=0),
             helper.make_node("Reshape", ["x", "target"], ["y"])]
    held = {"zero": np.int64(0), "axes": np.int64([0]), "rest": np.int64([-1])}
    sd = SameDiff.import_onnx(model(nodes, [value("x", shape=["n", 3, 4])], [value("y")], held))
    assert sd.get_variable("y").spec.shape == (-1, 12)
    assert sd.output_single({"x": np.zeros((5, 3, 4), np.float32)}, "y").shape == (5, 12)


def test_what_is_known_is_computed_at_once():
    nodes = [helper.make_node("Shape", ["x"], ["shape"]), helper.make_node("Mul", ["shape", "two"], ["double"]),
             helper.make_node("ConstantOfShape", ["double"], ["zeros"]), helper.make_node("Size", ["zeros"], ["y"])]
    sd = SameDiff.import_onnx(model(nodes, [value("x", shape=[2, 3])], [value("y")], {"two": np.int64([2])}))
    assert sd.get_variable("y").is_constant() and int(sd.get_variable("y").get_arr()) == 24 and not sd.ops()


def test_values_that_must_be_known():
    made = one_node("TopK", {"x": X, "k": np.int64([2])}, outputs=2)
    with pytest.raises(ValueNeededError, match=r"'out0', 'out1' \(TopK.*k, input 1 \('k'\).*dynamic_variables=\{'k': array\}") as caught:
        SameDiff.import_onnx(made)
    assert caught.value.names == ("k",)
    sd = OnnxFrameworkImporter().run_import(made, {"k": np.int64([2])})
    assert sd.inputs() == ["x"] and sd.output_single({"x": X}, "out0").shape == (4, 2)
    with pytest.raises(UnknownNameError, match="no input 'kk'"):
        SameDiff.import_onnx(made, {"kk": np.int64([2])})


def branch(name, operator):
    return helper.make_graph([helper.make_node(operator, ["x", "w"], [name])], name, [], [value(name)])


def test_branches():
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch("yes", "Add"), else_branch=branch("no", "Sub"))
    made = model([node], [value("c", TensorProto.BOOL, []), value("x", shape=[2])], [value("y")], {"w": np.float32([1, 2])})
    sd = SameDiff.import_onnx(made)
    for condition, expected in ((True, [2, 3]), (False, [0, -1])):
        assert sd.output_single({"c": np.bool_(condition), "x": np.float32([1, 1])}, "y").tolist() == expected
    known = SameDiff.import_onnx(made, {"c": np.bool_(False)})
    assert [n.op.id for n in known.ops()] == ["subtract"]


def loop(condition):
    body = helper.make_graph(
        [helper.make_node("Mul", ["s", "w"], ["after"]), helper.make_node("Identity", ["after"], ["row"]),
         helper.make_node("ReduceMax", ["after"], ["most"], keepdims=0), helper.make_node("Less", ["most", "limit"], ["again"])],
        "body", [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("s", shape=[2])],
        [value("again" if condition else "go", TensorProto.BOOL, []), value("after"), value("row")])
    node = helper.make_node("Loop", ["n", ""], ["last", "rows"], body=body)
    return model([node], [value("n", TensorProto.INT64, []), value("s0", shape=[2])], [value("last"), value("rows")],
                 {"w": np.float32([2, 3]), "limit": np.float32(20)})


def test_loops():
    made = loop(True)
    made.graph.node[0].input.append("s0")
    sd = SameDiff.import_onnx(made)
    got = sd.output({"n": np.int64(10), "s0": np.float32([1, 1])}, ["last", "rows"])
    assert got["last"].tolist() == [8, 27] and got["rows"].tolist() == [[2, 3], [4, 9], [8, 27]]
    made = loop(False)
    made.graph.node[0].input.append("s0")
    got = SameDiff.import_onnx(made).output({"n": np.int64(2), "s0": np.float32([1, 1])}, ["last", "rows"])
    assert got["last"].tolist() == [4, 9] and got["rows"].shape == (2, 2)


def test_a_known_number_of_steps_that_make_an_array_longer():
    """The body is recorded twice, as the shape of its state turns out to be open."""
    body = helper.make_graph(
        [helper.make_node("Concat", ["s", "one"], ["after"], axis=0), helper.make_node("Identity", ["go"], ["still"])], "body",
        [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("s")],
        [value("still", TensorProto.BOOL, []), value("after")])
    made = model([helper.make_node("Loop", ["n", "", "s0"], ["last"], body=body)], [value("s0", shape=[2])], [value("last")],
                 {"n": np.int64(3), "one": np.float32([1])})
    assert SameDiff.import_onnx(made).output({"s0": np.float32([4, 5])}, "last")["last"].tolist() == [4, 5, 1, 1, 1]


def test_functions_of_a_model():
    inner = [helper.make_node("Mul", ["a", "a"], ["square"]), helper.make_node("Constant", [], ["k"]),
             helper.make_node("Add", ["square", "k"], ["b"])]
    inner[1].attribute.append(AttributeProto(name="value_float", type=AttributeProto.FLOAT, ref_attr_name="by"))
    function = helper.make_function("org.acme", "SquareMore", ["a"], ["b"], inner, [helper.make_opsetid("", 20)], ["by"])
    node = helper.make_node("SquareMore", ["x"], ["y"], domain="org.acme", by=3.0)
    made = model([node], [value("x", shape=[2])], [value("y")], domains={"org.acme": 1}, functions=[function])
    assert SameDiff.import_onnx(made).output_single({"x": np.float32([1, 2])}, "y").tolist() == [4, 7]


def test_operators_that_the_standard_defines_by_others():
    names = {c.operator for c in known_converters()}
    assert "CenterCropPad" not in names and "RotaryEmbedding" not in names
    made = one_node("CenterCropPad", {"x": X}, {"s": np.int64([2, 5])})
    assert SameDiff.import_onnx(made).output_single({"x": X}, "out0").tolist() == np.pad(X[1:3], ((0, 0), (1, 1))).tolist()


def test_sequences():
    nodes = [helper.make_node("SplitToSequence", ["x", "one"], ["parts"], axis=1), helper.make_node("SequenceAt", ["parts", "last"], ["y"]),
             helper.make_node("SequenceLength", ["parts"], ["n"]), helper.make_node("ConcatFromSequence", ["parts"], ["z"], axis=0)]
    held = {"one": np.int64(1), "last": np.int64(-1)}
    outputs = [value(n) for n in "ynz"] + [helper.make_tensor_sequence_value_info("parts", TensorProto.FLOAT, None)]
    sd = SameDiff.import_onnx(model(nodes, [value("x", shape=[4, 3])], outputs, held))
    assert sd.outputs() == ["y", "n", "z", "parts_0", "parts_1", "parts_2"]
    got = sd.output({"x": X}, sd.outputs())
    assert got["n"] == 3 and (got["y"] == X[:, 2:]).all() and (got["z"] == X.T.reshape(12, 1)).all() and (got["parts_1"] == X[:, 1:2]).all()


def test_dropout_is_active_while_training():
    sd = SameDiff.import_onnx(one_node("Dropout", {"x": np.ones((50, 50), np.float32)}, {"r": np.float32(0.5)}))
    assert (sd.output_single({"x": np.ones((50, 50), np.float32)}, "out0") == 1).all()
    assert [n.op.id for n in sd.ops()] == ["dropout_inverted"] and sd.ops()[0].op.p == 0.5


def test_gradients_pass_through_a_recurrent_layer():
    rng = np.random.default_rng(3)
    held = {"w": rng.standard_normal((1, 8, 3)), "r": rng.standard_normal((1, 8, 2)), "b": rng.standard_normal((1, 16))}
    x = rng.standard_normal((4, 2, 3)).astype(np.float32)
    sd = SameDiff.import_onnx(one_node("LSTM", {"x": x}, {n: a.astype(np.float32) for n, a in held.items()}, 3, hidden_size=2))
    sd.get_variable("out1").sum().mark_as_loss()
    found = sd.calculate_gradients({"x": x}, "w", "r", "b")
    assert all(np.abs(g).max() > 0 for g in found.values())


# What is refused

def test_an_unknown_operator():
    made = one_node("Relux", {"x": X})
    with pytest.raises(MissingOpError, match=r"operator Relux \(domain the standard's own, version 20.*the node that gives 'out0'.*did you "
                                             r"mean 'Relu'.*@onnx_converter\(\"Relux\"\)"):
        SameDiff.import_onnx(made)
    with pytest.raises(MissingOpError, match=r"domain 'org.acme', version 1 .*@onnx_converter\(\"Twist\", domain=\"org.acme\"\)"):
        SameDiff.import_onnx(one_node("Twist", {"x": X}, domain="org.acme"))


def test_a_converter_of_ones_own():
    made = one_node("Half", {"x": X}, domain="org.acme", of=4.0)

    @onnx_converter("Half", domain="org.acme", replace=True)
    def half(node, x):
        return x / node.get("of")

    np.testing.assert_array_equal(SameDiff.import_onnx(made).output_single({"x": X}, "out0"), X / 4)
    with pytest.raises(RegistrationError, match="has a converter for versions 1 to .*half; replace=True"):
        onnx_converter("Half", 3, domain="org.acme")(half)
    with pytest.raises(RegistrationError, match="operator Relu has a converter"):
        onnx_converter("Relu")(half)


def test_what_is_no_model(tmp_path):
    with pytest.raises(FileFormatError, match="no ONNX model"):
        SameDiff.import_onnx(b"this is text")
    (tmp_path / "empty.onnx").write_bytes(b"")
    with pytest.raises(FileFormatError, match=r"empty.onnx: .*holds no graph"):
        SameDiff.import_onnx(tmp_path / "empty.onnx")
    with pytest.raises(GraphError, match="a path, bytes, a binary stream or a ModelProto; got int"):
        SameDiff.import_onnx(5)


def test_types_that_arrays_do_not_have():
    with pytest.raises(DataTypeError, match="input 'x' has elements of ONNX type COMPLEX64"):
        SameDiff.import_onnx(model([helper.make_node("Identity", ["x"], ["y"])], [value("x", TensorProto.COMPLEX64, [2])], [value("y")]))


def test_shapes_that_do_not_fit_name_the_node():
    made = one_node("MatMul", {"x": X, "y": X})
    made.graph.node[0].name = "product"
    with pytest.raises(GraphError, match=r"ONNX node 'product' \(MatMul, version 20\)"):
        SameDiff.import_onnx(made)


# Data beside the model

def external(folder, location="data.bin"):
    made = dense()
    tensor = made.graph.initializer[0]
    external_data_helper.set_external_data(tensor, location)
    (folder / "data.bin").write_bytes(W.tobytes())
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    (folder / "net.onnx").write_bytes(made.SerializeToString())
    return folder / "net.onnx"


def test_data_beside_the_model(tmp_path):
    sd = SameDiff.import_onnx(external(tmp_path))
    np.testing.assert_array_equal(sd.get_variable("w").get_arr(), W)
    made = dense()
    save(made, tmp_path / "whole.onnx", save_as_external_data=True, size_threshold=0, location="all.bin")
    np.testing.assert_array_equal(SameDiff.import_onnx(tmp_path / "whole.onnx").get_variable("w").get_arr(), W)


@pytest.mark.parametrize("location", ["../data.bin", "/etc/hostname", "inner/../../data.bin", "", "C:/data.bin", "..\\data.bin"])
def test_data_elsewhere_is_not_read(tmp_path, location):
    (tmp_path / "data.bin").write_bytes(bytes(24))
    folder = tmp_path / "model"
    folder.mkdir()
    path = external(folder, location)
    with pytest.raises(FileFormatError, match="must lie in the folder of the model"):
        SameDiff.import_onnx(path)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_are_not_followed(tmp_path):
    path = external(tmp_path)
    (tmp_path / "data.bin").rename(tmp_path / "other.bin")
    (tmp_path / "data.bin").symlink_to(tmp_path / "other.bin")
    with pytest.raises(FileFormatError, match="through a link"):
        SameDiff.import_onnx(path)


def test_data_that_ends_early_or_has_no_folder(tmp_path):
    path = external(tmp_path)
    with pytest.raises(FileFormatError, match="give the path of the model"):
        SameDiff.import_onnx(path.read_bytes())
    (tmp_path / "data.bin").write_bytes(bytes(5))
    with pytest.raises(FileFormatError, match="ends before byte 24"):
        SameDiff.import_onnx(path)
