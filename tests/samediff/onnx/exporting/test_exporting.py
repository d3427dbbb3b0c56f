"""Whole graphs as ONNX models: names, open sizes, types, control flow, what is refused, files."""
from __future__ import annotations

import io

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import LimitError, MissingOpError, RegistrationError, ShapeError
from dl4py.samediff.ir.op import Op, op
from dl4py.samediff.onnx import export_table, exporting, onnx_exporter
from dl4py.udf import user_op
from tests.samediff.onnx.exporting.comparing import assert_close, compare, computed


def dense():
    sd = SameDiff.create()
    x = sd.placeholder("x", "FLOAT", -1, 3)
    w = sd.var("w", np.arange(6, dtype=np.float32).reshape(3, 2) / 7)
    sd.nn.softmax("y", sd.nn.relu(x.mmul(w).add(sd.constant("b", np.float32([0.5, -1.0]))), 0.0), 1)
    return sd, {"x": np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)}


def test_names_and_open_sizes():
    sd, feeds = dense()
    model = compare(sd, feeds, ["y"])
    (given,), (found,) = model.graph.input, model.graph.output
    assert (given.name, found.name) == ("x", "y")
    assert [d.dim_param or d.dim_value for d in given.type.tensor_type.shape.dim] == ["batch", 3]
    assert "w" in [t.name for t in model.graph.initializer]
    assert_close(computed(model, {"x": feeds["x"][:1]}, ["y"])[0], sd.output({"x": feeds["x"][:1]}, "y")["y"])


def test_equal_names_of_sizes_are_equal_sizes():
    sd = SameDiff.create()
    a, b = sd.placeholder("a", "FLOAT", -1, -1), sd.placeholder("b", "FLOAT", -1)
    sd.math.add("s", a.sum(1).sum(), b.sum())
    names = [d.dim_param for v in sd.export_onnx().graph.input for d in v.type.tensor_type.shape.dim]
    assert names == ["a_size0", "a_size1", "b_size0"]


def test_there_and_back():
    sd, feeds = dense()
    again = SameDiff.import_onnx(sd.export_onnx())
    assert_close(again.output(feeds, "y")["y"], sd.output(feeds, "y")["y"])
    assert {v.name() for v in again.variables() if v.is_trainable()} == {"w", "b"}


def test_an_output_that_is_an_input_a_variable_or_a_constant():
    sd = SameDiff.create()
    x, w = sd.placeholder("x", "FLOAT", 2), sd.var("w", np.float32([1, 2]))
    y = sd.identity("y", x)
    z = sd.constant("z", np.float32([3, 4])).add(1.0)
    compare(sd, {"x": np.float32([5, 6])}, [y.name(), z.name(), sd.math.add("s", y, w).name()])


@pytest.mark.parametrize("kind", ["HALF", "BFLOAT16", "FLOAT", "DOUBLE", "BYTE", "SHORT", "INT", "LONG", "UBYTE", "UINT16", "UINT32",
                                  "UINT64", "BOOL"])
def test_types(kind):
    sd, dtype = SameDiff.create(), DataType[kind]
    x = sd.placeholder("x", dtype, -1, 2)
    sd.concat("y", 0, x, sd.constant("c", np.ones((1, 2)).astype(dtype.numpy)))
    model = compare(sd, {"x": np.array([[1, 0], [0, 1]]).astype(dtype.numpy)}, ["y"])
    assert model.graph.input[0].type.tensor_type.elem_type == model.graph.output[0].type.tensor_type.elem_type


def branches(sd, x):
    return sd.if_cond("y", None, lambda s: x.sum() > 0.0, lambda s: x * 2.0, lambda s: x - 1.0)


def loop(sd, x):
    return sd.while_loop([x, sd.constant(np.int32(0))], lambda s, v: v[1] < 3, lambda s, v: [v[0] * 1.5, v[1] + 1])[0]


@pytest.mark.parametrize("build", [branches, loop])
@pytest.mark.parametrize("sign", [1, -1])
def test_control_flow(build, sign):
    sd = SameDiff.create()
    made = build(sd, sd.placeholder("x", "FLOAT", -1))
    compare(sd, {"x": np.float32([1, 2, 3]) * sign}, [made.name()])


def test_dropout_is_gone():
    sd = SameDiff.create()
    x = sd.placeholder("x", "FLOAT", -1, 4)
    sd.nn.tanh("y", sd.nn.dropout(x, 0.5))
    assert {n.op_type for n in compare(sd, {"x": np.ones((2, 4), np.float32)}, ["y"]).graph.node} <= {"Tanh", "Mul"}


