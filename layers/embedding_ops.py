"""Indices of embedding layers, which come as numbers of any type."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..samediff.datatype import DataType
from ..samediff.errors import DataTypeError, ShapeError
from ..samediff.op import Op, Specs, op
from ..samediff.spec import TensorSpec

if TYPE_CHECKING:
    from ..samediff.executor.cuda.actions import CudaKernel


@op("row_indices", inputs="x", gradient="zero")
class RowIndices(Op):
    """Whole numbers from 0 to ``count - 1`` as integers; ``owner`` names the layer in errors.  Shapes: x (any) -> the same.

    Raises
    ------
    ShapeError
        An index outside of the table, when it is computed.
    DataTypeError
        A fraction or NaN.
    """

    count: int
    owner: str = "embedding"

    def infer(self, *specs: TensorSpec) -> Specs:
        """Integers."""
        return TensorSpec(specs[0].shape, DataType.INT)

    def compute(self, xp: Any, x: Any) -> Any:
        """Checked, then converted."""
        if x.size:
            whole = xp.floor(x) == x          # also False for NaN
            if not xp.all(whole):
                raise DataTypeError(f"{self.owner}: indices must be whole numbers, got {x[~whole].reshape(-1)[0]}")
            outside = (x < 0) | (x >= self.count)
            if xp.any(outside):
                raise ShapeError(f"{self.owner}: index {int(x[outside].reshape(-1)[0])} is out of range; "
                                 f"the table has {self.count} rows (0 to {self.count - 1})")
        return x.astype(DataType.INT.numpy)

    def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
        """The same; -1 for what is refused here, which gives rows of NaN: nothing can be raised on a device."""
        from ..samediff.executor.cuda.elementwise import loop
        return loop(self._or_none, specs)

    def _or_none(self, xp: Any, x: Any) -> Any:
        return xp.where((x >= 0) & (x < self.count) & (xp.floor(x) == x), x, -1)
