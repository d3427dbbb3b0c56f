"""Eigenvalues and eigenvectors of matrices."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...base.spec import TensorSpec
from ...errors import ShapeError
from ...ir.op import Op, op, require_floating
from .matmul import matmul
from .matrix_factors import EyeLike
from .matrix_parts import MatrixBandPart, matrix_shape
from .matrix_solve import MatrixInverse, by_lapack, finite, inverse_transposed

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("eig", api="linalg.eig")
class Eig(Op):
    """Eigenvalues and eigenvectors of one square matrix: two outputs, real and imaginary parts along the last axis.

    Shapes: x (n, n) -> values (n, 2), vectors (n, n, 2), column j of unit length with a real largest element belongs to value j.
    Derivatives of any order exist where all eigenvalues differ.
    """

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        x = specs[0]
        require_floating(self.id, x)
        matrix_shape(x, square=True)
        if x.rank not in (None, 2):
            raise ShapeError(f"eig takes one matrix, got {x.shape}")
        n = -1 if x.shape is None else max(x.shape)
        return x.with_shape((n, 2)), x.with_shape((n, n, 2))

    def compute(self, xp: Any, x: Any) -> Any:
        values, vectors = by_lapack(np.linalg.eig, x)
        return tuple(np.stack([a.real, a.imag], axis=-1).astype(x.dtype) for a in (values, vectors))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Re W^H (conj(E) * V^H G + diag(g)) V^H with W = V^-1, E_ij = 1 / (l_j - l_i) and G without what would change the
        length of a column or turn its largest element off the real axis (Giles 2008).
        """
        values, vectors = (_Pair(v[..., 0], v[..., 1]) for v in outputs)
        for_values, for_vectors = (_Pair(v[..., 0], v[..., 1]) for v in output_grads)
        eye = values.re.sd.add_op(EyeLike(), [vectors.re])
        step = _Pair(*(_row(p) - _column(p) for p in values))
        size = step.re * step.re + step.im * step.im + eye                    # 1 on the diagonal, where both parts are 0
        given = vectors.adjoint().times(_tangent(vectors, for_vectors))
        inner = _Pair((step.re * given.re - step.im * given.im) / size + eye * _row(for_values.re),
                      (step.re * given.im + step.im * given.re) / size + eye * _row(for_values.im))
        return [_inverse(vectors).adjoint().times(inner).times(vectors.adjoint()).re]


@op("eigh")
class Eigh(Op):
    """Eigenvalues in ascending order and orthonormal eigenvectors of symmetric matrices (made by array code of users).

    Shapes: x (…, n, n) -> values (…, n), vectors (…, n, n), column j belongs to value j. Of x the lower triangle is read. Derivatives of
    any order exist where all eigenvalues differ.
    """

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        x = specs[0]
        require_floating(self.id, x)
        matrix_shape(x, square=True)
        return x.with_shape(None if x.shape is None else x.shape[:-1]), x

    def compute(self, xp: Any, x: Any) -> Any:
        return tuple(f.astype(x.dtype) for f in by_lapack(lambda a: np.linalg.eigh(finite(a)), x))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """V (diag(g) + E * V^T G) V^T with E_ij = 1 / (l_j - l_i), its symmetric part (Giles 2008), all of it for the lower triangle."""
        (values, vectors), (for_values, for_vectors) = outputs, output_grads
        sd = vectors.sd
        eye = sd.add_op(EyeLike(), [vectors])
        apart = 1.0 / (_before_last(values) - _last(values) + eye) - eye
        inner = eye * _before_last(for_values) + apart * matmul(vectors, for_vectors, transpose_x=True)
        found = matmul(matmul(vectors, inner), vectors, transpose_y=True)
        lower = sd.add_op(MatrixBandPart(-1, 0), [found + inverse_transposed(found)])
        return [lower - sd.add_op(MatrixBandPart(0, 0), [found])]


def _before_last(v: SDVariable) -> SDVariable:
    return v.sd.call("base", "expand_dims", v, -2)  # type: ignore[no-any-return]


def _last(v: SDVariable) -> SDVariable:
    return v.sd.call("base", "expand_dims", v, -1)  # type: ignore[no-any-return]


class _Pair(NamedTuple):
    """A complex matrix as two real graph variables."""

    re: Any
    im: Any

    def times(self, other: _Pair) -> _Pair:
        """Matrix product."""
        return _Pair(matmul(self.re, other.re) - matmul(self.im, other.im), matmul(self.re, other.im) + matmul(self.im, other.re))

    def adjoint(self) -> _Pair:
        """Conjugate transpose."""
        return _Pair(self.re.permute(1, 0), -self.im.permute(1, 0))


def _tangent(v: _Pair, g: _Pair) -> _Pair:
    """The upstream gradient of the columns of v that the normalization leaves."""
    sd = v.re.sd
    along_re, along_im = (v.re * g.re + v.im * g.im).sum(0), (v.re * g.im - v.im * g.re).sum(0)
    is_real = sd.call("base", "cast_to", sd.call("base", "eq", v.im, 0.0), v.re.dtype)      # LAPACK leaves an exact 0 there
    largest = sd.call("base", "cast_to", sd.call("base", "is_max", v.re * v.re * is_real, 0), v.re.dtype)
    turn = along_im / (largest * v.re).sum(0)
    return _Pair(g.re - v.re * _row(along_re), g.im - v.im * _row(along_re) - largest * _row(turn))


def _inverse(v: _Pair) -> _Pair:
    """Inverse of a complex matrix v, from that of the real matrix [[Re, -Im], [Im, Re]]."""
    sd = v.re.sd
    rows = [sd.call("base", "concat", 1, v.re, -v.im), sd.call("base", "concat", 1, v.im, v.re)]
    both = sd.add_op(MatrixInverse(), [sd.call("base", "concat", 0, *rows)])
    first = sd.call("base", "split", both, 2, 1)[0]
    return _Pair(*sd.call("base", "split", first, 2, 0))


def _row(v: SDVariable) -> SDVariable:
    return v.sd.call("base", "expand_dims", v, 0)  # type: ignore[no-any-return]


def _column(v: SDVariable) -> SDVariable:
    return v.sd.call("base", "expand_dims", v, 1)  # type: ignore[no-any-return]
