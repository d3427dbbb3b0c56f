"""Graphs from the tables of a graph file."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..base.spec import TensorSpec
from ..codecs.flatbuffers.array import decode_array
from ..codecs.flatbuffers.graph import FlatGraph, FlatNode, FlatVariable
from ..codecs.flatbuffers.reader import read_flat_graph
from ..codecs.flatbuffers.schema import VarType
from ..errors import DataTypeError, DL4PyError, FileFormatError, LimitError
from ..families.subgraph import SubGraph
from ..files.file_graph import more_outputs
from ..files.frame_reader import GIVEN, FrameReader, Item, part_of
from ..files.missing_function import MissingFunction, is_call
from ..files.missing_op import MissingOp
from ..files.nested_values import missing_classes
from ..files.node_args import OpNames, check_inputs, read_op, spread_inputs
from ..files.tensor_lists import with_flows
from ..ir.node import Node, needed
from ..ir.variable import VariableType
from .functions import FunctionsMixin

#: How deep functions may hold functions.
MOST_NESTED = 16


class GraphReader:
    """Fills an empty graph from a :class:`FlatGraph`."""

    def __init__(self, sd: FunctionsMixin, flat: FlatGraph, depth: int = 0) -> None:
        self.sd, self.flat, self.depth = sd, flat, depth
        self.names = OpNames()
        self.by_id = {(v.id.first, v.id.second): v.name for v in flat.variables if v.id is not None}
        for node in flat.nodes:  # variables may leave out their position among several outputs
            for i, name in enumerate(_outputs_in(node)):
                self.by_id[node.id, i] = name
        self.outputs = {n for node in flat.nodes for n in _outputs_in(node)}
        self.declared = {v.name: v for v in flat.variables}
        self.spare: set[str] = set()       # constants that only DL4J needs

    def read(self) -> None:
        """Read variables, nodes, losses and outputs into the graph."""
        for variable in self.flat.variables:
            if not variable.name:
                raise FileFormatError("a variable of the file has no name")
            if variable.variabletype != VarType.ARRAY and variable.name not in self.outputs:
                self._variable(variable)
        self._functions()
        self._nodes()
        read = {n for node in self.sd.nodes() for n in node.inputs} | {n for node in self.sd.nodes() for n in node.control}
        for name in self.spare - read - set(self.flat.loss_variables):
            if self.sd.has_variable(name) and self.sd.variable(name).is_constant():
                del self.sd.tables.variables[name], self.sd.tables.store[name]
        self._order()
        for name in self.flat.loss_variables:
            if not self.sd.has_variable(name):
                raise FileFormatError(f"loss variable {name!r} is no variable of the file")
        self.sd.tables.losses, self.sd.tables.losses_given = list(self.flat.loss_variables), bool(self.flat.loss_variables)
        self.sd.set_outputs(*self._listed_outputs())
        self.sd.tables.changed()

    def _listed_outputs(self) -> list[str]:
        pairs = [(p.first, p.second) for p in self.flat.outputs]
        for pair in pairs:
            if self.by_id.get(pair) not in self.sd.tables.variables:
                raise FileFormatError(f"output {pair} is no variable of the file")
        return [self.by_id[pair] for pair in pairs]

    def _variable(self, v: FlatVariable) -> None:
        try:
            kind = VarType(v.variabletype)
            dtype = DataType.from_code(v.dtype)
        except (ValueError, DataTypeError) as error:
            raise FileFormatError(f"variable {v.name!r}: {error}") from None
        array = None if v.ndarray is None else decode_array(v.ndarray, f"variable {v.name!r}")
        what = VariableType[kind.name]
        if self.sd.has_variable(v.name):
            raise FileFormatError(f"two variables are named {v.name!r}")
        if what is VariableType.SEQUENCE:
            items = self._sequence(v.name)
            self.sd.tables.add_variable(v.name, what, TensorSpec((-1, *items.shape[1:]), DataType.of(items)), items)
            return
        if what in (VariableType.VARIABLE, VariableType.CONSTANT):
            if array is None:
                raise FileFormatError(f"variable {v.name!r} has no array")
            if what is VariableType.VARIABLE and array.size == 0:
                what = VariableType.CONSTANT
            array = np.array(array, order="C")
            self.sd.tables.add_variable(v.name, what, TensorSpec(array.shape, DataType.of(array)), array)
            return
        shape = v.shape if v.shape is not None or array is None else tuple(array.shape)
        if shape == () and self.flat.configuration is not None:
            shape = None  # DL4J writes the same for a scalar and for an unknown rank
        self.sd.tables.add_variable(v.name, what, TensorSpec(None if shape is None else tuple(shape), dtype))
        if what is VariableType.PLACEHOLDER and array is not None:
            self.sd.set_array(v.name, array)

    def _sequence(self, name: str) -> Any:
        """The entries of a stored list, stacked."""
        items = [decode_array(a, f"sequence {name!r}") for s in self.flat.sequence_items if s.name == name for a in s.associated_variable]
        if not items or len({(a.shape, a.dtype) for a in items}) > 1:
            raise FileFormatError(f"sequence {name!r} needs arrays of one shape and type; the file has {[a.shape for a in items]}")
        return np.stack(items)

    def _functions(self) -> None:
        """The functions that the graph may call, each a graph of its own."""
        for one in self.flat.sub_instances:
            if self.depth >= MOST_NESTED:
                raise LimitError(f"function {one.name!r}: functions within functions are nested more than {MOST_NESTED} deep")
            made = type(self.sd)()
            try:
                GraphReader(made, read_flat_graph(one.serialized_data), self.depth + 1).read()
            except FileFormatError as error:
                raise type(error)(f"function {one.name!r}: {error}") from error
            self.sd.put_sub_function(one.name or "", made)

    # Nodes

    def _nodes(self) -> None:
        """Nodes in an order in which they can run; control flow becomes ops with sub-graphs."""
        if any(not (n.name or n.output_names) for n in self.flat.nodes):
            raise FileFormatError("a node of the file has neither a name nor outputs")
        items = [Item(n.name or n.output_names[0], self._inputs(n), _outputs_in(n), n) for n in self.flat.nodes]
        items = with_flows(items)
        if any(i.kind for i in items):
            items = FrameReader(items, self._cut).structured()
        self._add_all(self.sd, items)

    def _add_all(self, sd: FunctionsMixin, items: Sequence[Item]) -> None:
        waiting = dict(enumerate(items))
        missing = {i: {n for n in item.inputs if not sd.has_variable(n)} for i, item in waiting.items()}
        readers: dict[str, list[int]] = {}
        for i, names in missing.items():
            for name in names:
                readers.setdefault(name, []).append(i)
        ready = deque(i for i, names in missing.items() if not names)
        while waiting:
            i = ready.popleft() if ready else self._breaking(sd, waiting)
            item = waiting.pop(i)
            self._add(sd, item)
            for name in sd.tables.nodes[item.name].outputs:
                for j in readers.pop(name, ()):
                    missing[j].discard(name)
                    if j in waiting and not missing[j]:
                        ready.append(j)

    def _cut(self, around: FunctionsMixin, items: Sequence[Item], inputs: Sequence[tuple[str, str]], results: Sequence[str],
             varying: Mapping[str, TensorSpec]) -> SubGraph:
        """A sub-graph; constants that may be axes or shapes are copied into it."""
        sub = type(around)()
        for inside, outside in inputs:
            v = around.variable(outside)
            sub.tables.add_input(inside, varying.get(inside, v.spec))
        names = dict(inputs)
        copied = {i for i, o in inputs if i not in varying and (v := around.variable(o)).is_constant() and not v.dtype.is_floating}
        for name in copied:
            del sub.tables.variables[name]
            sub.tables.add_variable(name, VariableType.CONSTANT, around.variable(names[name]).spec, around.stored(names[name]))
        self._add_all(sub, items)
        kept = [n if n not in copied else n + GIVEN for n, _ in inputs]
        for name, (inside, outside) in zip(kept, inputs):
            if name != inside:
                v = around.variable(outside)
                sub.tables.add_input(name, v.spec)
        return SubGraph(sub, kept, results)

    def _inputs(self, node: FlatNode) -> list[str]:
        pairs = [(p.first, p.second) for p in node.input_paired] or [(i, 0) for i in node.input]
        names = []
        for pair in pairs:
            if pair not in self.by_id:
                raise FileFormatError(f"node {node.name!r}: input {pair} is no variable of the file")
            names.append(self.by_id[pair])
        return names

    def _breaking(self, sd: FunctionsMixin, waiting: dict[int, Item]) -> int:
        """The merge of a loop that was not understood: the first node that has some inputs and reads others back."""
        for i, item in waiting.items():
            if item.kind == "merge" and any(sd.has_variable(n) for n in item.inputs):
                return i
        stuck = ", ".join(repr(n.name) for n in list(waiting.values())[:5])
        lost = {n for item in waiting.values() for n in item.inputs} - self.outputs - set(self.declared)
        why = f"read unknown variables {sorted(lost)}" if lost else "depend on each other in a circle"
        raise FileFormatError(f"nodes {stuck} {why}")

    def _add(self, sd: FunctionsMixin, item: Item) -> None:
        node, names = item.flat, item.inputs
        later = tuple((i, n) for i, n in enumerate(names) if not sd.has_variable(n))
        given: tuple[str | None, ...] = tuple(names)
        if node is None:
            assert item.build is not None  # an item has one of the two
            op: Any = item.build(sd, names)
        elif later or (cls := self.names[node]) is None:
            op = (MissingFunction if is_call(node) else MissingOp)(node, later)
            given = tuple(n if sd.has_variable(n) else None for n in names)
        elif missing := missing_classes(node):        # the op is known, a configuration inside it is not
            op = MissingOp(node, missing_classes=missing)
        else:
            op = read_op(cls, node)
            check_inputs(op, node, len(names))
            given = spread_inputs(op, node, names)
            self.spare.update(set(names).difference(n for n in given if n))
        specs = [None if n is None else sd.tables.visible(sd.variable(n)) for n in given]
        try:
            inferred = op.infer(*specs)
        except DL4PyError as error:
            shown = ", ".join(f"{n} {s}" for n, s in zip(given, specs))
            raise type(error)(f"node {item.name!r} of the file (op {op.id!r}): {error}; inputs: {shown or 'none'}") from error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:  # attributes that no caller could give
            raise FileFormatError(f"node {item.name!r} of the file (op {op.id!r}) contradicts itself: {error}") from error
        found = inferred if isinstance(inferred, tuple) else (inferred,)
        outputs = list(item.outputs)
        if node is not None and len(outputs) - len(found) == len(more_outputs(op)):
            outputs = outputs[:len(found)]
        if len(found) < len(outputs):
            raise FileFormatError(f"node {item.name!r} (op {op.id!r}) has {len(outputs)} outputs in the file; the op has {len(found)}")
        outputs += [f"{outputs[0]}:{i}" for i in range(len(outputs), len(found))]
        if item.name in sd.tables.nodes:
            raise FileFormatError(f"two nodes are named {item.name!r}")
        sd.tables.put_node(Node(item.name, op, given, tuple(outputs), None), found)
        if isinstance(op, MissingFunction) and op.function in sd.defined_function_names():
            sd.bind_calls(op.function)

    def _order(self) -> None:
        """Control dependencies; variables and nodes in the order of the file."""
        from dataclasses import replace
        sd = self.sd
        for node in self.flat.nodes:
            first = [o for n in node.control_deps for o in _outputs_of(sd, n)] + [n for n in node.var_control_deps if sd.has_variable(n)]
            for name in (n for n in first if node.name in sd.tables.nodes and self._earlier(node, n)):
                mine = sd.tables.nodes[node.name]
                sd.tables.nodes[node.name] = replace(mine, control=(*mine.control, name))
        order = [*(v.name for v in self.flat.variables), *sd.tables.variables]
        sd.tables.variables = {n: sd.tables.variables[n] for n in dict.fromkeys(order) if n in sd.tables.variables}
        order = [*(part_of(f) or f.name for f in self.flat.nodes), *sd.tables.nodes]
        sd.tables.nodes = {n: sd.tables.nodes[n] for n in dict.fromkeys(order) if n in sd.tables.nodes}

    def _earlier(self, node: FlatNode, name: str) -> bool:
        return node.name not in {n.name for n in needed(self.sd.nodes(), [name])}


def _outputs_in(node: FlatNode) -> tuple[str, ...]:
    """The names of the outputs of a node of the file; one of its own name where the file does not tell."""
    return tuple(node.output_names) or (node.name,)


def _outputs_of(sd: FunctionsMixin, name: str) -> Iterable[str]:
    node = sd.tables.nodes.get(name)
    if node is not None:
        return node.outputs[:1]
    return [name] if sd.has_variable(name) else []
