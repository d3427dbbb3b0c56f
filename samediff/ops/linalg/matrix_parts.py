"""Bands and triangles of matrices."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import LinearAlgebraError, ShapeError
from ...ir.op import Op, Specs, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def matrix_shape(spec: TensorSpec, square: bool = False) -> None:
    """ShapeError unless the last two axes are a matrix; LinearAlgebraError unless that is square where it must be."""
    if spec.shape is None:
        return
    if len(spec.shape) < 2:
        raise ShapeError(f"expected a matrix or a batch of them, got shape {spec.shape}")
    rows, columns = spec.shape[-2:]
    if square and rows != columns and -1 not in (rows, columns):
        raise LinearAlgebraError(f"expected square matrices, got {rows} x {columns}")


class Masked(Op):
    """Keeps a part of the last two axes, 0 elsewhere: its own gradient."""

    def infer(self, *specs: TensorSpec) -> Specs:
        matrix_shape(specs[0])
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def keep(self, xp: Any, offset: Any) -> Any:
        """True where column - row = ``offset`` is kept."""
        raise NotImplementedError(f"{type(self).__name__} must implement keep(self, xp, offset)")

    def compute(self, xp: Any, x: Any) -> Any:
        """Zeros in place of elements that ``keep`` rejects by their position."""
        offset = xp.arange(x.shape[-1])[None, :] - xp.arange(x.shape[-2])[:, None]
        return xp.where(self.keep(xp, offset), x, x.dtype.type(0))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(self, [output_grads[0]])]


@op("matrix_band_part", api="linalg.matrix_band_part", file=FileArgs(ints=("min_lower", "max_upper")))
class MatrixBandPart(Masked):
    """Matrices with 0 outside a band of ``min_lower`` diagonals below and ``max_upper`` above the main one; negative: all."""

    min_lower: int
    max_upper: int

    def keep(self, xp: Any, offset: Any) -> Any:
        below = -offset <= self.min_lower if self.min_lower >= 0 else offset == offset
        return below & (offset <= self.max_upper) if self.max_upper >= 0 else below


@op("triu", api="linalg.triu base.triu math.triu", file=FileArgs(ints=("diag",), properties={"diag": "l:diag"}))
class UpperTriangle(Masked):
    """Matrices with 0 below diagonal ``diag`` (0 is the main one, positive ones lie above it)."""

    diag: int = 0

    def keep(self, xp: Any, offset: Any) -> Any:
        """True on the diagonal ``diag`` and above."""
        return offset >= self.diag


@op("tri", api="linalg.tri", inputs="", signatures=("data_type, row, column, diagonal", "row, column"), gradient="none",
    file=FileArgs(ints=("row", "column", "diagonal"), dtypes=("data_type",)))
class Tri(Op):
    """Ones on and below diagonal ``diagonal``, zeros above.  Shapes: -> (row, column)."""

    row: int
    column: int
    diagonal: int = 0
    data_type: DataType = DataType.FLOAT

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec((self.row, self.column), self.data_type)

    def compute(self, xp: Any) -> Any:
        return xp.tri(self.row, self.column, self.diagonal, dtype=self.data_type.numpy)
