"""Inverse, determinants and linear systems, over the last two axes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.named_axes import expect_broadcast
from ...base.spec import Shape, TensorSpec, may_equal
from ...codecs.file_args import FileArgs
from ...errors import GradientError, LinearAlgebraError, ShapeError
from ...families.composite import Composite
from ...ir.op import Op, Specs, op, require_floating, require_same_type
from .matmul import matmul
from .matrix_parts import MatrixBandPart, matrix_shape

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class SingularMatrixError(LinearAlgebraError):
    """The matrix has no inverse."""


def by_lapack(function: Any, *arrays: Any) -> Any:
    """Call a function of ``numpy.linalg`` in a type that it has, errors as SingularMatrixError."""
    dtype = arrays[0].dtype
    wide = [a.astype(np.float32) if a.dtype.itemsize < 4 else a for a in arrays]
    try:
        result = function(*wide)
    except np.linalg.LinAlgError as error:
        raise SingularMatrixError(f"the matrix {arrays[0].shape} cannot be used: {error}") from error
    return result.astype(dtype) if hasattr(result, "astype") else result


def finite(x: Any) -> Any:
    """x checked for routines that find singular values: LAPACK may hang on matrices with infinite entries."""
    if not np.isfinite(x).all():
        raise np.linalg.LinAlgError("it has entries that are not finite")
    return x


def transposed(x: Any) -> Any:
    """Last two axes exchanged."""
    return x.swapaxes(-1, -2)


class OfMatrix(Op):
    """Base of ops on square matrices of a floating type."""

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, specs[0])
        matrix_shape(specs[0], square=True)
        return TensorSpec(specs[0].shape, specs[0].dtype)


def one_each(spec: TensorSpec) -> TensorSpec:
    """Spec of one value for each matrix."""
    return spec.with_shape(None if spec.shape is None else spec.shape[:-2])


@op("matrix_inverse", api="linalg.matrix_inverse math.matrix_inverse")
class MatrixInverse(OfMatrix):
    """Inverse matrices.  Shapes: x (…, n, n) -> the same."""

    def compute(self, xp: Any, x: Any) -> Any:
        found = by_lapack(np.linalg.inv, x)
        if not np.isfinite(found).all() and np.isfinite(x).all():
            raise SingularMatrixError(f"the matrix {x.shape} is singular: it has no inverse")
        return found

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """-X^T G X^T with the inverse X."""
        y = outputs[0]
        return [-matmul(matmul(y, output_grads[0], transpose_x=True), y, transpose_y=True)]


@op("matrix_scale", inputs="x factor")
class MatrixScale(Composite):
    """Matrices times one number each (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        x, factor = specs
        expect_broadcast("factor", factor, None if x.shape is None else x.shape[:-2])
        return TensorSpec(x.shape, x.dtype)

    def compute(self, xp: Any, x: Any, factor: Any) -> Any:
        return x * factor[..., None, None]

    def expand(self, *inputs: Any) -> Any:
        """The factor broadcast over each matrix."""
        x, factor = inputs
        sd = x.sd
        return x * sd.call("base", "expand_dims", sd.call("base", "expand_dims", factor, -1), -1)


@op("matrix_determinant", api="linalg.matrix_determinant math.matrix_determinant")
class MatrixDeterminant(OfMatrix):
    """Determinants.  Shapes: x (…, n, n) -> (…)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        super().infer(*specs)
        return one_each(specs[0])

    def compute(self, xp: Any, x: Any) -> Any:
        return by_lapack(np.linalg.det, x)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The upstream gradient times the cofactors."""
        sd = inputs[0].sd
        return [sd.add_op(MatrixScale(), [sd.add_op(Cofactors(), list(inputs)), output_grads[0]])]


@op("matrix_cofactors")
class Cofactors(OfMatrix):
    """Derivative of the determinant by each element, also for singular matrices (made by gradients)."""

    def compute(self, xp: Any, x: Any) -> Any:
        """By singular values: U diag(products of the others) V^T det(U V^T); NaN for matrices that are not finite."""
        known = np.isfinite(x).all(axis=(-2, -1), keepdims=True)
        u, s, vt = np.linalg.svd(np.where(known, x.astype(np.float64), 0))
        n = s.shape[-1]
        others = np.stack([np.prod(np.delete(s, i, axis=-1), axis=-1) for i in range(n)], axis=-1) if n else s
        sign = np.sign(np.linalg.det(u) * np.linalg.det(vt))
        return np.where(known, np.matmul(u * others[..., None, :], vt) * sign[..., None, None], np.nan)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient of det(x) inverse(x)^T, for matrices that are not singular."""
        x, sd = inputs[0], inputs[0].sd
        inverse, (h,) = sd.add_op(MatrixInverse(), [x]), output_grads
        inner = sd.add_op(MatrixScale(), [outputs[0], (h * inverse_transposed(inverse)).sum(-1).sum(-1)])
        return [inner - matmul(matmul(outputs[0], h, transpose_y=True), inverse, transpose_y=True)]


def inverse_transposed(x: SDVariable) -> SDVariable:
    """The matrices transposed, as a node."""
    return x.sd.add_op(Transposed(), [x])  # type: ignore[no-any-return]


@op("matrix_transposed")
class Transposed(Op):
    """Last two axes exchanged (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        shape = specs[0].shape
        return TensorSpec(None if shape is None else (*shape[:-2], shape[-1], shape[-2]), specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return transposed(x)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inverse_transposed(output_grads[0])]


@op("logdet", api="linalg.logdet")
class LogDet(OfMatrix):
    """ln(det(x)) of symmetric positive definite matrices.  Shapes: x (…, n, n) -> (…)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        super().infer(*specs)
        return one_each(specs[0])

    def compute(self, xp: Any, x: Any) -> Any:
        """Twice the sum of logarithms of the Cholesky factor's diagonal."""
        factor = by_lapack(np.linalg.cholesky, x)
        return 2 * np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(-1)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The upstream gradient times the inverse."""
        sd = inputs[0].sd
        inverse = inverse_transposed(sd.add_op(MatrixInverse(), list(inputs)))
        return [sd.add_op(MatrixScale(), [inverse, output_grads[0]])]


def expect_sides(matrix: TensorSpec, shape: Shape, sides: TensorSpec) -> None:
    """ShapeError where right-hand sides cannot have the shape that the matrix takes."""
    if not may_equal(sides.shape, shape):
        raise ShapeError(f"a matrix {matrix.shape} takes right-hand sides of {shape[-2]} rows, one for each matrix, got {sides.shape}")


class System(Op):
    """X with A X = B: shape rule of linear systems."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of the right-hand side."""
        a, b = specs
        require_floating(self.id, a, b)
        require_same_type(self.id, a, b)
        matrix_shape(a, square=True)
        matrix_shape(b)
        if a.shape is not None and b.shape is not None:
            expect_sides(a, (*a.shape[:-2], a.shape[-1], b.shape[-1]), b)
        return TensorSpec(b.shape, b.dtype)


@op("solve", api="linalg.solve", inputs="matrix rhs", file=FileArgs(bools=("adjoint",), properties={"useAdjoint": "b:adjoint"}))
class Solve(System):
    """X with A X = B, or A^T X = B with ``adjoint``.  Shapes: matrix (…, n, n), rhs (…, n, k) -> (…, n, k)."""

    adjoint: bool = False

    def compute(self, xp: Any, matrix: Any, rhs: Any) -> Any:
        return by_lapack(np.linalg.solve, transposed(matrix) if self.adjoint else matrix, rhs)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """B' = A^-T G, A' = -B' X^T."""
        x, down = outputs[0], inputs[0].sd.add_op(Solve(not self.adjoint), [inputs[0], output_grads[0]])
        return [-(matmul(x, down, transpose_y=True) if self.adjoint else matmul(down, x, transpose_y=True)), down]


@op("triangular_solve", api="linalg.triangular_solve", inputs="matrix rhs", file=FileArgs(bools=("lower", "adjoint")))
class TriangularSolve(System):
    """X with A X = B for triangular A (``lower`` or upper; the other part is not read), or A^T X = B with ``adjoint``."""

    lower: bool = True
    adjoint: bool = False

    def compute(self, xp: Any, matrix: Any, rhs: Any) -> Any:
        from scipy.linalg import solve_triangular
        n, k = rhs.shape[-2:]
        how: Any = {"trans": int(self.adjoint), "lower": self.lower, "check_finite": False}

        def each(a: Any, b: Any) -> Any:
            pairs = zip(a.reshape(-1, n, n), b.reshape(-1, n, k))
            return np.stack([solve_triangular(p, q, **how) for p, q in pairs]).reshape(b.shape)
        return by_lapack(each, matrix, rhs) if rhs.size else rhs.copy()

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient of a linear system, restricted to the triangle that is read."""
        sd, x = inputs[0].sd, outputs[0]
        down = sd.add_op(TriangularSolve(self.lower, not self.adjoint), [inputs[0], output_grads[0]])
        full = -(matmul(x, down, transpose_y=True) if self.adjoint else matmul(down, x, transpose_y=True))
        return [sd.add_op(MatrixBandPart(-1, 0) if self.lower else MatrixBandPart(0, -1), [full]), down]


@op("lstsq", api="linalg.lstsq", inputs="matrix rhs",
    file=FileArgs(floats=("l2_reguralizer",), bools=("fast",), properties={"l2_factor": "d:l2_reguralizer", "fastFlag": "b:fast"}))
class LeastSquares(Composite):
    """X with the smallest |A X - B|^2 + l |X|^2 for ``l2_reguralizer`` l.

    ``fast`` solves the normal equations; without it singular values are used, which is slower and more accurate. Both
    give the smallest X where several are equally good and A has full rank.

    Shapes: matrix (…, m, n), rhs (…, m, k) -> (…, n, k).
    """

    l2_reguralizer: float = 0.0
    fast: bool = True

    def infer(self, *specs: TensorSpec) -> Specs:
        """One row for each unknown."""
        a, b = specs
        require_floating(self.id, a, b)
        require_same_type(self.id, a, b)
        matrix_shape(a)
        matrix_shape(b)
        if a.shape is None or b.shape is None:
            return TensorSpec(None, a.dtype)
        expect_sides(a, (*a.shape[:-1], b.shape[-1]), b)
        return TensorSpec((*a.shape[:-2], a.shape[-1], b.shape[-1]), a.dtype)

    def compute(self, xp: Any, matrix: Any, rhs: Any) -> Any:
        """The solution of the normal equations, or by the pseudoinverse."""
        if not self.fast and not self.l2_reguralizer:
            return by_lapack(lambda a, b: np.matmul(np.linalg.pinv(finite(a)), b), matrix, rhs)
        at = transposed(matrix)
        if matrix.shape[-2] < matrix.shape[-1]:
            gram = np.matmul(matrix, at) + self._ridge(matrix, matrix.shape[-2])
            return np.matmul(at, by_lapack(np.linalg.solve, gram, rhs))
        return by_lapack(np.linalg.solve, np.matmul(at, matrix) + self._ridge(matrix, matrix.shape[-1]), np.matmul(at, rhs))

    def _ridge(self, matrix: Any, n: int) -> Any:
        return np.eye(n, dtype=matrix.dtype) * matrix.dtype.type(self.l2_reguralizer)

    def expand(self, *inputs: Any) -> Any:
        """The normal equations as graph nodes."""
        a, b = inputs
        shape, sd = a.spec.shape, a.sd
        if shape is None or -1 in shape[-2:]:
            raise GradientError("the gradient of least squares needs matrices of known size")
        wide = shape[-2] < shape[-1]
        gram = matmul(a, a, transpose_y=True) if wide else matmul(a, a, transpose_x=True)
        if self.l2_reguralizer:
            gram = gram + np.eye(min(shape[-2:]), dtype=a.dtype.numpy) * a.dtype.numpy.type(self.l2_reguralizer)
        if wide:
            return matmul(a, sd.add_op(Solve(), [gram, b]), transpose_x=True)
        return sd.add_op(Solve(), [gram, matmul(a, b, transpose_x=True)])
