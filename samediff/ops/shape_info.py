"""Arrays made after the shape of another one."""
from __future__ import annotations

from typing import Any

from ..datatype import DataType
from ..op import Op, Specs, op
from ..spec import TensorSpec


class Like(Op):
    """Filled with one value, in the shape of the input."""

    data_type: DataType | None = None
    gradient = "zero"
    value = 0
    shape_inputs = (0,)

    def __init_subclass__(cls) -> None:
        cls.__annotations__ = {"data_type": "DataType | None"}
        cls.data_type = None

    def infer(self, *specs: TensorSpec) -> Specs:
        """The input's shape."""
        return TensorSpec(specs[0].shape, self.data_type or specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        """A fresh array."""
        return xp.full_like(x, self.value, dtype=self.data_type.numpy if self.data_type else x.dtype)


@op("zeros_as", api="base.zeros_like")
class ZerosLike(Like):
    """Zeros in the shape of x."""

    value = 0


@op("ones_as", api="base.ones_like")
class OnesLike(Like):
    """Ones in the shape of x."""

    value = 1


@op("identity", api="base.identity math.identity")
class Identity(Op):
    """The input itself."""

    def same_as(self, *specs: TensorSpec) -> int | None:
        """Always."""
        return 0

    def infer(self, *specs: TensorSpec) -> Specs:
        """As the input."""
        return specs[0]

    def compute(self, xp: Any, x: Any) -> Any:
        """The same array."""
        return x

    def grad(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        """Passed on."""
        return [output_grads[0]]
