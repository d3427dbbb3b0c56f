"""Diagonal matrices from vectors; logarithms of determinants of either sign."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...ir.op import Op, Specs, op
from .diagonal import MatrixDiagPart
from .matrix_solve import MatrixInverse, MatrixScale, OfMatrix, by_lapack, inverse_transposed, one_each

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("matrix_diag", file=FileArgs())
class MatrixDiag(Op):
    """The vectors along the last axis on the diagonals of zeros.  Shapes: (…, n) -> (…, n, n)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The last axis becomes two of its size."""
        x = specs[0]
        if x.shape == ():
            raise ShapeError("matrix_diag needs at least one axis, got a scalar")
        return x.with_shape(None if x.shape is None else (*x.shape, x.shape[-1]))

    def compute(self, xp: Any, x: Any) -> Any:
        out = xp.zeros((*x.shape, x.shape[-1]), x.dtype)
        k = xp.arange(x.shape[-1])
        out[..., k, k] = x
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(MatrixDiagPart(), [output_grads[0]])]


@op("log_matrix_determinant", file=FileArgs(properties={"num": "i:num"}))
class LogMatrixDeterminant(OfMatrix):
    """ln |det(x)|; -infinity for singular matrices. With ``num`` 2 the sign of the determinant comes first.

    Shapes: x (…, n, n) -> (…), or twice that.
    """

    num: int = 1

    def infer(self, *specs: TensorSpec) -> Specs:
        """One or two numbers for each matrix."""
        super().infer(*specs)
        if self.num not in (1, 2):
            raise ShapeError(f"{self.id} has one output or two, got num={self.num}")
        return (one_each(specs[0]),) * 2 if self.num == 2 else one_each(specs[0])

    def compute(self, xp: Any, x: Any) -> Any:
        sign, log = by_lapack(np.linalg.slogdet, x)
        log = np.asarray(log, x.dtype)
        return (np.asarray(sign, x.dtype), log) if self.num == 2 else log

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """g times the transposed inverse; the sign is constant."""
        sd = inputs[0].sd
        inverse = inverse_transposed(sd.add_op(MatrixInverse(), list(inputs)))
        return [sd.add_op(MatrixScale(), [inverse, output_grads[-1]])]
