"""Broadcast to a shape that a variable holds, rows of a matrix, the bits of numbers as another type."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec, broadcast, normalize_axis, size
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError, ShapeError
from ...families.broadcasting import sum_to
from ...families.indices import require_integer
from ...families.shape_inputs import ints_of, shape_from
from ...ir.op import Op, Specs, op, require_same_type
from .reshaping import Reshaping

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("broadcast_to", inputs="x shape", file=FileArgs())
class BroadcastTo(Op):
    """x repeated to the shape that a variable holds."""

    flops_per_element = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape that the input holds; unknown unless it is a constant."""
        x, shape = specs
        require_integer("a shape", shape)
        result = shape_from(shape)
        if result is not None and ints_of(shape) is not None and x.shape is not None and broadcast(x.shape, result) != result:
            raise ShapeError(f"shape {x.shape} cannot be repeated to {result}")
        return TensorSpec(result, x.dtype)

    def compute(self, xp: Any, x: Any, shape: Any) -> Any:
        result = tuple(int(n) for n in shape.reshape(-1))
        if min(result, default=0) < 0 or broadcast(x.shape, result) != result:
            raise ShapeError(f"shape {x.shape} cannot be repeated to {result}")
        return xp.broadcast_to(x, result)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient summed over the broadcast axes."""
        return [sum_to(output_grads[0], inputs[0]), None]


@op("broadcast_dynamic_shape", inputs="x y", gradient="zero", file=FileArgs())
class BroadcastDynamicShape(Op):
    """The shape to which arrays of the shapes x and y are broadcast: an integer vector of the type of x."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """As long as the longer of the two shapes."""
        for spec in specs:
            require_integer("shapes", spec)
            if spec.shape is not None and len(spec.shape) != 1:
                raise ShapeError(f"shapes are vectors, got one of shape {spec.shape}")
        require_same_type(self.id, *specs)
        x, y = (ints_of(s) for s in specs)
        value = None if x is None or y is None else np.asarray(broadcast(x, y), specs[0].dtype.numpy)
        lengths = [s.shape[0] if s.shape else -1 for s in specs]
        return TensorSpec((-1 if -1 in lengths else max(lengths),), specs[0].dtype, value)

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        """The broadcast of two shapes."""
        shapes = [tuple(int(n) for n in v) for v in (x, y)]
        return xp.asarray(broadcast(*shapes), dtype=x.dtype)


@op("flatten_2d", file=FileArgs(ints=("axis",), properties={"flattenDimension": "l:axis"}))
class Flatten2D(Reshaping):
    """A matrix: the axes in front of ``axis`` make the rows, the others the columns."""

    axis: int = 1

    def parts(self, shape: tuple[int, ...]) -> tuple[int, int]:
        """Number of rows and columns."""
        if not shape:
            raise ShapeError("flatten_2d needs at least one axis, got a scalar")
        at = normalize_axis(self.axis, len(shape))
        return size(shape[:at]), size(shape[at:])

    def infer(self, *specs: TensorSpec) -> Specs:
        x = specs[0]
        return x.with_shape((-1, -1) if x.shape is None else self.parts(x.shape))

    def compute(self, xp: Any, x: Any) -> Any:
        """A view where possible."""
        return x.reshape(self.parts(x.shape))


@op("bitcast", gradient="none", file=FileArgs(ints=("data_type:dtype",), properties={"dtype": "s:data_type:dtype"}))
class BitCast(Op):
    """The bits of an array read as another type.

    A wider type takes the elements along the last axis together, which then goes; a narrower one adds a last axis with the parts.
    """

    data_type: DataType

    def ratio(self, x: TensorSpec) -> tuple[int, int]:
        """Sizes of an element before and after."""
        for dtype in (x.dtype, self.data_type):
            if not dtype.is_numeric or dtype is DataType.BOOL:
                raise DataTypeError(f"bitcast is for numbers, got {dtype.name}")
        return x.dtype.numpy.itemsize, self.data_type.numpy.itemsize

    def infer(self, *specs: TensorSpec) -> Specs:
        """A last axis is added or removed by the ratio of the types' sizes."""
        x = specs[0]
        old, new = self.ratio(x)
        if x.shape is None or old == new:
            return TensorSpec(x.shape, self.data_type)
        if new < old:
            return TensorSpec((*x.shape, old // new), self.data_type)
        if not x.shape or x.shape[-1] not in (-1, new // old):
            raise ShapeError(f"{x.dtype.name} to {self.data_type.name} takes {new // old} elements together: the last axis of {x.shape} "
                             "must have that size")
        return TensorSpec(x.shape[:-1], self.data_type)

    def compute(self, xp: Any, x: Any) -> Any:
        """A view of the memory."""
        dtype = self.data_type.numpy
        old, new = x.dtype.itemsize, dtype.itemsize
        if old == new:
            return xp.ascontiguousarray(x).view(dtype).reshape(x.shape)
        if new < old:
            return xp.ascontiguousarray(x).reshape(-1).view(dtype).reshape(*x.shape, old // new)
        if x.shape[-1] != new // old:
            raise ShapeError(f"the last axis must have size {new // old}, got {x.shape}")
        return xp.ascontiguousarray(x).reshape(-1).view(dtype).reshape(x.shape[:-1])
