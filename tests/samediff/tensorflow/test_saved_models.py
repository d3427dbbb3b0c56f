"""SavedModels: functions, variables of both kinds of checkpoints, damaged files. All of it is written here, byte by byte."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import DL4PyError, FileFormatError, MissingOpError, UnsupportedVersionError
from dl4py.samediff.tensorflow.bundle import TensorBundle
from tests.samediff.tensorflow.checkpoints import write_bundle
from tests.samediff.tensorflow.graphs import called, function, node, part, placeholder, runs

X = np.random.default_rng(6).standard_normal((2, 3)).astype(np.float32)
W = np.random.default_rng(7).standard_normal((3, 2)).astype(np.float32)
B = np.float32([1, -1])


def saved(folder, nodes, outputs, functions=b"", inputs=None, name=b"serving_default"):
    def side(number, names):
        return b"".join(part(number, part(1, k.encode()) + part(2, part(1, v.encode()))) for k, v in names.items())
    graph = b"".join(part(1, n) for n in nodes) + (part(2, functions) if functions else b"")
    signature = part(1, name) + part(2, side(1, inputs or {"x": "in:0"}) + side(2, outputs))
    (folder / "saved_model.pb").write_bytes(part(1, 1) + part(2, part(2, graph) + part(5, signature)))
    return folder


def handle(name, shared=None):
    return node(name, "VarHandleOp", dtype=np.float32, **({"shared_name": shared} if shared else {}))


def of_functions(folder):
    """As Keras writes it: a call of a function with resources, which calls another one."""
    inner = function("dense", ["a", "w"], ["out"], [
        node("read", "ReadVariableOp", "w"), node("product", "MatMul", "a", "read:value:0", transpose_a=False, transpose_b=False)],
        {"out": "product:product:0"})
    outer = function("model", ["a", "w", "b"], ["both", "place"], [
        called("dense", "dense", "a", "w"), node("read", "ReadVariableOp", "b"), node("sum", "BiasAdd", "dense:output:0", "read:value:0"),
        node("k", "Const", value=np.asarray(1, np.int32)), node("top", "TopKV2", "sum:output:0", "k:output:0")],
        {"both": "sum:output:0", "place": "top:indices:0"})
    keys = {f"dense/{n}": f"layer/{n}/.ATTRIBUTES/VARIABLE_VALUE" for n in ("kernel", "bias")}
    objects = b"".join(part(1, part(2, part(1, b"VARIABLE_VALUE") + part(2, n.encode()) + part(3, k.encode()))) for n, k in keys.items())
    write_bundle(folder / "variables" / "variables", dict(zip(keys.values(), (W, B))), {"_CHECKPOINTABLE_OBJECT_GRAPH": objects})
    nodes = [placeholder("in"), handle("w", "dense/kernel"), handle("b", "dense/bias"), called("call", "model", "in", "w", "b")]
    return saved(folder, nodes, {"sum": "call:0", "place": "call:1"}, inner + outer)


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


def test_functions_and_variables(tmp_path):
    for source in (of_functions(tmp_path), tmp_path / "saved_model.pb", str(tmp_path)):
        sd = SameDiff.import_frozen_tf(source)
        assert sd.inputs() == ["x"] and {"sum", "place"} <= set(sd.outputs())
        found = sd.output({"x": X}, "sum", "place")
        np.testing.assert_allclose(found["sum"], X @ W + B, 1e-5, 1e-6)
        np.testing.assert_array_equal(found["place"], np.argmax(X @ W + B, 1)[:, None])


def test_variables_of_tensorflow_1(tmp_path):
    write_bundle(tmp_path / "variables" / "variables", {"w": W})
    nodes = [placeholder("in"), node("w", "VariableV2", dtype=np.float32, shape=(3, 2)), node("w/read", "Identity", "w"),
             node("y", "MatMul", "in", "w/read", transpose_a=False, transpose_b=False),
             node("unused", "RestoreV2", "in")]
    sd = SameDiff.import_frozen_tf(saved(tmp_path, nodes, {"out": "y:0"}))
    np.testing.assert_allclose(sd.output_single({"x": X}, "out"), X @ W, 1e-5, 1e-6)


def test_names_of_the_signature_are_free(tmp_path):
    """Nodes that have the name of an input or output get another one; an output may be read by others, or be an input."""
    nodes = [placeholder("in"), node("x", "Neg", "in"), node("y", "Exp", "x"), node("kept", "Abs", "y"), node("z", "Sqrt", "kept")]
    sd = SameDiff.import_frozen_tf(saved(tmp_path, nodes, {"y": "z:0", "kept": "kept:0", "same": "in:0"}))
    assert sd.inputs() == ["x"] and sd.outputs() == ["y", "kept", "same"]
    found = sd.output({"x": X}, *sd.outputs())
    for name, wanted in {"y": np.sqrt(np.exp(-X)), "kept": np.exp(-X), "same": X}.items():
        np.testing.assert_allclose(found[name], wanted, 1e-5)


def test_other_signatures(tmp_path):
    """A file may hold several graphs with signatures of their own."""
    files = []
    for name, operator in ((b"serving_default", "Neg"), (b"spread", "Exp")):
        saved(tmp_path, [placeholder("in"), node("y", operator, "in")], {"out": "y:0"}, name=name)
        files.append((tmp_path / "saved_model.pb").read_bytes())
    (tmp_path / "saved_model.pb").write_bytes(b"".join(files))
    for name, expected in (("serving_default", -X), ("spread", np.exp(X))):
        np.testing.assert_allclose(SameDiff.import_frozen_tf(tmp_path, signature=name).output_single({"x": X}, "out"), expected, 1e-6)
    with pytest.raises(FileFormatError, match=r"no signature 'other'; it has \['serving_default'\]"):
        SameDiff.import_frozen_tf(tmp_path, signature="other")


def test_a_loop_that_reads_variables(tmp_path):
    """Its graphs take them from outside."""
    one, two = (np.asarray(n, np.int32) for n in (1, 2))
    test = function("test", ["i", "v", "w"], ["o"], [node("n", "Const", value=two), node("m", "Less", "i", "n:output:0")], {"o": "m:z:0"})
    step = function("step", ["i", "v", "w"], ["j", "u", "x"], [
        node("one", "Const", value=one), node("more", "AddV2", "i", "one:output:0"), node("read", "ReadVariableOp", "w"),
        node("m", "MatMul", "v", "read:value:0", transpose_a=False, transpose_b=False)], {"j": "more:z:0", "u": "m:product:0", "x": "w"})
    square = W @ W.T
    write_bundle(tmp_path / "variables" / "variables", {"w": square})
    nodes = [placeholder("in"), handle("w"), node("zero", "Const", value=np.asarray(0, np.int32)),
             runs("loop", "While", "zero", "in", "w", cond="test", body="step")]
    sd = SameDiff.import_frozen_tf(saved(tmp_path, nodes, {"out": "loop:1"}, test + step))
    np.testing.assert_allclose(sd.output_single({"x": X}, "out"), X @ square @ square, 1e-4, 1e-5)


def test_what_is_not_there(tmp_path):
    with pytest.raises(FileFormatError, match="no signature"):
        (tmp_path / "saved_model.pb").write_bytes(part(1, 1) + part(2, part(2, b"")))
        SameDiff.import_frozen_tf(tmp_path)
    with pytest.raises(MissingOpError, match="the function 'gone'"):
        SameDiff.import_frozen_tf(saved(tmp_path, [placeholder("in"), called("call", "gone", "in")], {"y": "call:0"}))
    write_bundle(tmp_path / "variables" / "variables", {"v": W})
    with pytest.raises(FileFormatError, match="no values of the variable 'w'"):
        SameDiff.import_frozen_tf(saved(tmp_path, [handle("w"), node("y", "ReadVariableOp", "w")], {"y": "y:0"}, inputs={}))


def test_damaged_checkpoints(tmp_path):
    prefix = tmp_path / "variables" / "variables"
    write_bundle(prefix, {"a": W, "b": B, "c": B})
    bundle = TensorBundle(str(prefix))
    assert (bundle.array("a") == W).all() and list(bundle.entries) == ["a", "b", "c"]
    index, data = (prefix.with_name(f"variables.{end}") for end in ("index", "data-00000-of-00001"))
    good = index.read_bytes()
    whole = data.read_bytes()
    data.write_bytes(whole[:-4])
    with pytest.raises(FileFormatError, match="which are not there"):
        bundle.array("c")
    for at in range(0, len(good) * 8, 5):
        damaged = bytearray(good)
        damaged[at // 8] ^= 1 << at % 8
        index.write_bytes(damaged)
        try:
            found = TensorBundle(str(prefix))
            for name in found.entries:
                found.array(name)
        except DL4PyError:
            pass
    write_bundle(prefix, {"a": W}, compressed=True)
    with pytest.raises(UnsupportedVersionError, match="compressed"):
        TensorBundle(str(prefix))
