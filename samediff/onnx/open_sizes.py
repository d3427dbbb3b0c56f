"""Shapes of which some sizes are open, followed through the operators that take them apart and put them together."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..families.array_code.symbolic_size import SymbolicSize
from ..ir.variable import SDVariable
from .node import OnnxNode
from .registry import STANDARD
from .values import Held

Parts = np.ndarray[Any, Any]
_ARITHMETIC = {"Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b, "Div": lambda a, b: a // b}


def follow(node: OnnxNode, made: list[Any]) -> list[Any]:
    """The outputs of a node; where its first is made of sizes, these are remembered, and it is a constant where all are known."""
    if node.domain not in STANDARD or len(made) != 1 or not isinstance(made[0], SDVariable) or not made[0].dtype.is_integer:
        return made
    try:
        found = _parts(node)
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        return made
    if found is None or found.ndim > 1:
        return made
    if all(isinstance(n, (int, np.integer)) for n in found.reshape(-1)):
        return [Held(found.astype(made[0].dtype.numpy))]
    node.walk.parts[made[0].name()] = found
    return made


def parts_of(node: OnnxNode, i: int) -> Parts | None:
    """The elements of an input, numbers and open sizes; None where they are something else."""
    value = node.inputs[i] if i < len(node.inputs) else None
    if isinstance(value, Held):
        return value.array.astype(object) if value.array.dtype.kind in "iu" and value.array.ndim < 2 and value.array.size < 64 else None
    return node.walk.parts.get(value.name()) if isinstance(value, SDVariable) else None


def _objects(values: Any) -> Parts:
    """A vector of numbers and open sizes, which NumPy must not look into."""
    made = np.empty(len(values), object)
    for i, value in enumerate(values):
        made[i] = value
    return made


def _parts(node: OnnxNode) -> Parts | None:
    kind = node.op_type
    if kind == "Shape":
        x = node.walk.array(node.xp, node.inputs[0])
        if x.variable.spec.shape is None:
            return None
        return _objects(x.shape[node.get("start", 0):node.get("end", None)])
    if kind not in ("Gather", "Slice", "Concat", "Unsqueeze", "Squeeze", "Cast", "Identity", *_ARITHMETIC):
        return None
    given = [parts_of(node, i) for i in range(len(node.inputs))]
    if not given or given[0] is None or (kind in ("Concat", *_ARITHMETIC) and any(g is None for g in given)):
        return None
    x = given[0]
    if kind == "Concat":
        return _objects([n for g in given for n in g.reshape(-1)])  # type: ignore[union-attr]  # all are there
    if kind == "Gather":
        at = np.asarray(node.known(1)) if node.known(1) is not None else None
        return None if at is None else _scalar(x[int(at)]) if at.ndim == 0 else _objects([x[int(i)] for i in at.reshape(-1)])
    if kind == "Slice":
        steps = node.ints("steps", 4, (1,))
        return _objects(list(x)[node.ints("starts", 1)[0]:node.ints("ends", 2)[0]:steps[0]])
    if kind == "Unsqueeze":
        return _objects([x[()]]) if x.ndim == 0 else None
    if kind == "Squeeze":
        return _scalar(x[0]) if x.shape == (1,) else None
    if kind in _ARITHMETIC:
        a, b = given
        count = max(a.size, b.size)  # type: ignore[union-attr]
        left, right = (list(v.reshape(-1)) * (count if v.size == 1 else 1) for v in (a, b))  # type: ignore[union-attr]
        made = [_ARITHMETIC[kind](p, q) for p, q in zip(left, right)]
        return _scalar(made[0]) if a.ndim == b.ndim == 0 else _objects(made)  # type: ignore[union-attr]
    return x


def _scalar(value: Any) -> Parts:
    made = np.empty((), object)
    made[()] = value
    return made


def is_open(size: Any) -> bool:
    """Whether a size is not known while the graph is built."""
    return isinstance(size, SymbolicSize)
