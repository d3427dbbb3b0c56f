"""What goes into a graph file before it has numbers: nodes and variables by name, with what only DL4J needs added."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..codecs.default_args import MORE_OUTPUTS, WITH_SHAPE
from ..codecs.flat_graph import FlatNode
from ..codecs.flat_properties import make_property
from ..ir.core import GraphCore
from ..ir.node import Node
from ..ir.op import OPS, Op
from .missing_op import MissingOp
from .node_args import file_inputs, write_op


@dataclass
class Draft:
    """A node to be written: ``parts`` are the fields that tell its op."""

    name: str
    inputs: list[str]
    outputs: dict[str, DataType]
    parts: dict[str, Any]
    raw: FlatNode = field(default_factory=FlatNode)
    control: tuple[str, ...] = ()


@dataclass
class Drafts:
    """Nodes in order, and constants that the graph itself does not have."""

    taken: set[str]
    nodes: list[Draft] = field(default_factory=list)
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
        if node.op.id == "xw_plus_b" and not has_kernel(sd, node):
            self._product_and_sum(node, name, rename, outputs[0], sd.variable(node.outputs[0]).dtype)
            return
        types = {n: sd.variable(old).dtype for n, old in zip(outputs, node.outputs)}
        if isinstance(node.op, MissingOp):
            given = [dict(node.op.back).get(i, n) for i, n in enumerate(node.inputs)]
            self.nodes.append(Draft(name, [rename(n) for n in given if n is not None], types, {}, node.op.raw, node.control))
            return
        inputs = [None if n is None else rename(n) for n in node.inputs]
        first = next((sd.variable(n).dtype for n in node.inputs if n is not None), DataType.FLOAT)
        kept = tuple(n for n in inputs)
        added = added_inputs(node.op, node.inputs, first)
        for i, (what, value) in added.items():
            inputs[i:i + 1] = [self.constant(f"{name}/{what}", value)]
        for i, kind in enumerate(more_outputs(node.op), len(types)):
            types[self.unique(f"{outputs[0]}:{i}")] = DataType[kind] if kind else first
        parts = write_op(node.op, kept, first if first.is_numeric else DataType.FLOAT, bool(added))
        shape = sd.variable(node.inputs[0]).get_shape() if node.inputs and node.inputs[0] and node.op.id in WITH_SHAPE else None
        if shape is not None and -1 not in shape:
            parts["properties"] += (make_property("shape", list(shape), "l"),)
        self.nodes.append(Draft(name, file_inputs(node.op, tuple(inputs)), types, parts, control=node.control))

    def _product_and_sum(self, node: Node, name: str, rename: Callable[[str], str], output: str, dtype: DataType) -> None:
        """x W + b in two nodes, x W in one."""
        x, w, *bias = [rename(n) for n in node.inputs if n is not None]
        product = OPS["matmul"](transpose_x=node.op.transpose_x, transpose_y=node.op.transpose_w)  # type: ignore[attr-defined]  # it has them
        made = self.unique(f"{name}/product") if bias else output
        self.nodes.append(Draft(made if bias else name, [x, w], {made: dtype}, write_op(product, (x, w), dtype), control=node.control))
        if bias:
            self.nodes.append(Draft(name, [made, *bias], {output: dtype}, write_op(OPS["add"](), (made, *bias), dtype)))


def has_kernel(sd: GraphCore, node: Node) -> bool:
    """Whether DL4J's ``xw_plus_b`` does the same: its flags mean something else in each version, and it needs a vector to add."""
    op: Any = node.op
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    shape = None if bias is None else sd.variable(bias).get_shape()
    return shape is not None and len(shape) == 1 and not (op.transpose_x or op.transpose_w)


def more_outputs(op: Op) -> tuple[str | None, ...]:
    """Types of the outputs that only DL4J's kernel has."""
    return MORE_OUTPUTS.get(op.id, ()) if getattr(op, "compute_uv", True) else ()


def added_inputs(op: Op, inputs: Sequence[str | None], first: DataType) -> dict[int, tuple[str, Any]]:
    """Inputs that DL4J needs where our op leaves them out: name and value by position."""
    names = [n.strip("*?") for n in op.inputs.split()]
    if hasattr(op, "loss_reduce") and "weights" in names and inputs[names.index("weights")] is None:
        return {names.index("weights"): ("weights", np.ones((), first.numpy))}
    if op.id == "gather" and len(inputs) == 1:
        return {1: ("indices", np.array(op.indices, np.int32))}  # type: ignore[attr-defined]  # gather has them
    if op.id == "random_exponential" and not inputs:
        return {0: ("shape", np.array(op.shape, np.int64))}  # type: ignore[attr-defined]  # as here
    return {}
