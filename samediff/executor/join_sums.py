"""Sums of gradients over broadcast axes, joined: sum_to(a) + sum_to(b) is sum_to(a + b)."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..base.spec import TensorSpec
from ..families.broadcasting import SumTo
from ..ir.node import Node
from ..ops.elementwise.arithmetic import Add


def joined(node: Node, sums: Mapping[str, Node], specs: Mapping[str, TensorSpec]) -> tuple[Node, Node] | None:
    """The two nodes in place of an addition of two such sums; None where it is none.

    A parameter that is used many times gets its gradient in as many parts. Added up before, they are one fused loop and one sum,
    and no part is kept in memory.
    """
    if not isinstance(node.op, Add) or len(node.inputs) != 2:
        return None
    first, second = [sums.get(n or "") for n in node.inputs]
    if first is None or second is None or first.inputs[0] is None or second.inputs[0] is None:
        return None
    a, b = specs[first.inputs[0]], specs[second.inputs[0]]
    if not a.is_static or a.shape != b.shape or a.dtype is not b.dtype:
        return None
    terms = f"{node.name}>terms"
    return (replace(node, name=terms, inputs=(first.inputs[0], second.inputs[0]), outputs=(terms,)),
            replace(node, op=SumTo(), inputs=(terms, first.inputs[1])))