@user_op("test.onnx_scalar")
def scalar(xp, x, *, beta: float = 2.0):
    """Element by element."""
    return xp.tanh(x) * beta + xp.where(x > 0, x, 0)


@user_op("test.onnx_rows")
def rows(xp, x):
    """Array code."""
    return xp.exp(x) / xp.sum(xp.exp(x), axis=1, keepdims=True)


@pytest.mark.parametrize("op_id", ["test.onnx_scalar", "test.onnx_rows"])
def test_ops_of_users_are_written_by_their_nodes(op_id):
    sd = SameDiff.create()
    made = sd.op(op_id, sd.placeholder("x", "FLOAT", -1, 2))
    model = compare(sd, {"x": np.float32([[1, -2], [0.5, 3]])}, [made.name()])
    assert {n.domain for n in model.graph.node} == {""}


@op("test.onnx_opaque")
class Opaque(Op):
    """Sorted in Python."""

    def infer(self, *specs):
        return specs[0].with_shape(specs[0].shape)

    def compute(self, xp, x):
        return np.array(sorted(x.tolist()), x.dtype)


def test_all_ops_that_cannot_be_said_are_named_and_nothing_is_written(tmp_path):
    sd = SameDiff.create()
    x = sd.placeholder("x", "FLOAT", 3)
    first = sd.op("test.onnx_opaque", x)
    sd.math.add("y", first, sd.math.lgamma("g", x))
    (tmp_path / "kept.onnx").write_bytes(b"before")
    with pytest.raises(MissingOpError, match=r"cannot say 2 of the ops") as raised:
        sd.export_onnx(tmp_path / "kept.onnx", ["y"])
    assert "'test.onnx_opaque'" in str(raised.value) and "gammaln" in str(raised.value)
    assert (tmp_path / "kept.onnx").read_bytes() == b"before"


def test_an_exporter_of_ones_own():
    with pytest.raises(RegistrationError, match="replace=True"):
        onnx_exporter("relu")(lambda graph, op, x: x)

    @onnx_exporter("test.onnx_opaque", replace=True)
    def opaque(graph, op, x):
        return graph.node("Sorted", x, domain="org.acme", order="up")

    try:
        sd = SameDiff.create()
        sd.op("test.onnx_opaque", sd.placeholder("x", "FLOAT", 3))
        model = sd.export_onnx()
    finally:
        del export_table._TABLE["test.onnx_opaque"]
    (node,) = model.graph.node
    assert (node.domain, node.op_type, {s.domain for s in model.opset_import}) == ("org.acme", "Sorted", {"", "org.acme"})


def test_shapes_that_must_be_known():
    sd = SameDiff.create()
    x = sd.placeholder("x", "FLOAT", -1, -1)
    y = sd.repeat(x, sd.constant(np.int32([2])), 1)
    with pytest.raises(MissingOpError, match="known size"):
        sd.export_onnx(None, [y])
    compare(sd, {"x": np.float32([[1, 2, 3]])}, [y.name()], {"x": (-1, 3)})
    with pytest.raises(ShapeError, match="placeholder 'x'"):
        dense()[0].export_onnx(None, ["y"], {"x": (2, 4)})


def test_files(tmp_path, monkeypatch):
    sd, feeds = dense()
    stream = io.BytesIO()
    sd.exportOnnx(stream)
    sd.export_onnx(tmp_path / "m.onnx")
    assert stream.getvalue() == (tmp_path / "m.onnx").read_bytes()
    assert_close(SameDiff.load(tmp_path / "m.onnx").output(feeds, "y")["y"], sd.output(feeds, "y")["y"])
    monkeypatch.setattr(exporting, "MOST_BYTES", (1 << 20) + 10)
    with pytest.raises(LimitError, match="'w'"):
        sd.export_onnx(io.BytesIO())
    assert stream.getvalue() == (tmp_path / "m.onnx").read_bytes()
    monkeypatch.setattr(exporting._Beside, "LEAST", 0)
    sd.export_onnx(tmp_path / "m.onnx")             # which leaves the arrays to a file beside it
    assert len(list(tmp_path.iterdir())) == 2
    assert_close(SameDiff.load(tmp_path / "m.onnx").output(feeds, "y")["y"], sd.output(feeds, "y")["y"])
