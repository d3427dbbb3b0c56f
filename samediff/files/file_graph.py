"""A graph on its way into a file: nodes and variables by name, before they have numbers, with what only DL4J needs added."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..base.datatype import DataType
from ..codecs.file_args import FileStep
from ..codecs.flatbuffers.graph import FlatNode
from ..ir.core import GraphCore
from ..ir.node import Node
from ..ir.op import Op
from .missing_op import MissingOp
from .node_args import file_args, file_fields, file_inputs, input_names, write_op


@dataclass
class FileNode:
    """A node to be written: ``parts`` are the fields that tell its op."""

    name: str
    inputs: list[str]
    outputs: dict[str, DataType]
    parts: dict[str, Any]
    raw: FlatNode = field(default_factory=FlatNode)
    control: tuple[str, ...] = ()


@dataclass
class FileGraph:
    """Nodes in order, and constants that the graph itself does not have."""

    taken: set[str]
    nodes: list[FileNode] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)

    def unique(self, name: str) -> str:
        """A name that nothing else has."""
        found, i = name, 0
        while found in self.taken:
            i += 1
            found = f"{name}_{i}"
        self.taken.add(found)
        return found

    def constant(self, name: str, value: Any) -> str:
        """Add a constant; its name."""
        name = self.unique(name)
        self.constants[name] = value
        return name

    def add(self, sd: GraphCore, node: Node, name: str, rename: Callable[[str], str], outputs: Sequence[str]) -> None:
        """Add a node of ``sd`` under other names."""
        there = [n for n in node.inputs if n is not None]
        steps = file_args(type(node.op)).in_steps(node.op, [sd.variable(n).get_shape() for n in there])
        if steps is not None:
            self._in_steps(steps, [rename(n) for n in there], name, outputs[0], sd.variable(node.outputs[0]).dtype, node.control)
            return
        types = {n: sd.variable(old).dtype for n, old in zip(outputs, node.outputs)}
        if isinstance(node.op, MissingOp):
            given = [dict(node.op.back).get(i, n) for i, n in enumerate(node.inputs)]
            self.nodes.append(FileNode(name, [rename(n) for n in given if n is not None], types, {}, node.op.raw, node.control))
            return
        inputs = [None if n is None else rename(n) for n in node.inputs]
        first = next((sd.variable(n).dtype for n in node.inputs if n is not None), DataType.FLOAT)
        shape = sd.variable(node.inputs[0]).get_shape() if node.inputs and node.inputs[0] else None
        shape = None if shape is None or -1 in shape else shape
        fields = file_fields(node.op, inputs, shape)
        kept = tuple(inputs)
        added = file_args(type(node.op)).added_inputs(fields, first)
        for left_out, (what, value) in added.items():
            i = input_names(node.op).index(left_out)
            inputs[i:i + 1] = [self.constant(f"{name}/{what}", value)]
        for i, kind in enumerate(more_outputs(node.op), len(types)):
            types[self.unique(f"{outputs[0]}:{i}")] = DataType[kind] if kind else first
        parts = write_op(node.op, kept, first if first.is_numeric else DataType.FLOAT, bool(added), shape)
        self.nodes.append(FileNode(name, file_inputs(node.op, tuple(inputs)), types, parts, control=node.control))

    def _in_steps(self, steps: Sequence[FileStep], inputs: Sequence[str], name: str, output: str, dtype: DataType,
                  control: tuple[str, ...]) -> None:
        """Add several nodes for one; the last has its name and gives its output."""
        made: dict[str, str] = {}
        for step in steps:
            given = [inputs[n] if isinstance(n, int) else made[n] for n in step.inputs]
            last = step is steps[-1]
            made[step.name] = output if last else self.unique(f"{name}/{step.name}")
            self.nodes.append(FileNode(name if last else made[step.name], given, {made[step.name]: dtype},
                                    write_op(step.op, tuple(given), dtype), control=control if step is steps[0] else ()))


def more_outputs(op: Op) -> tuple[str | None, ...]:
    """Types of the outputs that only DL4J's kernel has."""
    return file_args(type(op)).further_outputs(file_fields(op, ()))
