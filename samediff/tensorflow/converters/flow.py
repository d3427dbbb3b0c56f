"""Values that stand in a graph, pass through it, or are chosen."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...onnx.node import OnnxNode
from ...onnx.values import DEAD, Held
from ..repeating import ready
from .table import bounded, tensorflow


@tensorflow("Const")
def const(node: OnnxNode) -> Any:
    """A value that stands in the node."""
    value = node.get("value")
    if not isinstance(value, np.ndarray):
        raise node.refuse(f"its value is no array, but {value!r:.60}")
    return Held(value)


@tensorflow("Identity", "StopGradient", "Snapshot", "PreventGradient", "CheckNumerics", "CheckNumericsV2", "DeepCopy",
            "PlaceholderWithDefault", "EnsureShape", "Enter", "Exit", "ReadVariableOp", "GuaranteeConst", "Print")
def identity(node: OnnxNode, x: Any, *shown: Any) -> Any:
    """The same."""
    if isinstance(x, list):
        return node.inputs[0]
    return node.op("base.stop_gradient", x) if node.op_type == "StopGradient" and x.dtype.kind == "f" else x


@tensorflow("IdentityN")
def identities(node: OnnxNode, *xs: Any) -> Any:
    """The same, one by one."""
    return xs


@tensorflow("Assign")
def assign(node: OnnxNode, old: Any, new: Any) -> Any:
    """The new value."""
    return new


@tensorflow("Switch", "RefSwitch")
def switch(node: OnnxNode, x: Any, condition: Any) -> Any:
    """The value on one of two ways: if false, if true. On both where the condition is not known while the graph is built."""
    known, given = node.known(1), node.inputs[0]
    if known is None:
        return given, given
    return (DEAD, given) if np.asarray(known).any() else (given, DEAD)


@tensorflow("Merge")
def merge(node: OnnxNode, *xs: Any) -> Any:
    """The value that came, and which way; of two that are both computed, the one that the condition chooses."""
    yes = node.get("yes", None)
    given = node.inputs if yes is None else node.inputs[:2]
    alive = [(i, x) for i, x in enumerate(given) if x is not DEAD]
    if len(alive) == 1:
        i, x = alive[0]
        return x, np.asarray(i, np.int32)
    if yes is None or len(alive) != 2 or any(isinstance(x, list) for x in given):
        raise node.refuse(f"one of its {len(given)} inputs must come, not {len(alive)}; give values of the conditions by dynamic_variables")
    condition, index = node.xp.reshape(xs[2], ()), node.xp.where(xs[2], np.int32(yes), np.int32(1 - yes))
    first, second = (node.spec(x) for x in xs[:2])
    if first.is_static and first.shape == second.shape:
        return node.xp.where(condition, xs[yes], xs[1 - yes]), index
    ready(node.walk, given)
    branches = (lambda sd, x=xs[i]: sd.call("base", "identity", node.inner(x)) for i in (yes, 1 - yes))
    return node.outer(node.sd.if_cond(node.inner(condition), *branches)), index


@tensorflow("Fill")
def fill(node: OnnxNode, sizes: Any, value: Any) -> Any:
    """One value in a shape."""
    known, number = node.known(0), node.known(1)
    if known is None:
        return node.op("base.fill", sizes, node.inner(value).dtype, float(np.asarray(node.value(1, "the value"))))
    shape = bounded(node, known)
    return np.full(shape, number) if number is not None else node.xp.broadcast_to(value, shape)


@tensorflow("Empty")
def empty(node: OnnxNode, sizes: Any) -> Any:
    """Zeros."""
    return np.zeros(bounded(node, node.value(0, "the shape")), node.get("dtype"))


@tensorflow("ZerosLike", "OnesLike")
def like(node: OnnxNode, x: Any) -> Any:
    """Zeros or ones in the shape of an array."""
    return (node.xp.zeros_like if node.op_type == "ZerosLike" else node.xp.ones_like)(x)


@tensorflow("Range")
def range_(node: OnnxNode, start: Any, limit: Any, delta: Any) -> Any:
    """Numbers of equal distance."""
    if any(node.known(i) is None for i in range(3)):
        return node.op("base.range", start, limit, delta, DataType.of(start.dtype))
    a, b, d = (np.asarray(node.value(i, "a limit")).reshape(-1)[0] for i in range(3))
    if not d:
        raise node.refuse(f"a range from {a} to {b} by {d}")
    bounded(node, max(0, (float(b) - float(a)) // float(d)))
    return np.arange(a, b, d).astype(start.dtype)


@tensorflow("LinSpace")
def linspace(node: OnnxNode, start: Any, stop: Any, count: Any) -> Any:
    """So many numbers of equal distance."""
    a, b, n = (np.asarray(node.value(i, "a limit")).reshape(-1)[0] for i in range(3))
    return np.linspace(a, b, bounded(node, n)[0]).astype(start.dtype)


@tensorflow("Shape", "Rank", "Size")
def shape(node: OnnxNode, x: Any) -> Any:
    """Sizes, the number of axes or of elements."""
    kind, spec = node.get("out_type", np.dtype(np.int32)), node.spec(x)
    if node.op_type == "Rank":
        return np.asarray(x.ndim, np.int32)
    if spec.is_static:
        return np.asarray(spec.shape if node.op_type == "Shape" else np.prod(spec.shape, dtype=np.int64), kind)
    return (node.sizes(x) if node.op_type == "Shape" else node.op("base.size", x)).astype(kind)


@tensorflow("ShapeN")
def shapes(node: OnnxNode, *xs: Any) -> Any:
    """The sizes of several arrays."""
    return tuple(node.sizes(x).astype(node.get("out_type", np.dtype(np.int32))) for x in xs)


@tensorflow("BroadcastArgs")
def broadcast_args(node: OnnxNode, a: Any, b: Any) -> Any:
    """The shape that two shapes have together."""
    both = [tuple(int(n) for n in node.value(i, "a shape")) for i in range(2)]
    return np.asarray(np.broadcast_shapes(*both), a.dtype)
