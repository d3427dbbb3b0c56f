"""Graph files as text: what is written for graphs of every kind, field by field, and what graphs become when they are read.

``python -m tests.samediff.files.written_tables`` writes ``recorded/tables.txt``; what DL4J makes of such files is in ``tests/interop``.
"""
from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dl4py.samediff import DataType, InvokeParams, SameDiff
from dl4py.samediff.codecs.flatbuffers.array import decode_array
from dl4py.samediff.codecs.flatbuffers.graph import FlatArray, FlatNode, FlatProperties, IntPair, SequenceItem, UpdaterState
from dl4py.samediff.codecs.flatbuffers.properties import make_property, property_value
from dl4py.samediff.codecs.flatbuffers.reader import read_flat_graph
from dl4py.samediff.codecs.flatbuffers.schema import OpType
from dl4py.samediff.codecs.flatbuffers.writer import write_flat_graph
from dl4py.samediff.families.subgraph import SubGraph
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.training import Adam, TrainingConfig
from tests.samediff.files import test_frame_reader, test_frame_writer

HERE = Path(__file__).parent
RECORDED = HERE / "recorded" / "tables.txt"
FILES = [*(HERE.parents[1] / "golden" / "samediff" / "files").glob("*/graph.fb"), *(HERE / "recorded").glob("*.fb")]
OF_DL4J = {f"{p.parent.name if p.name == 'graph.fb' else p.stem} of DL4J": p for p in sorted(FILES)}


def control_dependencies() -> SameDiff:
    sd = SameDiff.create()
    x, w = sd.placeholder("x", DataType.FLOAT, -1, 2), sd.var("w", np.float32([1, 2]))
    a, b = sd.math.tanh("a", x), sd.math.exp("b", w)
    first, second = sd.split(["first", "second"], x, 2, 1)
    last = sd.math.add("last", a, b)
    last.add_control_dependency(first)
    last.add_control_dependency(w)
    sd.math.neg("after", last).add_control_dependency(second)
    b.add_control_dependency(x)
    return sd


def two_losses() -> SameDiff:
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.DOUBLE, -1, 2), sd.placeholder("y", DataType.DOUBLE, -1, 2)
    w, v = sd.var("w", np.array([[1.0, 2.0], [3.0, 4.0]])), sd.var("v", np.array([5.0]))
    out = sd.nn.softmax("out", x.mmul(w) * v)
    sd.loss.mean_squared_error("mse", y, out)
    w.norm2("size")
    sd.set_loss_variables("mse", "size")
    sd.set_outputs("out", "size")
    sd.set_training_config(TrainingConfig(Adam(0.1), data_set_feature_mapping="x", data_set_label_mapping="y"))
    sd.fit({"x": np.eye(2), "y": np.eye(2)})
    return sd


def left_out_inputs() -> SameDiff:
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, 2, 3, 4), sd.placeholder("y", DataType.FLOAT, 2)
    w, rw, c0 = (sd.var(n, np.ones(shape, np.float32)) for n, shape in (("w", (4, 8)), ("rw", (2, 8)), ("c0", (3, 2))))
    sd.add_op(OPS["lstm_sequence"](), [x, w, rw, None, None, None, c0, None], ["h", "c", "g", "s"])
    sd.loss.absolute_difference("loss", y, sd.var("z", np.ones(2, np.float32)), None)
    sd.gather("picked", x, [1, 0], 1)
    sd.linalg.svd(sd.var("m", np.eye(3, dtype=np.float32)), True, True)
    return sd


def lists_and_functions() -> SameDiff:
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, 3)
    array = sd.tensor_array(DataType.FLOAT)
    array.stack(array.write(array.write(array.var, 0, x), 1, x * 2)).rename("stacked")
    sd.create_sequence("items", [np.float32([1, 2]), np.float32([3, 4])])
    sd.define_function("scaled", lambda f, arrays, given: [given[0] * f.var("factor", np.float32(3))], [x])
    sd.invoke(["called"], InvokeParams("scaled", [x]))
    return sd


def unknown_ops() -> SameDiff:
    graph = read_flat_graph(control_dependencies().as_flat_buffers())
    told: dict[str, Any] = {"op_type": int(OpType.UDF), "op_num": 0, "op_name": "acme.unknown", "extra_integer": (4, 5),
                            "properties": (make_property("p", 2.5),)}
    nodes = tuple(dataclasses.replace(n, **told) if n.name == "add" else n for n in graph.nodes)
    return SameDiff.from_flat_buffers(write_flat_graph(dataclasses.replace(graph, nodes=nodes)))


