"""Shapes and sizes as arrays, and arrays made after the shape of another one."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec, normalize_axis, size
from ...codecs.file_args import FileArgs
from ...codecs.file_forms import SCALAR
from ...errors import DataTypeError
from ...expressions import expression as ex
from ...families.elementwise import Elementwise
from ...ir.op import Op, Specs, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class Like(Op):
    """Filled with one value, in the shape of the input."""

    flops_per_element = 0
    data_type: DataType | None = None
    gradient = "zero"
    value = 0
    shape_inputs = (0,)

    def __init_subclass__(cls) -> None:
        cls.__annotations__ = {"data_type": "DataType | None"}
        cls.data_type = None

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, self.data_type or specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.full_like(x, self.value, dtype=self.data_type.numpy if self.data_type else x.dtype)


@op("zeros_as", api="base.zeros_like math.zeros_like", file=FileArgs(op_name="zeroslike", dtypes=("data_type?",)))
class ZerosLike(Like):
    """Zeros in the shape of x."""

    value = 0
    node_name = "zeroslike"


@op("ones_as", api="base.ones_like math.ones_like", file=FileArgs(dtypes=("data_type?",)))
class OnesLike(Like):
    """Ones in the shape of x."""

    value = 1


@op("stop_gradient", api="base.stop_gradient var.stop_gradient", gradient="zero")
class StopGradient(Op):
    """The input itself, as a constant for gradients."""

    flops_per_element = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        return specs[0]

    def same_as(self, *specs: TensorSpec) -> int | None:
        return 0

    def compute(self, xp: Any, x: Any) -> Any:
        return x


@op("identity", api="base.identity math.identity var.dup var.identity")
class Identity(Op):
    """The input itself."""

    flops_per_element = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype, specs[0].value)

    def same_as(self, *specs: TensorSpec) -> int | None:
        return 0

    def compute(self, xp: Any, x: Any) -> Any:
        return x

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [output_grads[0]]


@op("cast", api="base.cast_to var.cast_to base.cast math.cast var.cast", file=FileArgs(ints=("data_type?:dtype",), dtypes=("~data_type",)))
class Cast(Elementwise):
    """Converted to another type: floats truncate toward zero, BOOL is x != 0."""

    flops_per_element = 0
    data_type: DataType

    def infer(self, *specs: TensorSpec) -> Specs:
        if specs[0].dtype.is_numeric != self.data_type.is_numeric:
            raise DataTypeError(f"cannot cast {specs[0].dtype.name} to {self.data_type.name}")
        value = specs[0].value
        with np.errstate(all="ignore"):         # as when it runs
            return TensorSpec(specs[0].shape, self.data_type, None if value is None else value.astype(self.data_type.numpy))

    def expressions(self, dtypes: Sequence[np.dtype[Any]]) -> tuple[ex.Expr, ...]:
        """Between numbers that loops hold as they are: to whole ones; NumPy decides about those that do not fit."""
        if self.data_type not in (DataType.FLOAT, DataType.DOUBLE) or dtypes[0].kind not in "fiub" or dtypes[0].itemsize == 2:
            raise ex.NotElementwiseError(f"a cast from {dtypes[0]} to {self.data_type.name} is none")
        return (ex.cast(ex.input_(0, dtypes[0]), self.data_type.numpy),)

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return 0

    def compute(self, xp: Any, x: Any) -> Any:
        return x.astype(self.data_type.numpy)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        if not self.data_type.is_floating or not inputs[0].dtype.is_floating:
            return [None]
        return [inputs[0].sd.call("base", "cast_to", output_grads[0], inputs[0].dtype)]


class Measure(Op):
    """A property of the shape, as an integer array that is known early where the shape is."""

    flops_per_element = 0
    gradient = "zero"
    result = DataType.LONG
    shape_inputs = (0,)

    def of(self, shape: tuple[int, ...]) -> Any:
        """The value for a shape without unknown sizes."""
        raise NotImplementedError

    def infer(self, *specs: TensorSpec) -> Specs:
        value = np.asarray(self.of(specs[0].shape), self.result.numpy) if specs[0].is_static and specs[0].shape is not None else None
        return TensorSpec((), self.result, value)

    def compute(self, xp: Any, x: Any) -> Any:
        """The measure of the actual shape."""
        return np.asarray(self.of(tuple(x.shape)), self.result.numpy)


@op("shape_of", api="base.shape var.shape math.shape")
class ShapeOf(Measure):
    """The sizes of x, LONG.  Shapes: x (*S) -> (rank)."""

    def of(self, shape: tuple[int, ...]) -> Any:
        return shape

    def infer(self, *specs: TensorSpec) -> Specs:
        """One size for each axis."""
        rank = specs[0].rank
        found = super().infer(*specs)
        return TensorSpec((-1,) if rank is None else (rank,), self.result, found.value)  # type: ignore[union-attr]


@op("size", api="base.size var.length var.size math.size")
class SizeOp(Measure):
    """Number of elements, LONG scalar."""

    def of(self, shape: tuple[int, ...]) -> Any:
        """The product of the sizes."""
        return size(shape)


@op("size_at", api="base.size_at var.size_at math.size_at", file=FileArgs(ints=("dimension",)))
class SizeAt(Measure):
    """Size of one axis, LONG scalar."""

    dimension: int

    def of(self, shape: tuple[int, ...]) -> Any:
        return shape[normalize_axis(self.dimension, len(shape))]

    def infer(self, *specs: TensorSpec) -> Specs:
        """A scalar; ShapeError for an axis that does not exist."""
        if specs[0].shape is not None:
            normalize_axis(self.dimension, len(specs[0].shape))
        return super().infer(*specs)


@op("rank", api="base.rank var.rank math.rank")
class RankOp(Measure):
    """Number of axes, INT scalar."""

    result = DataType.INT

    def of(self, shape: tuple[int, ...]) -> Any:
        """The length of the shape."""
        return len(shape)


@op("is_numeric_tensor", api="base.is_numeric_tensor math.is_numeric_tensor")
class IsNumericTensor(Measure):
    """True, as every array is one of numbers."""

    result = DataType.BOOL

    def infer(self, *specs: TensorSpec) -> Specs:
        if specs[0].dtype is DataType.BOOL or not specs[0].dtype.is_numeric:
            raise DataTypeError(f"is_numeric_tensor needs numbers, got {specs[0].dtype.name}")
        return TensorSpec((), DataType.BOOL)

    def of(self, shape: tuple[int, ...]) -> Any:
        """Always true: the types were checked."""
        return True


@op("set_scalar", api="base.scalar_set math.scalar_set var.assign", gradient="zero", shape_inputs=(0,), file=SCALAR)
class ScalarSet(Op):
    """Filled with a number, in the shape and type of x."""

    element_values = "scalar"
    scalar: float

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.full_like(x, self.scalar)
