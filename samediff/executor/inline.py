"""Composite ops as the nodes that they stand for: these have kernels, are fused, and are shared with the backward pass."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..base.spec import TensorSpec
from ..expressions.tracing import TraceError
from ..families.expanded import composition
from ..ir.kernel_table import KernelTable
from ..ir.node import Node


@dataclass(frozen=True)
class Inlined:
    """What takes the place of a node: nodes in order, constants that they read, and the names of its results."""

    nodes: tuple[Node, ...]
    constants: dict[str, Any]
    results: tuple[str, ...]


def inlined(node: Node, specs: Mapping[str, TensorSpec], kernels: KernelTable[Any]) -> Inlined | None:
    """The composition that a node stands for; None where it has a kernel or reads what only a run can tell."""
    op = node.op.in_plan(node.name)
    if op is None:
        return None
    given = tuple(None if n is None else TensorSpec(specs[n].shape, specs[n].dtype) for n in node.inputs)
    if not all(s is None or (s.is_static and 0 not in (s.shape or ())) for s in given) or kernels.kernel(op, *given) is not None:
        return None
    try:
        sd, outputs = composition(op, given)
    except TraceError:      # the code of a user has no nodes
        return None
    names: dict[str, str] = {f"in{i}": n for i, n in enumerate(node.inputs) if n is not None}
    constants: dict[str, Any] = {}
    for name, variable in sd.variable_map().items():
        if variable.is_constant():
            constants[f"{node.name}>{name}"] = sd.stored(name)

    def renamed(name: str) -> str:
        return names.get(name, f"{node.name}>{name}")
    nodes = []
    for inner in sd.nodes():
        if inner.op.stateful and not inner.op.is_shared:          # its random numbers follow from the name of its node
            return None
        reads = tuple(None if n is None else renamed(n) for n in inner.inputs)
        nodes.append(Node(f"{node.name}>{inner.name}", inner.op, reads, tuple(map(renamed, inner.outputs)), node.source, node.control,
                          node.gradient_of))
    return Inlined(tuple(nodes), constants, tuple(renamed(o.name()) for o in outputs))
