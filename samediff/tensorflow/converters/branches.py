"""Branches and loops whose graphs are functions."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...onnx.node import OnnxNode
from ...onnx.values import DEAD
from ..functions import TensorFlowGraph
from ..placing import PASSING, place
from ..repeating import ready, repeated
from .table import tensorflow


def results_of(node: OnnxNode, graph: TensorFlowGraph, given: list[Any]) -> list[Any]:
    """What a graph gives for these inputs."""
    walk = node.walk
    walk.scopes.append(dict(zip(graph.input, given)))
    try:
        for inner in graph.node:
            place(walk, inner)
        return [walk.look_up(name) for name in graph.output]
    finally:
        walk.scopes.pop()


def _chosen(node: OnnxNode, condition: Any, yes: Any, no: Any) -> list[Any]:
    """The results of either of two functions, by a condition of the graph."""
    def recorded(results: Any) -> Any:
        def build(sd: Any) -> list[Any]:
            found = results()
            if any(isinstance(v, list) or v is DEAD for v in found):
                raise node.needed(0, "for results that are lists of arrays, the condition")
            return [sd.call("base", "identity", node.walk.inner_variable(v)) for v in found]
        return build

    ready(node.walk, node.inputs)
    made: list[Any] = node.sd.if_cond(node.inner(node.xp.reshape(condition, ())), recorded(yes), recorded(no))
    return made


@tensorflow("If", "StatelessIf")
def if_(node: OnnxNode, condition: Any, *xs: Any) -> Any:
    """Either of two graphs; a condition that is no truth value holds where it is not 0."""
    def yes() -> list[Any]:
        return results_of(node, node.get("then_branch"), node.inputs[1:])

    def no() -> list[Any]:
        return results_of(node, node.get("else_branch"), node.inputs[1:])

    known = node.known(0)
    if known is not None:
        return tuple(yes() if np.asarray(known).any() else no())
    return tuple(_chosen(node, condition if condition.dtype.kind == "b" else condition != 0, yes, no))


@tensorflow("Case", "StatelessCase")
def case(node: OnnxNode, which: Any, *xs: Any) -> Any:
    """One of several graphs; the last one for numbers that belong to none."""
    branches, known = node.get("branches"), node.known(0)

    def results(i: int) -> list[Any]:
        return results_of(node, branches[i], node.inputs[1:])

    def from_(i: int) -> list[Any]:
        if i == len(branches) - 1:
            return results(i)
        return _chosen(node, which == i, lambda: results(i), lambda: from_(i + 1))

    last = len(branches) - 1
    if known is None:
        return tuple(from_(0))
    i = int(np.asarray(known).reshape(-1)[0])
    return tuple(results(i if 0 <= i < last else last))


@tensorflow("While", "StatelessWhile")
def while_(node: OnnxNode, *xs: Any) -> Any:
    """A graph that is repeated as long as another one says so; what it passes on as it is stays outside of the loop."""
    test, body, walk = node.get("cond"), node.get("body"), node.walk
    sources = {n.name: n.input[0] for n in body.node if n.op_type in PASSING and n.input}

    def passed(name: str) -> str:
        while name in sources:
            name = sources[name]
        return name

    changed = [i for i, (a, b) in enumerate(zip(body.input, body.output)) if passed(b) != a]
    fixed = {i: v for i, v in enumerate(node.inputs) if i not in changed}

    def whole(values: list[Any]) -> list[Any]:
        own = dict(zip(changed, values))
        return [own.get(i, fixed.get(i)) for i in range(len(node.inputs))]

    def step(values: list[Any]) -> list[Any]:
        found = results_of(node, body, whole(values))
        return [found[i] for i in changed]

    behind = repeated(walk, node.name, [node.inputs[i] for i in changed], lambda v: results_of(node, test, whole(v))[0], step,
                      len(test.node) + len(body.node), lambda: ready(walk, fixed.values()))
    return tuple(whole(behind))
