"""Indices of embedding layers, which come as numbers of any type."""
from __future__ import annotations

from typing import Any

from ...samediff.base.datatype import DataType
from ...samediff.base.spec import TensorSpec
from ...samediff.errors import ShapeError
from ...samediff.families.indices import check_range, check_whole
from ...samediff.ir.op import Op, Specs, op


@op("row_indices", inputs="x", gradient="zero")
class RowIndices(Op):
    """Whole numbers from 0 to ``count - 1`` as integers; ``owner`` names the layer in errors.

    Shapes: x (any) -> the same; (batch) or (batch, 1) where an example has a ``single`` index.

    Raises
    ------
    ShapeError
        An index outside of the table, when it is computed; several for an example that has one.
    DataTypeError
        A fraction, NaN or infinity.
    """

    count: int
    owner: str = "embedding"
    single: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        shape = specs[0].shape
        if self.single and shape is not None and any(n not in (1, -1) for n in shape[1:]):
            raise ShapeError(f"{self.owner} takes one index for each example, shape (batch, 1); got {shape}")
        return TensorSpec(shape, DataType.INT)

    def compute(self, xp: Any, x: Any) -> Any:
        check_whole(f"{self.owner}: index", x)
        check_range(f"{self.owner}: index", x, self.count, "a table whose number of rows is")
        return x.astype(DataType.INT.numpy)

    def or_none(self, xp: Any, x: Any) -> Any:
        return xp.where((x >= 0) & (x < self.count) & (xp.floor(x) == x), x, -1)