def kinds_of_values() -> SameDiff:
    sd = SameDiff.create()
    for t in DataType:
        if t.is_numeric:
            sd.constant(f"c{t.name}", np.array([[0, 1], [1, 0]]).astype(t.numpy))
            sd.placeholder(f"p{t.name}", t, -1, 2)
    sd.constant("texts", np.array(["a", "βγ", ""], dtype=object))
    sd.constant("order", np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    sd.placeholder("any", DataType.FLOAT, None)
    sd.placeholder("scalar", DataType.FLOAT)
    sd.constant("empty", np.zeros((0, 3), np.float32))
    return sd


def scanned() -> SameDiff:
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, 4, 2)
    sd.scan(lambda sd, carry, xs: ([carry[0] + xs[0]], [carry[0] * xs[0]]), [sd.constant(np.float32([0, 0]))], [x])
    return sd


MADE: dict[str, Callable[[], SameDiff]] = {
    "control dependencies": control_dependencies, "two losses": two_losses, "left out inputs": left_out_inputs,
    "lists and functions": lists_and_functions, "unknown ops": unknown_ops, "kinds of values": kinds_of_values, "a scan": scanned,
    **{f"written {b.__name__}": (lambda b=b: test_frame_writer.graph(b)[0]) for b in test_frame_writer.BUILT},
    **{f"read {n}": make for n, (make, _) in test_frame_reader.CASES.items()},
}


def value_text(value: Any) -> str:
    """A field, shortly; arrays by type, shape and the first numbers."""
    if isinstance(value, FlatArray):
        return value_text(np.asarray(decode_array(value, "")))
    if isinstance(value, np.ndarray):
        first = [f"{v:.5g}" if isinstance(v, float) else str(v) for v in value.reshape(-1)[:6].tolist()]
        return f"{value.dtype}{value.shape} {' '.join(first)}"
    if isinstance(value, FlatProperties):
        return f"{value.name}:{value_text(property_value(value))}"
    if isinstance(value, IntPair):
        return f"{value.first}.{value.second}"
    if isinstance(value, SubGraph):
        return f"graph({', '.join(value.inputs)} -> {', '.join(value.outputs)}: {'; '.join(graph_lines(value.sd))})"
    if isinstance(value, (SequenceItem, UpdaterState, FlatNode)) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        return f"{type(value).__name__}({fields_text(value)})"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(value_text, value))}]"
    if isinstance(value, str):
        return value if len(value) < 1000 else f"{len(value)} letters, {zlib.crc32(value.encode()):08x}"
    return repr(getattr(value, "name", value))


def fields_text(table: Any) -> str:
    """The fields that differ from their defaults."""
    found = []
    for f in dataclasses.fields(table):
        value = getattr(table, f.name)
        if f.default is dataclasses.MISSING or not (type(value) is type(f.default) and value == f.default):
            found.append(f"{f.name}={value_text(value)}")
    return " ".join(found)


def table_lines(data: bytes) -> Iterator[str]:
    """The tables of a file."""
    graph = read_flat_graph(data)
    for f in dataclasses.fields(graph):
        value = getattr(graph, f.name)
        if isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
            yield from (f"{f.name}: {fields_text(one)}" for one in value)
        elif value not in ((), None, ""):
            yield f"{f.name}: {' '.join(value_text(value).split())}"


def graph_lines(sd: Any) -> Iterator[str]:
    """Variables and nodes of a graph."""
    for v in sd.variables():
        yield f"{v.get_variable_type().name} {v.name()} {v.dtype.name} {v.get_shape()}"
    for n in sd.nodes():
        values = ", ".join(f"{name}={value_text(getattr(n.op, name))}" for name in n.op.attribute_names())
        yield f"{n.name}: {', '.join(n.outputs)} = {n.op.id}({', '.join(map(str, n.inputs))}; {values}) after {', '.join(n.control)}"
    yield f"losses {sd.tables.losses} outputs {sd.tables.outputs}"


def written() -> dict[str, list[str]]:
    """By name of the graph: its tables, and what of the graph comes back."""
    return {heading: lines for name in (*MADE, *OF_DL4J) for heading, lines in both(name)}


def both(name: str) -> Iterator[tuple[str, list[str]]]:
    """What is written for a graph, and what comes of that when it is read."""
    sd = MADE[name]() if name in MADE else SameDiff.load(OF_DL4J[name])
    data = sd.as_flat_buffers()
    yield f"{name}, written", list(table_lines(data))
    yield f"{name}, read", list(graph_lines(SameDiff.from_flat_buffers(data) if name in MADE else sd))


def recorded() -> dict[str, list[str]]:
    """The same as it was written down."""
    found: dict[str, list[str]] = {}
    for part in RECORDED.read_text(encoding="utf-8").split("\n\n"):
        heading, *lines = part.strip("\n").split("\n")
        found[heading] = lines
    return found


if __name__ == "__main__":
    RECORDED.write_text("\n\n".join("\n".join([name, *lines]) for name, lines in written().items()) + "\n", encoding="utf-8")
