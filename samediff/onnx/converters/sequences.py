"""Sequences and optional values: lists while the graph is built."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..node import OnnxNode
from ..registry import onnx_converter
from .control import results_of

_NOTE = "sequences are lists while the graph is built: not inputs or outputs of a model, positions and lengths are known"


def _position(node: OnnxNode, i: int, default: int) -> int:
    return int(np.asarray(node.value(i, "position")).reshape(-1)[0]) if node.has(i) else default


@onnx_converter("SequenceConstruct", notes=_NOTE)
def construct(node: OnnxNode, *xs: Any) -> Any:
    """A sequence of arrays."""
    return list(xs)


@onnx_converter("SequenceEmpty", notes=_NOTE)
def empty(node: OnnxNode) -> Any:
    """A sequence without arrays."""
    return []


@onnx_converter("SequenceInsert", notes=_NOTE)
def insert(node: OnnxNode, xs: list[Any], x: Any, position: Any = None) -> Any:
    """A sequence with one more array."""
    made, at = list(xs), _position(node, 2, len(xs))
    made.insert(at, x)
    return made


@onnx_converter("SequenceErase", notes=_NOTE)
def erase(node: OnnxNode, xs: list[Any], position: Any = None) -> Any:
    """A sequence without one of its arrays."""
    made = list(xs)
    del made[_position(node, 1, -1)]
    return made


@onnx_converter("SequenceAt", notes=_NOTE)
def at(node: OnnxNode, xs: list[Any], position: Any) -> Any:
    """One array of a sequence."""
    return xs[_position(node, 1, 0)]


@onnx_converter("SequenceLength", notes=_NOTE)
def length(node: OnnxNode, xs: list[Any]) -> Any:
    """Number of arrays in a sequence."""
    return np.asarray(len(xs), np.int64)


@onnx_converter("ConcatFromSequence", notes=_NOTE)
def concat(node: OnnxNode, xs: list[Any]) -> Any:
    """All arrays one after the other, or along a new axis."""
    axis = node.get("axis")
    return node.xp.stack(xs, axis) if node.flag("new_axis") else node.xp.concatenate(xs, axis)


@onnx_converter("SplitToSequence", notes=_NOTE)
def split(node: OnnxNode, x: Any, sizes: Any = None) -> Any:
    """Parts of an array along an axis."""
    axis = node.get("axis", 0) % x.ndim
    n = int(x.shape[axis])
    drop = sizes is None and not node.flag("keepdims", True)
    if sizes is None:
        parts = [1] * n
    else:
        given = np.asarray(node.value(1, "split"))
        parts = [int(p) for p in given] if given.ndim else [min(int(given), n - i) for i in range(0, n, int(given))]
    made, start, before = [], 0, (slice(None),) * axis
    for part in parts:
        made.append(x[(*before, start if drop else slice(start, start + part))])
        start += part
    return made


@onnx_converter("SequenceMap", notes=_NOTE)
def map_(node: OnnxNode, xs: list[Any], *others: Any) -> Any:
    """A graph applied to each array of a sequence."""
    body = node.get("body")
    columns: list[list[Any]] = [[] for _ in body.output]
    for i in range(len(xs)):
        given = [v[i] if isinstance(v, list) else v for v in node.inputs]
        for column, value in zip(columns, results_of(node, body, given)):
            column.append(node.xp.wrap(node.walk.variable(value)))
    return tuple(columns)


@onnx_converter("Optional", notes=_NOTE)
def optional(node: OnnxNode, x: Any = None) -> Any:
    """A value, or none."""
    return x


@onnx_converter("OptionalGetElement", notes=_NOTE)
def get_element(node: OnnxNode, x: Any) -> Any:
    """The value."""
    return x


@onnx_converter("OptionalHasElement", notes=_NOTE)
def has_element(node: OnnxNode, x: Any = None) -> Any:
    """Whether there is a value."""
    return np.asarray(x is not None)
