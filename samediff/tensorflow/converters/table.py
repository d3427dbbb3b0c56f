"""Registration of converters of TensorFlow's operators."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import LimitError
from ...onnx.node import OnnxNode
from ...onnx.registry import same_for

#: The most elements of an array that is made of its shape alone while the graph is built.
MOST_ELEMENTS = 1 << 26


def tensorflow(*operators: str) -> Callable[[Any], Any]:
    """Register a function for operators."""
    return same_for(*operators, domain="tensorflow")


def numbers(node: OnnxNode, i: int, what: str) -> list[int]:
    """The whole numbers of an input, which must be known."""
    return [int(v) for v in np.asarray(node.value(i, what)).reshape(-1)]


def bounded(node: OnnxNode, sizes: Any) -> tuple[int, ...]:
    """The shape of an array to be made, unless a few bytes of a file ask for a huge one."""
    shape = tuple(int(n) for n in np.asarray(sizes).reshape(-1))
    if min(shape, default=0) < 0:
        raise node.refuse(f"the shape {list(shape)}")
    if math.prod(shape) > MOST_ELEMENTS:
        raise LimitError(f"{node!r} makes an array of the shape {list(shape)}; at most {MOST_ELEMENTS:,} elements are made")
    return shape


def added(node: OnnxNode, op: Any, *xs: Any) -> Any:
    """What an op gives for arrays."""
    return node.outer(node.sd.add_op(op, [node.inner(x) for x in xs]))


def parts(x: Any, count: int, axis: int) -> list[Any]:
    """Equal parts of an axis, whose size is known."""
    n = int(x.shape[axis]) // count
    return [x[(slice(None),) * axis + (slice(i * n, (i + 1) * n),)] for i in range(count)]
