"""Large tensors: read from the file of the model or from those beside it, and written there."""
from __future__ import annotations

import os
import tracemalloc

import numpy as np
import pytest
from onnx import TensorProto, helper, load, numpy_helper

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import FileFormatError, LimitError, PathError
from dl4py.samediff.onnx import bulk, exporting
from tests.samediff.onnx.models import model, value

X = np.random.default_rng(3).standard_normal((2, 300)).astype(np.float32)
W = np.random.default_rng(4).standard_normal((300, 200)).astype(np.float32)


def large(kind=None):
    """A model of one large tensor, packed or not."""
    held = {"w": W} if kind is None else {}
    made = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [value("x", shape=["batch", 300])], [value("y")], held)
    if kind is not None:
        made.graph.initializer.append(helper.make_tensor("w", kind, W.shape, W.reshape(-1)))
    return made


def test_large_tensors_are_read_when_they_are_needed(tmp_path):
    path = tmp_path / "net.onnx"
    path.write_bytes(large().SerializeToString())
    with open(path, "rb") as stream:
        rest = bulk.without_bulk(stream, 1 << 20)
    assert len(rest) < 2000 < W.nbytes
    sd = SameDiff.import_onnx(path)
    np.testing.assert_array_equal(sd.get_variable("w").get_arr(), W)
    np.testing.assert_allclose(sd.output_single({"x": X}, "y"), X @ W, 1e-4, 1e-4)


@pytest.mark.parametrize("kind", [TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT16, TensorProto.FLOAT])
def test_every_form_of_a_tensor(tmp_path, kind):
    path = tmp_path / "net.onnx"
    path.write_bytes(large(kind).SerializeToString())
    wanted = numpy_helper.to_array(large(kind).graph.initializer[0]).astype(np.float32)
    sd = SameDiff.import_onnx(path)
    found = sd.get_variable("w").get_arr() if sd.has_variable("w") else sd.get_variable("w_cast").get_arr()
    np.testing.assert_array_equal(found.astype(np.float32), wanted)


def test_memory_is_that_of_the_arrays(tmp_path):
    rng = np.random.default_rng(5)
    held = {f"w{i}": rng.standard_normal((700, 700)).astype(np.float32) for i in range(4)}
    nodes = [helper.make_node("MatMul", ["x" if i == 0 else f"h{i - 1}", f"w{i}"], [f"h{i}" if i < 3 else "y"]) for i in range(4)]
    path = tmp_path / "net.onnx"
    path.write_bytes(model(nodes, [value("x", shape=["batch", 700])], [value("y")], held).SerializeToString())
    size = os.path.getsize(path)
    del held
    tracemalloc.start()
    try:
        sd = SameDiff.import_onnx(path)
        assert tracemalloc.get_traced_memory()[1] < 2.2 * size
    finally:
        tracemalloc.stop()
    assert sd.outputs() == ["y"]


@pytest.mark.parametrize("change", ["cut", "length", "offset"])
def test_places_outside_of_the_file(tmp_path, change):
    path = tmp_path / "net.onnx"
    if change == "cut":
        path.write_bytes(large().SerializeToString()[:-1000])
    else:
        made = large()
        tensor = made.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, number in ((bulk.OWN, "1"), ("offset", "1000000000000" if change == "offset" else "0"), ("length", str(W.nbytes))):
            tensor.external_data.add(key=key, value=number)
        path.write_bytes(made.SerializeToString())
    with pytest.raises(FileFormatError):
        SameDiff.import_onnx(path)


def graph() -> SameDiff:
    sd = SameDiff.create()
    x = sd.placeholder("x", "FLOAT", -1, 300)
    x.mmul(sd.var("w", W)).add(sd.var("b", np.ones(200, np.float32))).rename("y")
    return sd


@pytest.mark.parametrize("external", [True, None])
def test_arrays_in_a_file_of_their_own(tmp_path, external, monkeypatch):
    if external is None:                                # too large for the model
        monkeypatch.setattr(exporting, "MOST_BYTES", (1 << 20) + 1000)
    path = tmp_path / "net.onnx"
    graph().export_onnx(path, ["y"], external_data=external)
    assert os.path.getsize(path) < 3000 and os.path.getsize(tmp_path / "net.onnx.data") >= W.nbytes
    found = {t.name: numpy_helper.to_array(t) for t in load(path).graph.initializer}       # as the package onnx reads it
    np.testing.assert_array_equal(found["w"], W)
    np.testing.assert_array_equal(SameDiff.import_onnx(path).get_variable("w").get_arr(), W)


def test_where_there_is_no_place_beside_the_model(monkeypatch, tmp_path):
    with pytest.raises(PathError, match="needs the path"):
        graph().export_onnx(None, ["y"], external_data=True)
    monkeypatch.setattr(exporting, "MOST_BYTES", (1 << 20) + 1000)
    with pytest.raises(LimitError, match="Give a path"):
        graph().export_onnx(None, ["y"])
    with pytest.raises(LimitError):
        graph().export_onnx(tmp_path / "net.onnx", ["y"], external_data=False)
