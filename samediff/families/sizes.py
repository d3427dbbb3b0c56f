"""Sizes of arrays in formulas and in shapes of other arrays."""
from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..base.datatype import DataType
from ..base.spec import Shape, TensorSpec, may_spread, normalize_axis, size
from ..errors import ShapeError
from ..ir.op import Op, Specs, attributes, op
from .broadcasting import sum_to

if TYPE_CHECKING:
    from ..ir.variable import SDVariable


def axis_size(x: SDVariable, axis: int, data_type: DataType | None = None) -> SDVariable:
    """The size of an axis as a scalar, also where it is known only when run: in the type of ``x``, or LONG where that is not floating."""
    return x.sd.add_op(AxisSize(axis, data_type), [x])  # type: ignore[no-any-return]


@op("axis_size", gradient="zero", shape_inputs=(0,))
class AxisSize(Op):
    """Size of one axis, a scalar in a type that is given, else in that of a floating x or LONG (made by gradients)."""

    axis: int
    data_type: DataType | None = None

    def infer(self, *specs: TensorSpec) -> Specs:
        if specs[0].shape is not None:
            normalize_axis(self.axis, len(specs[0].shape))
        return TensorSpec((), self._type(specs[0].dtype))

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.asarray(x.shape[self.axis], dtype=self._type(DataType.of(x.dtype)).numpy)

    def _type(self, given: DataType) -> DataType:
        return self.data_type or (given if given.is_floating else DataType.LONG)


@op("array_equal", inputs="x y", gradient="zero")
class ArrayEqual(Op):
    """Whether two arrays have the same elements and, unless they are stretched, one shape (made from array code, of open sizes)."""

    equal_nan: bool = False
    stretched: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec((), DataType.BOOL)

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        fits = _spread_together(x.shape, y.shape) if self.stretched else tuple(x.shape) == tuple(y.shape)
        if not fits:
            return xp.asarray(False)
        same = x == y
        return xp.all(same | ((x != x) & (y != y)) if self.equal_nan else same)


def _spread_together(shape: Sequence[int], other: Sequence[int]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(shape), reversed(other)))


#: Arithmetic of whole sizes.
WHOLE: dict[str, Callable[[Any, Any], Any]] = {n: getattr(operator, n) for n in ("add", "sub", "mul", "floordiv", "mod")}

#: A size: a number, ("axis", number of the array, axis), or one of :data:`WHOLE` and two sizes.
SizeExpr = int | tuple[str, Any, Any]


def worked_out(formula: SizeExpr, shapes: Sequence[Shape | None]) -> int:
    """The number; -1 where a size is not known."""
    if isinstance(formula, int):
        return formula
    kind, left, right = formula
    if kind == "axis":
        shape = shapes[left]
        return -1 if shape is None else shape[right]
    pair = worked_out(left, shapes), worked_out(right, shapes)
    if -1 in pair:
        return -1
    if kind in ("floordiv", "mod") and pair[1] == 0:
        raise ShapeError(f"a size is divided by 0: {pair[0]} // 0")
    return int(WHOLE[kind](*pair))


@attributes
class Sized(Op):
    """Gives x another shape whose ``sizes`` are formulas of the sizes of the other inputs; a size of -1 follows from the others."""

    is_view = True
    flops_per_element = 0
    shape_inputs = tuple(range(1, 33))      # all but the first
    sizes: tuple[SizeExpr, ...]

    def shape(self, shapes: Sequence[Shape | None]) -> Shape:
        """The shape that ``sizes`` describes; -1 where shapes of the inputs are not known."""
        return tuple(worked_out(n, shapes[1:]) for n in self.sizes)


@op("reshape_to", inputs="x *others")
class ReshapeTo(Sized):
    """The elements in c order in a shape of known and open sizes (made from array code)."""

    sizes: tuple[SizeExpr, ...]

    def infer(self, *specs: TensorSpec) -> Specs:
        x, shape = specs[0], self.shape([s.shape for s in specs])
        known = all(n != -1 or formula == -1 for n, formula in zip(shape, self.sizes))
        if x.is_static and known:
            fixed, total = math.prod(n for n in shape if n != -1), size(x.shape)
            if -1 in shape:
                if fixed == 0 or total % fixed:
                    raise ShapeError(f"{total} elements of shape {x.shape} cannot be reshaped to {shape}")
                shape = tuple(total // fixed if n == -1 else n for n in shape)
            elif fixed != total:
                raise ShapeError(f"{total} elements of shape {x.shape} cannot be reshaped to {shape}, which has {fixed}")
        return TensorSpec(shape, x.dtype)

    def compute(self, xp: Any, x: Any, *others: Any) -> Any:
        """A view where possible."""
        return x.reshape(self.shape([x.shape, *(o.shape for o in others)]))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Back to the shape of x."""
        x, g = inputs[0], output_grads[0]
        sizes = tuple(("axis", 0, i) if n == -1 else n for i, n in enumerate(x.spec.shape or ()))
        return [x.sd.add_op(ReshapeTo(sizes), [g, x]), *[None] * (len(inputs) - 1)]


@op("broadcast_to_sizes", inputs="x *others")
class BroadcastToSizes(Sized):
    """x stretched to a shape of known and open sizes (made from array code)."""

    sizes: tuple[SizeExpr, ...]

    def infer(self, *specs: TensorSpec) -> Specs:
        shape = self.shape([s.shape for s in specs])
        if not may_spread(specs[0].shape, shape):
            raise ShapeError(f"an array of shape {specs[0].shape} cannot be stretched to {shape}")
        return TensorSpec(shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, *others: Any) -> Any:
        """A read-only view with stride 0."""
        return xp.broadcast_to(x, self.shape([x.shape, *(o.shape for o in others)]))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Sum over the broadcast axes."""
        return [sum_to(output_grads[0], inputs[0]), *[None] * (len(inputs) - 1)]
