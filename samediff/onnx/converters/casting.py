"""Types of elements."""
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ...base.datatype import DataType
from ...ir.op import OPS
from ..node import OnnxNode
from ..registry import onnx_converter
from ..values import CODES, NARROW, NARROW_FLOATING, NARROW_WHOLE, data_type

_NOTE = "not to or from texts; whole numbers of 4 and 2 bits are held in 8, floating ones of 8 and 4 bits in FLOAT, rounded as they are"


def rounded(node: OnnxNode, x: Any, code: int, saturate: bool = True) -> Any:
    """FLOAT numbers that a narrow floating type of ONNX has: the nearest ones, even ones where two are near."""
    name = NARROW_FLOATING[code]
    count = 256 if "e8m0" in name else 128 if "8" in name else 8
    table = np.arange(count, dtype=np.uint8).view(getattr(ml_dtypes, name)).astype(np.float32)
    table = table[np.isfinite(table)]
    x = x.astype(np.float32)
    size, most = node.op("math.abs", x), float(table[-1])
    if "e8m0" in name:
        return _power_of_two(node, size, table, saturate, node.get("round_mode", "up"))
    middles = (table[:-1] + table[1:]) / 2
    low = node.np(np.searchsorted, middles, size)
    high = node.np(np.searchsorted, middles, size, side="right")
    found = node.xp.take(table, node.xp.where(low % 2 == 1, high, low), axis=0)
    over = size >= middles[-1] + (table[-1] - table[-2]) if not saturate else None
    if over is not None:
        beyond = np.float32(np.inf if name == "float8_e5m2" else np.nan)
        limit = most + (most - float(middles[-1]))
        found = node.xp.where(size > limit, beyond, found)
        if table.size % 2 == 0:                         # the largest is odd: half way beyond it is no longer it
            found = node.xp.where(size >= limit, beyond, found)
    made = node.xp.where(x < 0, -found, found)
    if name.endswith("fnuz"):
        made = made + np.float32(0)                     # no negative zero
    return node.xp.where(node.xp.isnan(x), np.float32(np.nan if "float8" in name else 0), made)


def _power_of_two(node: OnnxNode, size: Any, table: Any, saturate: bool, mode: str) -> Any:
    low = node.xp.maximum(node.np(np.searchsorted, table, size, side="right") - 1, 0)
    below = node.xp.take(table, low, axis=0)
    high = node.xp.take(table, node.xp.minimum(low + 1, len(table) - 1), axis=0)
    up = size > below if mode == "up" else size - below >= high - size if mode == "nearest" else size != size
    found = node.xp.where(up & (size > table[0]), high, below)
    return node.xp.where(node.xp.isnan(size), np.float32(np.nan), found)


def _cast(node: OnnxNode, x: Any, to: int) -> Any:
    kind = data_type(to, f"the result of {node!r}").numpy
    if kind.kind == "O" or x.dtype.kind == "O":
        raise node.refuse("texts are not converted to numbers or back")
    if to in NARROW_FLOATING:
        return node.marked(rounded(node, x, to, node.flag("saturate", True)), to)
    if to in NARROW_WHOLE:
        low, high = NARROW_WHOLE[to]
        return node.marked((((x.astype(np.int32) - low) & (high - low)) + low).astype(kind), to)
    if x.dtype.kind == "f" and kind.kind in "iu" and kind.itemsize < 4:
        return x.astype(np.int32).astype(kind)          # wraps around
    return x.astype(kind)


@onnx_converter("Cast", notes=_NOTE)
def cast(node: OnnxNode, x: Any) -> Any:
    """The type that the attribute names."""
    to = node.get("to")
    if isinstance(to, str):
        from onnx import TensorProto
        to = TensorProto.DataType.Value(to)
    return _cast(node, x, to)


@onnx_converter("CastLike", notes=_NOTE)
def cast_like(node: OnnxNode, x: Any, like: Any) -> Any:
    """The type of another array."""
    return _cast(node, x, node.code(1) or CODES[DataType.of(like.dtype)])


@onnx_converter("BitCast", notes="between types that arrays here have")
def bit_cast(node: OnnxNode, x: Any) -> Any:
    """The same bits as another type."""
    if node.get("to") in NARROW or node.code(0):
        raise node.refuse("bits of types that arrays here do not have")
    kind = node.dtype("to")
    if kind.kind == "b" or x.dtype.kind == "b":
        return x.astype(kind)
    return node.outer(node.sd.add_op(OPS["bitcast"](data_type=DataType.of(kind)), [node.inner(x)]))


@onnx_converter("Size")
def size(node: OnnxNode, x: Any) -> Any:
    """The number of elements."""
    spec = node.spec(x)
    if spec.is_static:
        return np.asarray(int(np.prod(spec.shape, dtype=np.int64)), np.int64)
    return node.op("base.size", x).astype(np.int64)
