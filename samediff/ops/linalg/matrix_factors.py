"""Factorizations of matrices, over the last two axes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import GradientError, NumericalError
from ...families.composite import Composite
from ...ir.op import op, require_floating
from .matmul import matmul
from .matrix_parts import MatrixBandPart, matrix_shape
from .matrix_solve import OfMatrix, TriangularSolve, by_lapack, inverse_transposed

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def _part(x: SDVariable, lower: int, upper: int) -> SDVariable:
    return x.sd.add_op(MatrixBandPart(lower, upper), [x])  # type: ignore[no-any-return]


def _strictly_lower(x: SDVariable) -> SDVariable:
    return _part(x, -1, 0) - _part(x, 0, 0)


def _solve(a: SDVariable, b: SDVariable, lower: bool, adjoint: bool) -> SDVariable:
    return a.sd.add_op(TriangularSolve(lower, adjoint), [a, b])  # type: ignore[no-any-return]


def _solve_right(b: SDVariable, a: SDVariable, lower: bool, adjoint: bool) -> SDVariable:
    """B A^-1, or B A^-T with ``adjoint``."""
    return inverse_transposed(_solve(a, inverse_transposed(b), lower, not adjoint))


@op("cholesky", api="linalg.cholesky")
class Cholesky(OfMatrix):
    """Lower triangular L with L L^T = x for symmetric positive definite x.  Shapes: x (…, n, n) -> the same."""

    def compute(self, xp: Any, x: Any) -> Any:
        return by_lapack(np.linalg.cholesky, x)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Symmetric part of L^-T P L^-1, P the lower half of L^T G (Murray 2016)."""
        (factor,), (g,) = outputs, output_grads
        inner = matmul(factor, _part(g, -1, 0), transpose_x=True)
        half = _part(inner, -1, 0) - _part(inner, 0, 0) * 0.5
        full = _solve_right(_solve(factor, half, True, True), factor, True, False)
        return [(full + inverse_transposed(full)) * 0.5]


def lu_factor(x: Any) -> tuple[Any, Any]:
    """Packed factors and the permutation of rows: x[p] = L U."""
    from scipy.linalg import lu_factor as factor
    packed, order = np.empty(x.shape, np.result_type(x.dtype, np.float32)), np.empty(x.shape[:-1], np.int64)
    for i in np.ndindex(x.shape[:-2]):
        packed[i], swaps = factor(x[i].astype(packed.dtype), check_finite=False)
        rows = np.arange(x.shape[-1])
        for j, k in enumerate(swaps):
            rows[[j, k]] = rows[[k, j]]
        order[i] = rows
    return packed, order


@op("lu", api="linalg.lu", file=FileArgs(more_outputs=("INT",)))
class Lu(OfMatrix):
    """Both factors of x with exchanged rows in one matrix: L below the diagonal (its own diagonal is 1), U on it and above.

    Shapes: x (…, n, n) -> the same.
    """

    def compute(self, xp: Any, x: Any) -> Any:
        """The factors in one matrix, by LAPACK with partial pivoting."""
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return lu_factor(x)[0]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """P^T L^-T (lower(L^T L') + upper(U' U^T)) U^-T."""
        x, sd, (packed,), (g,) = inputs[0], inputs[0].sd, outputs, output_grads
        order = sd.add_op(LuOrder(), [x])
        lower = _strictly_lower(packed) + sd.add_op(EyeLike(), [packed])
        upper = _part(packed, 0, -1)
        inner = _strictly_lower(matmul(lower, _strictly_lower(g), transpose_x=True)) + _part(
            matmul(_part(g, 0, -1), upper, transpose_y=True), 0, -1)
        inner = _solve_right(_solve(lower, inner, True, True), upper, False, True)
        return [matmul(order, inner, transpose_x=True)]


@op("lu_order", gradient="zero")
class LuOrder(OfMatrix):
    """Permutation matrix P of the factorization P x = L U (made by gradients)."""

    def compute(self, xp: Any, x: Any) -> Any:
        """The permutation matrix, as rows of the identity."""
        return np.eye(x.shape[-1], dtype=x.dtype)[lu_factor(x)[1]]


@op("eye_like", gradient="zero", shape_inputs=(0,))
class EyeLike(OfMatrix):
    """Identity matrices in the shape of x (made by gradients)."""

    def compute(self, xp: Any, x: Any) -> Any:
        return np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)


@op("qr", api="linalg.qr", file=FileArgs(bools=("full",), properties={"fullMatrices": "b:full"}))
class Qr(Composite):
    """Q with orthonormal columns and upper triangular R with Q R = x: two outputs.

    ``full`` makes Q square.  Shapes: x (…, m, n) -> Q (…, m, k), R (…, k, n), k = m with ``full``, else min(m, n).
    """

    full: bool = False

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        x = specs[0]
        require_floating(self.id, x)
        matrix_shape(x)
        if x.shape is None:
            return (x.with_shape(None),) * 2
        *lead, m, n = x.shape
        k = m if self.full else -1 if -1 in (m, n) else min(m, n)
        return x.with_shape((*lead, m, k)), x.with_shape((*lead, k, n))

    def compute(self, xp: Any, x: Any) -> Any:
        def factors(a: Any) -> Any:
            return np.linalg.qr(a, "complete" if self.full else "reduced")
        return tuple(f.astype(x.dtype) for f in by_lapack(factors, x))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """(Q' + Q sym(R R'^T - Q'^T Q)) R^-T (Walter and Lehmann 2010); columns that make x wide are Q times theirs of R."""
        (q, r), (for_q, for_r) = outputs, output_grads
        x, shape = inputs[0], inputs[0].spec.shape
        if shape is None or -1 in shape[-2:] or (self.full and shape[-2] > shape[-1]):
            raise GradientError("qr has a gradient for matrices of known size, and with full=True for no more rows than columns: the "
                                f"further columns of Q are arbitrary; got shape {shape}, full={self.full}")
        m, n = shape[-2:]
        if m >= n:
            return [_of_factors(q, r, for_q, for_r)]
        for_further = for_r[..., m:]
        for_q = for_q + matmul(x[..., m:], for_further, transpose_y=True)
        first = _of_factors(q, r[..., :m], for_q, for_r[..., :m])
        return [x.sd.call("base", "concat", len(shape) - 1, first, matmul(q, for_further))]


def _of_factors(q: SDVariable, r: SDVariable, for_q: SDVariable, for_r: SDVariable) -> SDVariable:
    inner = matmul(r, for_r, transpose_y=True) - matmul(for_q, q, transpose_x=True)
    symmetric = _part(inner, -1, 0) + inverse_transposed(_strictly_lower(inner))
    return _solve_right(for_q + matmul(q, symmetric), r, False, True)


@op("sqrtm", api="linalg.sqrtm", gradient="none", file=FileArgs())
class MatrixRoot(OfMatrix):
    """R with R R = x, the root whose eigenvalues have no negative real part.  Shapes: x (…, n, n) -> the same."""

    def compute(self, xp: Any, x: Any) -> Any:
        """By Schur's decomposition; an error where the root has imaginary parts."""
        from scipy.linalg import sqrtm
        made = np.empty(x.shape, np.result_type(x.dtype, np.float32))
        for i in np.ndindex(x.shape[:-2]):
            root = sqrtm(x[i].astype(np.float64))
            if not np.allclose(root.imag, 0, atol=1e-6 * max(1.0, np.abs(root).max(initial=0))):
                raise NumericalError("the root of the matrix has imaginary parts: it has negative eigenvalues")
            made[i] = root.real
        return made.astype(x.dtype)
