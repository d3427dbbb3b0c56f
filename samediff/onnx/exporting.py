"""A whole graph as an ONNX model."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.spec import Shape, TensorSpec
from ..codecs.atomic_files import atomic_write, write_file
from ..codecs.regular_files import path_of
from ..errors import DataTypeError, LimitError, MissingOpError, MissingPackageError, PathError, ShapeError
from ..ir.variable import SDVariable
from . import exporters as _exporters  # noqa: F401 - fills the table
from .export_graph import Block, Value, WrittenNode
from .export_nodes import OpWriter
from .export_table import IR_VERSION, OPSET
from .values import CODES

MOST_BYTES = (1 << 31) - 1            # what the encoding of such files can hold


def export(sd: Any, target: Any, outputs: Sequence[str], shapes: Mapping[str, Sequence[int]] | None = None, one_batch: bool = False,
           external_data: bool | None = None) -> Any:
    """The model of a graph, written to ``target`` unless that is None; ``one_batch``: the first sizes of all inputs are one.

    ``external_data``: whether large arrays go into a file beside it; None: where the model would be too large without.
    """
    path = None if target is None or hasattr(target, "write") else path_of(target)
    if external_data and path is None:
        raise PathError("external_data=True needs the path of the model, beside which the arrays are written")
    beside = _Beside(os.path.basename(path) + ".data", external_data) if path is not None and external_data is not False else None
    with sd.gate:                       # a whole number of steps
        model = model_of_graph(sd, list(outputs), dict(shapes or {}), one_batch, beside)
        if beside is not None and path is not None:
            beside.write(os.path.join(os.path.dirname(path), beside.name))
    if target is None:
        return model
    data = model.SerializeToString()
    if path is None:
        target.write(data)
    else:
        write_file(path, data)
    return model


class _Beside:
    """Arrays in a file of their own, one behind the other, each at the begin of a page.

    Parameters
    ----------
    name : str
        Of the file.
    wanted : bool, optional
        Whether there is to be one; None: where the arrays are too large for the model.
    """

    PAGE, LEAST = 4096, 1024

    def __init__(self, name: str, wanted: bool | None) -> None:
        self.name, self.wanted = name, wanted
        self.arrays: list[tuple[int, Any]] = []
        self.end = 0

    def taken(self, array: Any) -> tuple[int, int] | None:
        """Place and length of an array that has been taken; None for small ones."""
        if not self.wanted or array.nbytes < self.LEAST:
            return None
        start = -(-self.end // self.PAGE) * self.PAGE
        self.arrays.append((start, array))
        self.end = start + array.nbytes
        return start, array.nbytes

    def write(self, path: str) -> None:
        """Write the file, where there is something in it."""
        if not self.arrays:
            return
        with atomic_write(path) as stream:
            for start, array in self.arrays:
                stream.seek(start)
                stream.write(_little(array).reshape(-1).view(np.uint8))


def model_of_graph(sd: Any, outputs: list[str], shapes: dict[str, Sequence[int]], one_batch: bool = False,
                   beside: _Beside | None = None) -> Any:
    """The ModelProto of what ``outputs`` need.

    Raises
    ------
    MissingOpError
        Some ops ONNX cannot say; the text names all of them.
    """
    try:
        from onnx import helper
    except ImportError:
        raise MissingPackageError("exporting ONNX models needs the package onnx: pip install onnx (or dl4py[onnx])") from None
    names = [v.name() if isinstance(v, SDVariable) else v for v in outputs]
    writer = OpWriter([*sd.variable_names(), *(f"{n}_size" for n in sd.inputs())])
    inputs, scope = _inputs(sd, shapes), {}
    for name, spec in inputs.items():
        scope[name] = Value(name, spec)
    stored = [v for v in sd.variables() if v.get_variable_type().name == "VARIABLE"]
    for v in stored:
        scope[v.name()] = Value(v.name(), TensorSpec(tuple(sd.stored(v.name()).shape), v.dtype))
    scope = writer.run(sd, names, scope)
    if writer.refused:
        lines = "".join(f"\n  {where}: {why}" for where, why in writer.refused.items())
        raise MissingOpError(f"ONNX cannot say {len(writer.refused)} of the ops of this graph; nothing was written. {_HINT}{lines}")
    results = _named(writer, scope, names, set(inputs) | {v.name() for v in stored})
    read = _read(writer.nodes) | set(results)
    arrays = {n: np.asarray(sd.stored(n)) for n in (v.name() for v in stored) if n in read} | {
        n: a for n, a in writer.initializers.items() if n in read}
    if beside is not None and beside.wanted is None:
        beside.wanted = _size(arrays) > MOST_BYTES - (1 << 20)
    if beside is None or not beside.wanted:
        _check_size(arrays)
    given = {n: s for n, s in inputs.items() if n in read or not sd.consumers(n)}
    one_batch = one_batch or sum((s.shape or (0,))[0] == -1 for s in given.values()) == 1
    graph = helper.make_graph(
        [_node(n) for n in writer.nodes], "dl4py", [_info(n, s, _sizes(n, s, one_batch)) for n, s in given.items()],
        [_info(n, results[n], _sizes("", results[n])) for n in names], [_tensor(a, n, beside) for n, a in arrays.items()])
    sets = [helper.make_opsetid("", OPSET), *(helper.make_opsetid(d, v) for d, v in writer.domains.items())]
    return helper.make_model(graph, opset_imports=sets, ir_version=IR_VERSION, producer_name="dl4py")


_HINT = "Leave them out by outputs=, or register how they are written with onnx_exporter:"


def _inputs(sd: Any, shapes: dict[str, Sequence[int]]) -> dict[str, TensorSpec]:
    """The placeholders, in the shapes that are asked for."""
    found = {}
    for v in sd.placeholders():
        shape: Shape | None = v.spec.shape
        if v.name() in shapes:
            shape = tuple(int(n) for n in shapes.pop(v.name()))
            if not v.spec.accepts(shape) and not TensorSpec(shape, v.dtype).accepts(v.spec.shape or ()):
                raise ShapeError(f"shapes: placeholder {v.name()!r} has the shape {v.spec.shape}; got {shape}")
        found[v.name()] = TensorSpec(shape, v.dtype)
    for name in shapes:
        sd.variable(name)           # an unknown name is an error of its own
        raise ShapeError(f"shapes: {name!r} is no placeholder")
    return found


def _named(writer: OpWriter, scope: Mapping[str, Value], names: list[str], given: set[str]) -> dict[str, TensorSpec]:
    """Give outputs the names that they have in the graph; their specs by name."""
    renamed: dict[str, str] = {}
    results = {}
    for name in names:
        value = scope[name]
        results[name] = value.spec
        if name in given:
            continue
        if value.name in given or value.name in renamed or value.known is not None:
            writer.nodes.append(WrittenNode("Identity", (renamed.get(value.name, writer.name(value)),), (name,), {}))
        else:
            renamed[value.name] = name
    _rename(writer.nodes, renamed)
    return results


def _rename(nodes: Sequence[WrittenNode], names: Mapping[str, str]) -> None:
    for node in nodes:
        node.inputs = tuple(names.get(n, n) for n in node.inputs)
        node.outputs = tuple(names.get(n, n) for n in node.outputs)
        for block in _blocks(node):
            _rename(block.nodes, names)


def _blocks(node: WrittenNode) -> list[Block]:
    return [a for a in node.attributes.values() if isinstance(a, Block)]


def _read(nodes: Sequence[WrittenNode]) -> set[str]:
    """Names that nodes read, those in blocks too."""
    found: set[str] = set()
    for node in nodes:
        found.update(node.inputs)
        for block in _blocks(node):
            found |= _read(block.nodes)
    return found


def _size(arrays: Mapping[str, Any]) -> int:
    return sum(a.nbytes for a in arrays.values())


def _check_size(arrays: Mapping[str, Any]) -> None:
    total = _size(arrays)
    if total > MOST_BYTES - (1 << 20):
        largest = max(arrays, key=lambda n: arrays[n].nbytes)
        raise LimitError(f"the arrays of this graph take {total:,} bytes (the largest is {largest!r} with {arrays[largest].nbytes:,}); "
                         f"a file of ONNX holds {MOST_BYTES:,}. Give a path, beside which they are written as a file of their own")


# Protobuf messages

def _node(node: WrittenNode) -> Any:
    from onnx import helper
    attributes = {k: _block(v) if isinstance(v, Block) else v for k, v in node.attributes.items()}
    return helper.make_node(node.operator, list(node.inputs), list(node.outputs), node.outputs[0], domain=node.domain or None, **attributes)


def _block(block: Block) -> Any:
    from onnx import helper
    inputs, outputs = ([_inner(v) for v in values] for values in (block.inputs, block.outputs))
    return helper.make_graph([_node(n) for n in block.nodes], "block", inputs, outputs)


def _inner(value: Value) -> Any:
    from onnx import helper
    return helper.make_tensor_value_info(value.name, CODES[value.dtype], _sizes("", value.spec))


def _info(name: str, spec: TensorSpec, sizes: list[int | str | None] | None) -> Any:
    from onnx import helper
    if spec.dtype not in CODES:
        raise DataTypeError(f"{name!r} is of type {spec.dtype.name}, which ONNX does not have")
    return helper.make_tensor_value_info(name, CODES[spec.dtype], sizes)


def _sizes(name: str, spec: TensorSpec, one_batch: bool = False) -> list[int | str | None] | None:
    """The sizes; an open one has the name of its input and axis, as runtimes take equal names for equal sizes."""
    if spec.shape is None:
        return None
    named = [("batch" if i == 0 and one_batch else f"{name}_size{i}") if name else None for i in range(len(spec.shape))]
    return [named[i] if n == -1 else n for i, n in enumerate(spec.shape)]


def _tensor(array: Any, name: str, beside: _Beside | None) -> Any:
    from onnx import TensorProto
    kind = next(code for t, code in CODES.items() if t.numpy == array.dtype)
    made = TensorProto(name=name, data_type=kind, dims=array.shape)
    place = None if beside is None else beside.taken(array)
    if place is None or beside is None:
        made.raw_data = _little(array).tobytes()
        return made
    made.data_location = TensorProto.EXTERNAL
    for key, value in (("location", beside.name), ("offset", place[0]), ("length", place[1])):
        made.external_data.add(key=key, value=str(value))
    return made


def _little(array: Any) -> Any:
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
