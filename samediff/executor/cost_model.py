"""Cost of a node: floating point operations, and bytes that have to be moved."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..base.spec import TensorSpec
from ..ir.node import Node


def flops_of(node: Node, specs: Mapping[Any, TensorSpec]) -> int | None:
    """The operations of a node by :meth:`.Op.flops`; None where sizes are not known before it runs."""
    if node.op.flops_per_element == 0:
        return 0
    given = [None if n is None else specs.get(n) for n in node.inputs]
    made = [specs[n] for n in node.outputs]
    return node.op.flops(given, made) if all(s is None or s.is_static for s in (*given, *made)) else None


def sizes_of(array: Any) -> int:
    """Bytes that an array occupies in memory; axes of stride 0 count once."""
    return int(math.prod([n for n, s in zip(array.shape, array.strides) if s] or [min(array.size, 1)])) * int(array.itemsize)
