"""Lowering: a specialised graph becomes the steps of a plan."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

from ..base.spec import TensorSpec
from ..expressions import expression as ex
from ..families.families import Elementwise
from ..ir.node import Node
from ..ir.op import as_tuple
from ..plans.backend import Backend
from ..plans.plan_data import PlanStep, RngState, ShapeSource, StepKind, Value
from .fuse import Group, group, is_fusible
from .specialise import Specialised, visible


def lower(graph: Specialised, outputs: Collection[str], symbolic: Mapping[str, Any] | None, backend: Backend) -> list[PlanStep]:
    """Steps in the order in which they run; ``symbolic`` are the shapes with -1 where the graph leaves a size open."""
    fusible = {n.name for n in graph.nodes
               if is_fusible(n, graph.specs, backend.takes) and backend.fuses(n.op) and _traceable(n, graph.specs)}
    groups = group(graph.nodes, graph.specs, fusible)
    readers = _readers(graph.nodes)
    return [_fused(g, graph.specs, readers, outputs, symbolic or {}, backend) if g.fused else _single(g.nodes[0], graph, backend)
            for g in groups]


def _readers(nodes: Sequence[Node]) -> dict[str, set[str]]:
    readers: dict[str, set[str]] = {}
    for node in nodes:
        for n in node.inputs:
            if n is not None:
                readers.setdefault(n, set()).add(node.name)
    return readers


def _traceable(node: Node, specs: Mapping[str, TensorSpec]) -> bool:
    try:
        _expressions(node, specs)
    except ex.TraceError:
        return False
    return True


def _expressions(node: Node, specs: Mapping[str, TensorSpec]) -> tuple[ex.Expr, ...]:
    made = cast(Elementwise, node.op).expressions([specs[n].dtype.numpy for n in node.inputs if n is not None])
    return tuple(ex.cast(e, specs[n].dtype.numpy) for e, n in zip(made, node.outputs))


def _fused(g: Group, specs: Mapping[str, TensorSpec], readers: Mapping[str, set[str]], outputs: Collection[str],
           symbolic: Mapping[str, Any], backend: Backend) -> PlanStep:
    inputs = list(g.inputs)
    known: dict[str, ex.Expr] = {n: ex.input_(i, specs[n].dtype.numpy) for i, n in enumerate(inputs)}
    for node in g.nodes:
        replaced = ex.compose(_expressions(node, specs), [known[n] for n in node.inputs if n is not None])
        known.update(zip(node.outputs, replaced))
    members = {n.name for n in g.nodes}
    wanted = [n for node in g.nodes for n in node.outputs if n in outputs or readers.get(n, set()) - members]
    exprs = [known[n] for n in wanted]
    read = sorted(ex.inputs_of(exprs))
    exprs = list(ex.compose(exprs, {k: ex.input_(i, specs[inputs[k]].dtype.numpy) for i, k in enumerate(read)}))
    inputs = [inputs[k] for k in read]
    label = "+".join(dict.fromkeys(n.op.id for n in g.nodes))
    call, native = backend.fused(exprs, (*inputs, *wanted), len(inputs), symbolic)
    return PlanStep(StepKind.FUSED, label, tuple(inputs), tuple(wanted), call, tuple(g.nodes), native=native)


def _single(node: Node, graph: Specialised, backend: Backend) -> PlanStep:
    specs, given = graph.specs, [visible(n, graph) for n in node.inputs]
    static = all(s is None or s.is_static for s in given) and all(specs[n].is_static for n in node.outputs)
    inputs: tuple[Value | None, ...] = tuple([ShapeSource(n) if n is not None and i in node.op.shape_inputs and specs[n].is_static else n
                                              for i, n in enumerate(node.inputs)])
    outputs = [specs[n] for n in node.outputs]
    if static and node.op.is_view and _is_steady(node, graph):
        return PlanStep(StepKind.VIEW, node.op.id, inputs, node.outputs, _view(node, backend), (node,))
    kernel = graph.kernels.of(node, given, outputs) if static else None
    if kernel is not None:
        read = (RngState(), *inputs) if node.op.stateful else inputs
        return PlanStep(StepKind.KERNEL, node.op.id, read, node.outputs, kernel.call, (node,), kernel.workspace, node.op.stateful,
                    kernel.native, kernel.orders)
    return PlanStep(StepKind.PYTHON, node.op.id, inputs, node.outputs, backend.python(node, outputs), (node,), (), node.op.stateful)


def _is_steady(node: Node, graph: Specialised) -> bool:
    """Whether a view is the same in every run: what steers it, all inputs but the first, is constant or looked at for its shape alone."""
    return all(n is None or n in graph.constants or i in node.op.shape_inputs for i, n in enumerate(node.inputs) if i)


def _view(node: Node, backend: Backend) -> Callable[..., tuple[Any, ...]]:
    def call(*inputs: Any) -> tuple[Any, ...]:
        return as_tuple(node.op.compute(backend.xp, *inputs))
    return call
