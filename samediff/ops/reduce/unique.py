"""The distinct elements of an array."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.datatype import DataType
from ...base.spec import TensorSpec, size
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError
from ...ir.op import Op, Specs, op
from ..index.gather import gather_gradient
from ..shape.reshaping import reshape_like

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("unique", file=FileArgs(properties={"idxDataType": "s:index_type:dtype"}))
class Unique(Op):
    """The distinct elements in the order of their first appearance, and for each element of x its place among them.

    Shapes: x (*S) -> values (n) of the same type, indices (number of elements) LONG or ``index_type``; n is known when run.
    """

    index_type: DataType | None = None

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        index = self.index_type or DataType.LONG
        if not index.is_integer:
            raise DataTypeError(f"places are integers; got index_type {index.name}")
        return TensorSpec((-1,), specs[0].dtype), TensorSpec((size(specs[0].shape),), index)

    def compute(self, xp: Any, x: Any) -> Any:
        """The distinct elements in order of appearance, and the position of each element among them."""
        values, first, places = xp.unique(x.reshape(-1), return_index=True, return_inverse=True)
        order = xp.argsort(first)
        rank = xp.argsort(order)
        return values[order], rank[places.reshape(-1)].astype((self.index_type or DataType.LONG).numpy)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient goes to the first of equal elements."""
        x, sd = inputs[0], inputs[0].sd
        flat = sd.call("base", "reshape", x, -1)
        return [reshape_like(gather_gradient(output_grads[0], sd.add_op(FirstPlaces(), [x]), flat, 0), x)]


@op("unique_with_counts", api="base.unique_with_counts", file=FileArgs(properties={"idxDataType": "s:index_type:dtype"}))
class UniqueWithCounts(Unique):
    """As ``unique``, and how often each element appears: counts (n) of the type of the places."""

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        values, places = super().infer(*specs)
        return values, places, TensorSpec((-1,), places.dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        """The results of ``unique``, and the number of each place."""
        values, places = super().compute(xp, x)
        return values, places, xp.bincount(places, minlength=values.size).astype(places.dtype)


@op("first_places", gradient="zero")
class FirstPlaces(Op):
    """The position at which each distinct element appears first, in that order; LONG (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec((-1,), DataType.LONG)

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.sort(xp.unique(x.reshape(-1), return_index=True)[1]).astype(xp.int64)
