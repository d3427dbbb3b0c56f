"""Graphs as the tables of a graph file."""
from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..base.datatype import DataType
from ..codecs.flatbuffers.array import encode_array
from ..codecs.flatbuffers.graph import FlatGraph, FlatNode, FlatVariable, IntPair, SequenceItem
from ..codecs.flatbuffers.schema import VarType
from ..ir.core import GraphCore
from ..ir.variable import SDVariable, VariableType
from .file_graph import FileGraph, FileNode
from .frame_writer import add_nodes


def flat_graph_of(sd: GraphCore, own_form: bool = False) -> FlatGraph:
    """The tables of a graph, without its training.

    Ids count from 1: a given variable has its own, the outputs of a node share that of the node. With ``own_form`` branches
    and loops stay single nodes, which DL4J cannot read.
    """
    file = FileGraph({*sd.tables.variables, *(n.name for n in sd.nodes())})
    add_nodes(file, sd, sd.nodes(), own_form=own_form)
    producers = {n: (node, i) for node in file.nodes for i, n in enumerate(node.outputs)}
    variables = [_flat_variable(sd, v) for v in sd.variables()]
    known = {v.name for v in variables}
    variables += [replace(_EMPTY, name=n, dtype=t.code, variabletype=int(VarType.ARRAY))
                  for node in file.nodes for n, t in node.outputs.items() if n not in known]
    variables += [replace(_EMPTY, name=n, dtype=DataType.of(a).code, variabletype=int(VarType.CONSTANT), ndarray=encode_array(a))
                  for n, a in file.constants.items()]
    ids = _ids(variables, producers)
    place = {v.name: i for i, v in enumerate(variables)}
    later: dict[str, list[str]] = {}
    for node in sd.nodes():
        for n in node.control:
            later.setdefault(n, []).append(node.name)

    def pair(name: str) -> IntPair:
        node, i = producers.get(name, (None, 0))
        return IntPair(ids[name]) if node is None else IntPair(ids["\0" + node.name], i)

    def flat_node(node: FileNode) -> FlatNode:
        first = [producers[n][0].name for n in node.control if n in producers]
        return replace(node.raw, **node.parts, id=ids["\0" + node.name], name=node.name,
                       input=(), input_paired=tuple(map(pair, node.inputs)),
                       output=tuple(place[n] for n in node.outputs), output_names=tuple(node.outputs),
                       output_types=tuple(max(t.code, 0) for t in node.outputs.values()), device=-1, scope_name="",
                       control_deps=tuple(first), var_control_deps=tuple(n for n in node.control if n not in producers),
                       control_dep_for=tuple(dict.fromkeys(o for n in node.outputs for o in later.get(n, ()))))

    return FlatGraph(
        variables=tuple(replace(v, id=pair(v.name)) for v in variables),
        nodes=tuple(map(flat_node, file.nodes)),
        outputs=tuple(pair(n) for n in sd.tables.outputs),
        placeholders=tuple(v.name() for v in sd.variables() if v.is_place_holder()),
        sequence_items=tuple(SequenceItem(v.name(), tuple(encode_array(a) for a in sd.stored(v.name())))
                             for v in sd.variables() if v.get_variable_type() is VariableType.SEQUENCE),
    )


def _ids(variables: Sequence[FlatVariable], producers: Mapping[str, tuple[FileNode, int]]) -> dict[str, int]:
    """Numbers of variables by name, of nodes by name after a NUL."""
    counter = itertools.count(1)
    ids: dict[str, int] = {}
    for v in variables:
        key = "\0" + producers[v.name][0].name if v.name in producers else v.name
        if key not in ids:
            ids[key] = next(counter)
    return ids


_EMPTY = FlatVariable(device=-1)


def _flat_variable(sd: GraphCore, v: SDVariable) -> FlatVariable:
    kind = v.get_variable_type()
    flat = replace(_EMPTY, name=v.name(), dtype=max(v.dtype.code, 0), variabletype=int(VarType[kind.name]))
    if kind in (VariableType.VARIABLE, VariableType.CONSTANT):
        return replace(flat, ndarray=encode_array(sd.stored(v.name())))
    if kind is VariableType.PLACEHOLDER:
        return replace(flat, shape=v.get_shape())
    return flat
