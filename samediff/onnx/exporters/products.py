"""Products of matrices and tensors, and what linear algebra the standard has."""
from __future__ import annotations

from string import ascii_lowercase
from typing import Any

from ..export_graph import OnnxGraph, Value
from ..export_table import onnx_exporter


def swapped(g: OnnxGraph, x: Value) -> Value:
    """The last two axes exchanged."""
    return x if x.rank < 2 else g.transpose(x, *range(x.rank - 2), x.rank - 1, x.rank - 2)


@onnx_exporter("matmul")
def matmul(g: OnnxGraph, op: Any, x: Value, y: Value) -> Any:
    if y.dtype is not x.dtype:
        y = Value(g.name(g.cast(y, x.dtype)), y.spec.with_dtype(x.dtype))
    made = g.node("MatMul", swapped(g, x) if op.transpose_x else x, swapped(g, y) if op.transpose_y else y)
    if not op.transpose_z or min(x.rank, y.rank) < 2:
        return made
    rank = max(x.rank, y.rank)
    return g.transpose(made, *range(rank - 2), rank - 1, rank - 2)


@onnx_exporter("tensordot")
def tensordot(g: OnnxGraph, op: Any, x: Value, y: Value) -> Any:
    if op.transpose_x or op.transpose_y or op.transpose_z:
        return None
    left, right = list(ascii_lowercase[:x.rank]), list(ascii_lowercase[x.rank:x.rank + y.rank])
    for i, j in zip(op.dimensions_x, op.dimensions_y):
        right[j % y.rank] = left[i % x.rank]
    both = set(left) & set(right)
    out = "".join(c for c in left + right if c not in both)
    return g.node("Einsum", x, y, equation=f"{''.join(left)},{''.join(right)}->{out}")


@onnx_exporter("batched_gemm")
def batched_gemm(g: OnnxGraph, op: Any, *matrices: Value) -> Any:
    if op.scaled:
        return None
    half = len(matrices) // 2
    return tuple(g.node("MatMul", swapped(g, a) if op.transpose_a else a, swapped(g, b) if op.transpose_b else b)
                 for a, b in zip(matrices[:half], matrices[half:]))


@onnx_exporter("matrix_determinant")
def determinant(g: OnnxGraph, op: Any, x: Value) -> Any:
    return g.node("Det", x)


@onnx_exporter("trace")
def trace(g: OnnxGraph, op: Any, x: Value) -> Any:
    count = min(x.static[-2:])
    rows = g.reshape(x, *x.shape[:-2], x.shape[-2] * x.shape[-1])
    diagonal = g.node("Gather", rows, g.ints(*(i * (x.shape[-1] + 1) for i in range(count))), axis=x.rank - 2)
    return g.node("ReduceSum", diagonal, g.ints(-1), keepdims=0)


@onnx_exporter("cross")
def cross(g: OnnxGraph, op: Any, a: Value, b: Value) -> Any:
    def turned(x: Value, *order: int) -> Value:
        return g.node("Gather", x, g.ints(*order), axis=x.rank - 1)  # type: ignore[no-any-return]
    return g.node("Sub", g.node("Mul", turned(a, 1, 2, 0), turned(b, 2, 0, 1)), g.node("Mul", turned(a, 2, 0, 1), turned(b, 1, 2, 0)))

