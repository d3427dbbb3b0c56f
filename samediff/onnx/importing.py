"""A whole model as a graph."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..base.names import first_free
from ..errors import GraphError, UnknownNameError, did_you_mean
from ..ir.variable import redeclare
from .model_files import model_of
from .walk import Walk


def fill(sd: Any, source: Any, dynamic_variables: Mapping[str, Any] | None, trainable: Callable[[str, Any], bool] | None) -> None:
    """Add the graph of an ONNX model to an empty one."""
    model, file = model_of(source)
    given = dict(dynamic_variables or {})
    names = [v.name for v in model.graph.input]
    for name in given:
        if name not in names:
            raise UnknownNameError(f"dynamic_variables: the ONNX model has no input {name!r}{did_you_mean(name, names)}; it has {names}")
    walk = Walk(sd, model, file, given, trainable)
    walk.enter(model.graph, True)
    walk.graph_inputs(model.graph)
    walk.nodes(model.graph.node)
    outputs = []
    for value in model.graph.output:
        found = walk.look_up(value.name)
        if isinstance(found, list):                     # a sequence: one output for each array
            for i, one in enumerate(found):
                outputs.append(_output(walk, f"{value.name}_{i}", one))
        elif found is not None:
            outputs.append(_output(walk, value.name, found))
    rename(sd, walk.names)
    sd.set_outputs(*outputs)


def _output(walk: Walk, name: str, found: Any) -> str:
    """The name of an output of the model, which has a variable of its own."""
    if isinstance(found, list):
        raise GraphError(f"output {name!r} of the ONNX model is a sequence of sequences; outputs of graphs are arrays")
    variable = walk.variable(found)
    if variable.name() != name and walk.names.get(variable.name()) != name:
        if variable.name() in walk.names or variable.get_variable_type().name == "PLACEHOLDER":
            variable = walk.sd.call("base", "identity", variable)
        walk.names[variable.name()] = name
    return name


def rename(sd: Any, wanted: dict[str, str]) -> None:
    """Give variables the names in the file, all at once; others that have one of these get out of the way."""
    tables = sd.tables
    wanted = {old: new for old, new in wanted.items() if old in tables.variables}
    taken = set(wanted.values())
    free = {*tables.variables, *tables.nodes, *taken}
    for old in list(tables.variables):
        if old in taken and old not in wanted:
            variable = tables.variables[old]
            if variable.get_variable_type().name == "PLACEHOLDER":
                continue
            wanted[old] = first_free(f"{old}_inner", lambda n: n in free)
            free.add(wanted[old])
    new = {n: wanted.get(n, n) for n in tables.variables}
    for old, variable in tables.variables.items():
        if new[old] != old:
            redeclare(variable, name=new[old])
    tables.variables = {new[n]: v for n, v in tables.variables.items()}
    tables.nodes = {k: replace(n, inputs=tuple(i if i is None else new[i] for i in n.inputs), outputs=tuple(new[o] for o in n.outputs))
                    for k, n in tables.nodes.items()}
    tables.producers = {new[n]: p for n, p in tables.producers.items()}
    for old in [n for n in tables.store if new.get(n, n) != n]:
        tables.store[f"\0{new[old]}"] = tables.store.pop(old)
    for name in [n for n in tables.store if n.startswith("\0")]:
        tables.store[name[1:]] = tables.store.pop(name)
    tables.names.released()
    tables.changed()
