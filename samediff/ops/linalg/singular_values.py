"""Singular values of matrices, over the last two axes, and their derivatives to any order."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...families.composite import Composite
from ...ir.op import Op, Specs, op, require_floating
from .matmul import matmul
from .matrix_factors import EyeLike
from .matrix_parts import matrix_shape
from .matrix_solve import by_lapack, finite, inverse_transposed

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class _SvdArgs(FileArgs):
    """DL4J's kernel gives U and V too where it computes them."""

    def further_outputs(self, op_fields: Mapping[str, Any]) -> tuple[str | None, ...]:
        return (None, None) if op_fields["compute_uv"] else ()


@op("svd", api="linalg.svd", file=_SvdArgs(ints=("full_uv:bool", "compute_uv:bool", "switch_num")))
class Svd(Op):
    """Singular values in descending order.  Shapes: x (…, m, n) -> (…, min(m, n)).

    ``full_uv``, ``compute_uv`` and ``switch_num`` are kept for files and have no effect on the values. Second derivatives
    exist where the singular values differ from each other (and from 0 unless x is square).
    """

    full_uv: bool = False
    compute_uv: bool = False
    switch_num: int = 16

    def infer(self, *specs: TensorSpec) -> Specs:
        x = specs[0]
        require_floating(self.id, x)
        matrix_shape(x)
        if x.shape is None:
            return x.with_shape(None)
        *lead, m, n = x.shape
        return x.with_shape((*lead, _shorter(m, n)))

    def compute(self, xp: Any, x: Any) -> Any:
        return by_lapack(lambda a: np.linalg.svd(finite(a), compute_uv=False), x)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(SvdSlope(), [inputs[0], output_grads[0]])]


def _shorter(m: int, n: int) -> int:
    return -1 if -1 in (m, n) else min(m, n)


@op("svd_slope", inputs="x upstream")
class SvdSlope(Composite):
    """U diag(g) V^T: gradient of the singular values (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, upstream: Any) -> Any:
        def slope(a: Any, g: Any) -> Any:
            u, _, vt = np.linalg.svd(finite(a), full_matrices=False)
            return np.matmul(u * g[..., None, :], vt)
        return by_lapack(slope, x, upstream)

    def expand(self, *inputs: Any) -> Any:
        """The gradient from the factors of the decomposition."""
        x, g = inputs
        u, _, vt = x.sd.add_op(SvdFactors(), [x])
        return matmul(u * _row(g), vt)


@op("svd_factors")
class SvdFactors(Op):
    """U, the singular values and V^T of matrices with x = U diag(s) V^T (made by gradients).

    Shapes: x (…, m, n) -> U (…, m, k), s (…, k), V^T (…, k, n), k = min(m, n).
    """

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        x = specs[0]
        if x.shape is None:
            return (x.with_shape(None),) * 3
        *lead, m, n = x.shape
        k = _shorter(m, n)
        return x.with_shape((*lead, m, k)), x.with_shape((*lead, k)), x.with_shape((*lead, k, n))

    def compute(self, xp: Any, x: Any) -> Any:
        return tuple(f.astype(x.dtype) for f in by_lapack(lambda a: np.linalg.svd(finite(a), full_matrices=False), x))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient from differences of the squared singular values (Townsend 2016)."""
        (u, s, vt), (for_u, for_s, for_vt) = outputs, output_grads
        eye = u.sd.add_op(EyeLike(), [matmul(vt, vt, transpose_y=True)])
        squares = s * s
        inverse = 1.0 / (_row(squares) - _column(squares) + eye) - eye
        in_u = matmul(u, for_u, transpose_x=True)
        in_v = matmul(vt, for_vt, transpose_y=True)
        inner = (inverse * (in_u - inverse_transposed(in_u))) * _row(s) + _column(s) * (inverse * (in_v - inverse_transposed(in_v)))
        found = matmul(matmul(u, inner + eye * _row(for_s)), vt)
        m, n = (inputs[0].spec.shape or (-1, -1))[-2:]
        if m > n or -1 in (m, n):                       # directions outside of the columns of U
            found = found + matmul((for_u - matmul(u, in_u)) / _row(s), vt)
        if n > m or -1 in (m, n):
            found = found + matmul(u, (for_vt - matmul(inverse_transposed(in_v), vt)) / _column(s))
        return [found]


def _row(v: SDVariable) -> SDVariable:
    return v.sd.call("base", "expand_dims", v, -2)  # type: ignore[no-any-return]


def _column(v: SDVariable) -> SDVariable:
    return v.sd.call("base", "expand_dims", v, -1)  # type: ignore[no-any-return]
