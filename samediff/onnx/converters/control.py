"""Branches, loops and scans: operators that hold graphs."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...families.subgraph import GraphRecorder
from ..node import OnnxNode
from ..protos import names_used
from ..registry import onnx_converter
from ..values import Held


def results_of(node: OnnxNode, graph: Any, given: list[Any]) -> list[Any]:
    """The outputs of a graph inside of a node, for these inputs."""
    walk = node.walk
    walk.scopes.append({})
    try:
        walk.enter(graph, False)
        walk.scopes[-1].update((v.name, g) for v, g in zip(graph.input, given))
        walk.nodes(graph.node)
        return [walk.look_up(v.name) for v in graph.output]
    finally:
        walk.scopes.pop()


def _ready(node: OnnxNode, *graphs: Any) -> None:
    """Make the variables of known values from outside that the graphs use, before they are recorded."""
    for graph in graphs:
        for name in names_used(graph):
            for scope in reversed(node.walk.scopes):
                if name in scope:
                    if isinstance(scope[name], Held):
                        node.walk.variable(scope[name])
                    break


def _variables(node: OnnxNode, found: list[Any]) -> list[Any]:
    for value in found:
        if isinstance(value, list) or value is None:
            raise node.needed(0 if node.op_type == "If" else 1, "for results that are sequences or optional, the condition")
    return [node.walk.inner_variable(v) for v in found]


@onnx_converter("If", notes="results that are sequences only for a condition that is known while the graph is built")
def if_(node: OnnxNode, condition: Any) -> Any:
    """Either of two graphs, by a condition."""
    yes, no = node.get("then_branch"), node.get("else_branch")
    known = node.known(0)
    if known is not None:
        return tuple(results_of(node, yes if np.asarray(known).reshape(-1)[0] else no, []))
    _ready(node, yes, no)
    made = node.sd.if_cond(node.xp.reshape(condition, ()).variable, lambda sd: _variables(node, results_of(node, yes, [])),
                           lambda sd: _variables(node, results_of(node, no, [])))
    return tuple(made if isinstance(made, list) else [made])


@onnx_converter("Loop", notes="states that are arrays")
def loop(node: OnnxNode, most: Any = None, condition: Any = None, *state: Any) -> Any:
    """A graph that is repeated, as often as told or as long as a condition holds."""
    body, sd, xp = node.get("body"), node.sd, node.xp
    _ready(node, body)
    if any(isinstance(s, list) for s in state):
        return _unrolled(node, body, list(state))
    carried = len(state)
    scanned = len(body.output) - 1 - carried
    values = [node.inner(s) for s in state]
    counter, go_on = sd.constant(np.int64(0)), node.array(np.bool_(True)) if condition is None else xp.reshape(condition, ())
    begun = []
    if scanned:
        begun = _empty(node, body, [Held(np.asarray(0, np.int64)), go_on.variable, *values], carried)

    def again(sd: Any, v: list[Any]) -> Any:
        running = xp.wrap(v[1])
        if most is not None:
            running = running & (xp.wrap(v[0]) < xp.reshape(most, ()).astype(np.int64))
        return running.variable

    def turn(sd: Any, v: list[Any]) -> list[Any]:
        found = _variables(node, results_of(node, body, [v[0], v[1], *v[2:2 + carried]]))
        rows = [xp.concatenate([xp.wrap(kept), xp.expand_dims(xp.wrap(new), 0)], 0).variable
                for kept, new in zip(v[2 + carried:], found[1 + carried:])]
        still = xp.reshape(xp.wrap(found[0]), ()).variable
        same = [sd.call("base", "identity", f) if any(f is o for o in v) else f for f in (still, *found[1:1 + carried])]
        return [(xp.wrap(v[0]) + 1).variable, *same, *rows]

    made = sd.while_loop([counter, go_on.variable, *values, *begun], again, turn)
    return tuple(made[2:])


def _empty(node: OnnxNode, body: Any, given: list[Any], carried: int) -> list[Any]:
    """Arrays without rows, of the results of one iteration."""
    with GraphRecorder(node.sd) as recording:
        dummies = [v if isinstance(v, Held) else recording.dummy_input("state", v.spec) for v in given]
        specs = [node.walk.variable(v).spec for v in results_of(node, body, dummies)[1 + carried:]]
    made = []
    for spec in specs:
        if spec.shape is None:
            raise node.refuse("the rank of a result of each iteration is not known while the graph is built")
        made.append(node.sd.constant(np.zeros((0, *(max(n, 0) for n in spec.shape)), spec.dtype.numpy)))
    return made


def _unrolled(node: OnnxNode, body: Any, state: list[Any]) -> Any:
    """A loop over sequences, iteration by iteration."""
    count = int(np.asarray(node.value(0, "the number of iterations")).reshape(-1)[0])
    if not node.has(1):
        go_on = True
    else:
        go_on = bool(np.asarray(node.value(1, "the condition")).reshape(-1)[0])
    values = list(node.inputs[2:])
    scans: list[list[Any]] = [[] for _ in range(len(body.output) - 1 - len(state))]
    for i in range(count):
        if not go_on:
            break
        found = results_of(node, body, [Held(np.asarray(i, np.int64)), Held(np.asarray(True)), *values])
        again = node.walk.known(found[0])
        if again is None:
            raise node.refuse("a loop over sequences needs a condition that is known while the graph is built")
        go_on, values = bool(np.asarray(again).reshape(-1)[0]), found[1:1 + len(state)]
        for rows, new in zip(scans, found[1 + len(state):]):
            rows.append(node.xp.wrap(node.walk.variable(new)))
    return (*values, *(node.xp.stack(rows, 0) for rows in scans))


@onnx_converter("Scan", 9, notes="from version 9 on")
def scan(node: OnnxNode, *inputs: Any) -> Any:
    """A graph that is run for each element of sequences, passing states on."""
    body, count, xp = node.get("body"), node.get("num_scan_inputs"), node.xp
    _ready(node, body)
    carried = len(inputs) - count
    axes = node.get("scan_input_axes", [0] * count)
    back = node.get("scan_input_directions", [0] * count)
    rows = []
    for x, axis, direction in zip(inputs[carried:], axes, back):
        x = xp.moveaxis(x, axis % x.ndim, 0) if axis else x
        rows.append(node.inner(node.op("base.reverse", x, 0) if direction else x))

    def turn(sd: Any, state: list[Any], elements: list[Any]) -> tuple[list[Any], list[Any]]:
        found = [sd.call("base", "identity", v) for v in _variables(node, results_of(node, body, [*state, *elements]))]
        return found[:carried], found[carried:]

    last, results = node.sd.scan(turn, [node.inner(s) for s in inputs[:carried]], rows)
    made = []
    out_axes = node.get("scan_output_axes", [0] * len(results))
    for result, axis, direction in zip(results, out_axes, node.get("scan_output_directions", [0] * len(results))):
        y = xp.wrap(result)
        y = node.op("base.reverse", y, 0) if direction else y
        made.append(xp.moveaxis(y, 0, axis % y.ndim) if axis else y)
    return (*(xp.wrap(v) for v in last), *made)


