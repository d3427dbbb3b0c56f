"""Diagonals of matrices: read, put into zeros, put into others; several ones as rows."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...onnx.node import OnnxNode
from .table import bounded, numbers, tensorflow


class Diagonals:
    """The places of the elements of some diagonals of a matrix.

    Parameters
    ----------
    rows, columns : int
        Sizes of the matrix.
    low, high : int
        The lowest and the highest diagonal; 0 is the main one.
    align : str
        On which side shorter ones are filled up: of those above the main one, and of those below it.
    """

    def __init__(self, rows: int, columns: int, low: int, high: int, align: str) -> None:
        self.count = high - low + 1
        self.length = max(0, min(rows + min(high, 0), columns - max(low, 0)))
        r, c = np.indices((rows, columns))
        d = c - r
        self.inside = (d >= low) & (d <= high)
        self.matrix = r * columns + c
        lengths = np.minimum(rows + np.minimum(d, 0), columns - np.maximum(d, 0))
        above, below = (side == "LEFT" for side in align.split("_"))
        left = np.where(d > 0, above, np.where(d < 0, below, above or below))
        place = np.minimum(r, c) + np.where(left, 0, self.length - lengths)
        self.packed = np.where(self.inside, (high - d) * self.length + place, 0)


def _band(node: OnnxNode, i: int) -> tuple[int, int]:
    """The lowest and the highest diagonal, from an input; the main one where there is none."""
    found = numbers(node, i, "the diagonals") if node.has(i) else [0]
    return found[0], found[-1]


def _align(node: OnnxNode) -> str:
    if not node.op_type.endswith("V3"):
        return "LEFT_LEFT"
    align = str(node.get("align", "RIGHT_LEFT"))
    if align not in ("LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"):
        raise node.refuse(f"diagonals are aligned LEFT or RIGHT, got {align!r}")
    return align


def _flat(node: OnnxNode, x: Any, axes: int) -> Any:
    """The last axes as one."""
    return node.xp.reshape(x, (*x.shape[:x.ndim - axes], int(np.prod([int(n) for n in x.shape[x.ndim - axes:]]))))


@tensorflow("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3")
def diagonals_of(node: OnnxNode, x: Any, k: Any = None, outside: Any = None) -> Any:
    """Diagonals."""
    low, high = _band(node, 1)
    band = Diagonals(int(x.shape[-2]), int(x.shape[-1]), low, high, _align(node))
    places, there = np.zeros(band.count * band.length, np.int64), np.zeros(band.count * band.length, bool)
    places[band.packed[band.inside]], there[band.packed[band.inside]] = band.matrix[band.inside], True
    found = node.xp.take(_flat(node, x, 2), places, axis=-1)
    if not there.all():
        found = node.xp.where(there, found, x.dtype.type(0) if outside is None else outside)
    return found if low == high else node.xp.reshape(found, (*x.shape[:-2], band.count, band.length))


@tensorflow("MatrixDiag", "MatrixDiagV2", "MatrixDiagV3")
def matrix_of(node: OnnxNode, x: Any, k: Any = None, rows: Any = None, columns: Any = None, outside: Any = None) -> Any:
    """Matrices with diagonals, and one number elsewhere."""
    low, high = _band(node, 1)
    length = int(x.shape[-1])
    least = length - min(high, 0), length + max(low, 0)
    given = [numbers(node, i, "a size")[0] if node.has(i) else -1 for i in (2, 3)]
    sizes = tuple(n if n >= 0 else m for n, m in zip(given, least)) if max(given) >= 0 else (max(least),) * 2
    height, width = bounded(node, sizes)
    band = Diagonals(height, width, low, high, _align(node))
    if band.length != length:
        raise node.refuse(f"the diagonals {low} to {high} of a matrix of {sizes[0]} x {sizes[1]} have {band.length} elements, not {length}")
    found = node.xp.take(x if low == high else _flat(node, x, 2), band.packed, axis=-1)
    return node.xp.where(band.inside, found, x.dtype.type(0) if outside is None else outside)


@tensorflow("MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")
def with_diagonals(node: OnnxNode, x: Any, diagonals: Any, k: Any = None) -> Any:
    """Other diagonals."""
    low, high = _band(node, 2)
    band = Diagonals(int(x.shape[-2]), int(x.shape[-1]), low, high, _align(node))
    packed = diagonals if low == high else _flat(node, diagonals, 2)
    return node.xp.where(band.inside, node.xp.take(packed, band.packed, axis=-1), x)
