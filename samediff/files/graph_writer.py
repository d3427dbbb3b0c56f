"""Graphs as the tables of a graph file."""
from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from ..datatype import DataType
from ..node import Node
from ..variable import SDVariable, VariableType
from .flat_array import encode_array
from .flat_graph import FlatGraph, FlatNode, FlatVariable, IntPair, SequenceItem, UpdaterState
from .flat_schema import VarType
from .missing_op import MissingOp
from .node_args import file_inputs, write_op

if TYPE_CHECKING:
    from ..graph import SameDiff


def flat_graph_of(sd: SameDiff, save_updater_state: bool) -> FlatGraph:
    """The tables of a graph.

    Ids count from 1: a given variable has its own, the outputs of a node share that of the node.
    """
    counter = itertools.count(1)
    ids: dict[str, int] = {}
    for v in sd.variables():
        node = sd.producer(v.name())
        key = v.name() if node is None else "\0" + node.name
        if key not in ids:
            ids[key] = next(counter)
    for node in sd.nodes():
        ids.setdefault("\0" + node.name, next(counter))
    later: dict[str, list[str]] = {}
    for node in sd.nodes():
        for n in node.control:
            later.setdefault(n, []).append(node.name)
    place = {v.name(): i for i, v in enumerate(sd.variables())}

    def pair(name: str) -> IntPair:
        node = sd.producer(name)
        return IntPair(ids[name]) if node is None else IntPair(ids["\0" + node.name], node.outputs.index(name))

    def flat_node(node: Node) -> FlatNode:
        if isinstance(node.op, MissingOp):
            inputs = [dict(node.op.back).get(i, name) for i, name in enumerate(node.inputs)]
            parts: dict[str, object] = {}
            raw = node.op.raw
        else:
            inputs = list(file_inputs(node.op, node.inputs))
            raw, parts = FlatNode(), write_op(node.op, node.inputs, _input_type(sd, node))
        first = [p.name for n in node.control if (p := sd.producer(n)) is not None]
        return replace(raw, **parts, id=ids["\0" + node.name], name=node.name,  # type: ignore[arg-type]
                       input=(), input_paired=tuple(pair(n) for n in inputs if n is not None),
                       output=tuple(place[n] for n in node.outputs), output_names=node.outputs,
                       output_types=tuple(max(sd.variable(n).dtype.code, 0) for n in node.outputs), device=-1, scope_name="",
                       control_deps=tuple(first), var_control_deps=tuple(n for n in node.control if sd.producer(n) is None),
                       control_dep_for=tuple(dict.fromkeys(o for n in node.outputs for o in later.get(n, ()))))

    config = sd.get_training_config()
    return FlatGraph(
        variables=tuple(_flat_variable(sd, v, pair(v.name())) for v in sd.variables()),
        nodes=tuple(flat_node(n) for n in sd.nodes()),
        outputs=tuple(pair(n) for n in getattr(sd, "_outputs", ()) if sd.has_variable(n)),
        placeholders=tuple(v.name() for v in sd.variables() if v.is_place_holder()),
        loss_variables=tuple(sd.get_loss_variables()),
        training_config=None if config is None else config.to_json(),
        updater_state=_states(sd) if save_updater_state else (),
        sequence_items=tuple(SequenceItem(v.name(), tuple(encode_array(a) for a in sd.stored(v.name())))
                             for v in sd.variables() if v.get_variable_type() is VariableType.SEQUENCE),
    )


def _flat_variable(sd: SameDiff, v: SDVariable, identity: IntPair) -> FlatVariable:
    kind = v.get_variable_type()
    flat = FlatVariable(identity, v.name(), max(v.dtype.code, 0), device=-1, variabletype=int(VarType[kind.name]))
    if kind in (VariableType.VARIABLE, VariableType.CONSTANT):
        return replace(flat, ndarray=encode_array(sd.stored(v.name())))
    if kind is VariableType.PLACEHOLDER:
        return replace(flat, shape=v.get_shape())
    return flat


def _input_type(sd: SameDiff, node: Node) -> DataType:
    first = next((sd.variable(n).dtype for n in node.inputs if n is not None), DataType.FLOAT)
    return first if first.is_numeric else DataType.FLOAT


def _states(sd: SameDiff) -> tuple[UpdaterState, ...]:
    return tuple(UpdaterState(name, tuple(state), tuple(encode_array(a) for a in state.values()))
                 for name, state in sd._updater_state().items() if sd.has_variable(name) and sd.variable(name).is_trainable())
