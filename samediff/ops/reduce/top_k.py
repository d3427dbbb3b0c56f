"""Largest elements of rows."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.datatype import DataType
from ...base.named_axes import expect
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.indices import check_range, require_integer
from ...ir.op import Op, Specs, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("top_k", api="nn.top_k math.top_k", file=FileArgs(ints=("sorted:bool", "k:float"), called=FileArgs(ints=("k", "sorted:bool"))))
class TopK(Op):
    """The ``k`` largest elements along the last axis and their indices: two outputs.

    In descending order, equal ones by index; without ``sorted`` in their order of appearance.

    Shapes: x (…, n) -> values (…, k) of the same type, indices (…, k) INT.
    """

    k: float
    sorted: bool = True

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        x = specs[0]
        if x.shape == ():
            raise ShapeError("top_k needs at least one axis, got a scalar")
        k = int(self.k)
        if k != self.k or k < 1 or (x.shape is not None and x.shape[-1] != -1 and k > x.shape[-1]):
            raise ShapeError(f"k must be a whole number between 1 and the size of the last axis, got {self.k} for x {x.shape}")
        shape = None if x.shape is None else (*x.shape[:-1], k)
        return TensorSpec(shape, x.dtype), TensorSpec(shape, DataType.INT)

    def compute(self, xp: Any, x: Any) -> Any:
        """The largest elements by a stable sort, and their positions."""
        n, k = x.shape[-1], int(self.k)
        order = n - 1 - xp.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1][..., :k]
        if not self.sorted:
            order = xp.sort(order, axis=-1)
        return xp.take_along_axis(x, order, axis=-1), order.astype(xp.int32)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Put back where the values came from."""
        return [inputs[0].sd.add_op(PutAlongLast(), [output_grads[0], outputs[1], inputs[0]])]


def _expect_rows(x: TensorSpec, like: TensorSpec) -> None:
    """ShapeError unless x has the axes of ``like`` but for the last."""
    if x.shape and like.shape:
        expect("x", x, (*like.shape[:-1], x.shape[-1]))


@op("put_along_last", inputs="x indices like", shape_inputs=(2,))
class PutAlongLast(Op):
    """Zeros in the shape of ``like`` with x at the indices along the last axis (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        x, indices, like = specs
        require_integer("indices", indices)
        expect("x", x, indices.shape)
        _expect_rows(x, like)
        return TensorSpec(like.shape, x.dtype)

    def compute(self, xp: Any, x: Any, indices: Any, like: Any) -> Any:
        """Elements written into zeros; the indices of a row differ."""
        check_range(f"{self.id}: index", indices, like.shape[-1])
        out = xp.zeros(like.shape, x.dtype)
        xp.put_along_axis(out, indices.astype(xp.int64), x, axis=-1)
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient's elements at the indices."""
        return [inputs[0].sd.add_op(TakeAlongLast(), [output_grads[0], inputs[1], inputs[0]]), None, None]


@op("take_along_last", inputs="x indices like", shape_inputs=(2,))
class TakeAlongLast(Op):
    """Elements of x at the indices along the last axis (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        x, indices, like = specs
        require_integer("indices", indices)
        expect("indices", indices, like.shape)
        _expect_rows(x, like)
        return TensorSpec(like.shape, x.dtype)

    def compute(self, xp: Any, x: Any, indices: Any, like: Any) -> Any:
        check_range(f"{self.id}: index", indices, x.shape[-1])
        return xp.take_along_axis(x, indices.astype(xp.int64), axis=-1)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(PutAlongLast(), [output_grads[0], inputs[1], inputs[0]]), None, None]
