"""Calls of functions in graph files: the function in the file, given later, missing, or not fitting."""
from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.codecs.flatbuffers.graph import FlatGraph, FlatNode, SubInstance
from dl4py.samediff.codecs.flatbuffers.properties import make_property
from dl4py.samediff.codecs.flatbuffers.reader import read_flat_graph
from dl4py.samediff.codecs.flatbuffers.writer import write_flat_graph
from dl4py.samediff.codecs.op_hash import op_hash
from dl4py.samediff.errors import FileFormatError, GraphError, LimitError, MissingOpError
from dl4py.samediff.files.missing_function import MissingFunction, is_call

FILE = Path(__file__).parent / "recorded" / "invoke.fb"        # by DL4J 1.0.0-M2.1: res = f(x)
RECORDED = read_flat_graph(FILE.read_bytes())
FEEDS = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
NEWER: Any = {"metadata_keys": ("by",), "metadata_values": ("test",)}        # files with functions have metadata
EXPECTED = 3 * FEEDS["x"]


def triple() -> SameDiff:
    """What the recorded function computes, with a trainable factor."""
    f = SameDiff.create()
    factor = f.var("factor", np.float32(3))
    f.math.mul("out", f.placeholder("in", DataType.FLOAT, -1, 3), factor)
    return f


def with_functions(*functions: tuple[str, bytes], **properties: Any) -> bytes:
    """The recorded file with functions in it."""
    node = replace(RECORDED.nodes[0], properties=tuple(make_property(n, v) for n, v in properties.items()))
    return write_flat_graph(replace(RECORDED, nodes=(node,), **NEWER, sub_instances=tuple(SubInstance(n, d) for n, d in functions)))


def test_missing_function_says_what_to_do() -> None:
    sd = SameDiff.load(FILE)
    assert sd.missing_ops() == ["invoke"]
    with pytest.raises(MissingOpError, match=r"function 'invoke'.*put_sub_function\('invoke', graph\)"):
        sd.output(FEEDS, "res")


def test_function_given_later() -> None:
    sd = SameDiff.load(FILE)
    after = sd.math.neg("after", sd.variable("res"))
    sd.put_sub_function("invoke", triple())
    np.testing.assert_array_equal(sd.output(FEEDS, "res")["res"], EXPECTED)
    assert after.get_shape() == (-1, 3) and sd.missing_ops() == []
    sd.set_loss_variables(after.sum().name())
    np.testing.assert_allclose(sd.calculate_gradients(FEEDS, "invoke/factor")["invoke/factor"], -FEEDS["x"].sum(), rtol=1e-5)
    stream = io.BytesIO()
    sd.save(stream)
    stream.seek(0)
    np.testing.assert_array_equal(SameDiff.load(stream).output(FEEDS, "res")["res"], EXPECTED)


def test_function_that_does_not_fit_is_refused_and_forgotten() -> None:
    sd = SameDiff.load(FILE)
    two = SameDiff.create()
    two.math.add("out", two.placeholder("a", DataType.FLOAT, -1), two.placeholder("b", DataType.FLOAT, -1))
    with pytest.raises(GraphError, match=r"takes 2 inputs \(a, b\)"):
        sd.put_sub_function("invoke", two)
    assert sd.defined_function_names() == []
    sd.put_sub_function("invoke", triple())
    np.testing.assert_array_equal(sd.output(FEEDS, "res")["res"], EXPECTED)


def test_function_in_the_file() -> None:
    named = {"functionName": "f", "subGraphInputVarNames": ("in",), "subGraphOutputVarNames": ("out",)}
    sd = SameDiff.from_flat_buffers(with_functions(("f", triple().as_flat_buffers()), **named))
    assert sd.defined_function_names() == ["f"] and sd.has_variable("f/factor")
    np.testing.assert_array_equal(sd.output(FEEDS, "res")["res"], EXPECTED)
    other = SameDiff.from_flat_buffers(with_functions(("g", triple().as_flat_buffers()), **named))
    with pytest.raises(MissingOpError, match="function 'f'"):
        other.output(FEEDS, "res")


def test_broken_and_endless_functions_are_refused() -> None:
    with pytest.raises(FileFormatError, match="function 'f'"):
        SameDiff.from_flat_buffers(with_functions(("f", b"no graph at all")))
    data = write_flat_graph(FlatGraph())
    for _ in range(20):
        data = write_flat_graph(FlatGraph(**NEWER, sub_instances=(SubInstance("f", data),)))
    with pytest.raises(LimitError, match="deep"):
        SameDiff.from_flat_buffers(data)


@pytest.mark.parametrize(("told", "function", "inputs", "outputs"), [
    ({}, "n", (), ()), ({"functionName": "f"}, "f", (), ()), ({"functionName": ""}, "n", (), ()), ({"functionName": 3}, "n", (), ()),
    ({"subGraphInputVarNames": "x", "subGraphOutputVarNames": ("y", "z")}, "n", ["x"], ["y", "z"])])
def test_what_calls_tell(told: dict[str, Any], function: str, inputs: Any, outputs: Any) -> None:
    call = MissingFunction(FlatNode(name="n", properties=tuple(make_property(n, v) for n, v in told.items())))
    assert (call.function, call.names("inputs"), call.names("outputs")) == (function, inputs, outputs)
    named = MissingFunction(replace(call.raw, extra_strings=("g", "h")))
    assert named.function == (function if function == "f" else "g")


def test_names_that_are_none_are_refused() -> None:
    call = MissingFunction(FlatNode(name="n", properties=(make_property("subGraphOutputVarNames", (1, 2)),)))
    assert call.names("inputs") == ()
    with pytest.raises(FileFormatError, match=r"node 'n': the outputs of its function are no names: \[1, 2\]"):
        call.names("outputs")


@pytest.mark.parametrize(("flat", "calls"), [
    (FlatNode(op_name="invoke"), True), (FlatNode(op_num=op_hash("invoke")), True), (FlatNode(op_name="tanh", op_num=1), False)])
def test_which_nodes_are_calls(flat: FlatNode, calls: bool) -> None:
    assert is_call(flat) is calls
