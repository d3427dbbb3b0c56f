"""Matrices."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.op import OPS
from ...onnx.converters.products import einsum
from ...onnx.node import OnnxNode
from ...onnx.registry import same_for
from .table import added, numbers, tensorflow

_OPS = {"MatrixInverse": "math.matrix_inverse", "MatrixDeterminant": "math.matrix_determinant", "Cholesky": "linalg.cholesky",
        "Diag": "math.diag", "DiagPart": "math.diag_part"}


@tensorflow(*_OPS)
def op(node: OnnxNode, x: Any) -> Any:
    """An op here."""
    return node.op(_OPS[node.op_type], x)


@tensorflow("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def matmul(node: OnnxNode, a: Any, b: Any) -> Any:
    """The product of matrices, transposed on request."""
    names = ("transpose_a", "transpose_b") if node.op_type == "MatMul" else ("adj_x", "adj_y")
    a, b = (node.xp.swapaxes(x, -1, -2) if node.get(n, False) else x for x, n in zip((a, b), names))
    return node.xp.matmul(a, b)


same_for("Einsum", domain="tensorflow")(einsum)


@tensorflow("Cross")
def cross(node: OnnxNode, a: Any, b: Any) -> Any:
    """Vector products."""
    return added(node, OPS["cross"](), a, b)


@tensorflow("MatrixBandPart")
def band_part(node: OnnxNode, x: Any, lower: Any, upper: Any) -> Any:
    """Zeros but for a band around the diagonal."""
    rows, columns = (np.arange(int(n)) for n in x.shape[-2:])
    low, high = numbers(node, 1, "lower")[0], numbers(node, 2, "upper")[0]
    away = columns[None] - rows[:, None]
    return node.xp.where(((low < 0) | (-away <= low)) & ((high < 0) | (away <= high)), x, x.dtype.type(0))


@tensorflow("MatrixSolve")
def solve(node: OnnxNode, a: Any, b: Any) -> Any:
    """The solution of linear equations."""
    return node.op("linalg.solve", a, b, bool(node.get("adjoint", False)))


@tensorflow("MatrixTriangularSolve")
def triangular_solve(node: OnnxNode, a: Any, b: Any) -> Any:
    """The same for triangular matrices."""
    return node.op("linalg.triangular_solve", a, b, bool(node.get("lower", True)), bool(node.get("adjoint", False)))


@tensorflow("LogMatrixDeterminant")
def log_determinant(node: OnnxNode, x: Any) -> Any:
    """Sign and logarithm of determinants."""
    return tuple(node.np(np.linalg.slogdet, x))


@tensorflow("Lu")
def lu(node: OnnxNode, x: Any) -> Any:
    """Triangular factors in one matrix, and the order of the rows."""
    order = added(node, OPS["lu_order"](), x)
    return node.op("linalg.lu", x), node.xp.argmax(order, axis=-1).astype(node.get("output_idx_type", np.dtype(np.int32)))


@tensorflow("Svd")
def svd(node: OnnxNode, x: Any) -> Any:
    """Singular values."""
    if node.get("compute_uv", True):
        u, s, v = node.np(np.linalg.svd, x, full_matrices=bool(node.get("full_matrices", False)))
        return s, u, node.xp.swapaxes(v, -1, -2)
    return node.np(np.linalg.svd, x, compute_uv=False)


@tensorflow("Qr")
def qr(node: OnnxNode, x: Any) -> Any:
    """Orthonormal columns and a triangular matrix."""
    return tuple(added(node, OPS["qr"](full=bool(node.get("full_matrices", False))), x))


@tensorflow("SelfAdjointEigV2")
def eigh(node: OnnxNode, x: Any) -> Any:
    """Eigenvalues of symmetric matrices, and eigenvectors."""
    values, vectors = added(node, OPS["eigh"](), x)
    return values, vectors


@tensorflow("MatrixSolveLs")
def least_squares(node: OnnxNode, a: Any, b: Any, l2: Any) -> Any:
    """What solves linear equations best."""
    penalty = float(np.asarray(node.value(2, "the regularizer")))
    return added(node, OPS["lstsq"](l2_reguralizer=penalty, fast=bool(node.get("fast", True))), a, b)
