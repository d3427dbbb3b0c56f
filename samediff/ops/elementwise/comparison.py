"""Comparisons, logic and choice."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...base.datatype import DataType
from ...base.named_axes import expect_broadcast
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError
from ...families.broadcasting import sum_to
from ...families.families import Elementwise, Pairwise, binary, unary
from ...ir.op import Op, Specs, op, require_same_type

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

#: id -> (id of the form with a number, method names, function, text)
COMPARISONS: dict[str, tuple[str, str, Any, str]] = {
    "equals": ("equals_scalar", "eq equal", lambda xp, x, y: x == y, "x == y; NaN equals nothing."),
    "not_equals": ("notequals_scalar", "neq not_equal", lambda xp, x, y: x != y, "x != y."),
    "less": ("lessthan_scalar", "lt less", lambda xp, x, y: x < y, "x < y."),
    "less_equal": ("lessthanorequal_scalar", "lte less_equal", lambda xp, x, y: x <= y, "x <= y."),
    "greater": ("greaterthan_scalar", "gt greater", lambda xp, x, y: x > y, "x > y."),
    "greater_equal": ("greaterthanorequal_scalar", "gte greater_equal", lambda xp, x, y: x >= y, "x >= y."),
}

for _id, (_scalar, _names, _function, _text) in COMPARISONS.items():
    binary(_id, " ".join(f"{space}.{m}" for m in _names.split() for space in ("base", "var", "math")), _function, _text, rule="compare",
           scalar=_scalar, gradient="zero")


#: DL4J writes the number that it would compare with, and puts the condition first.
_COMPARABLE = FileArgs(floats=("=0.0",), properties={"comparable": "d:=0.0"})
_CONDITION_FIRST = FileArgs(order=(2, 0, 1))


class Logic(Pairwise):
    """An operation on two BOOL arrays, with broadcasting."""

    gradient = "zero"

    def result_type(self, *specs: TensorSpec) -> DataType:
        for spec in specs:
            if spec.dtype is not DataType.BOOL:
                raise DataTypeError(f"{self.id} needs BOOL inputs, got {spec.dtype.name}: compare first, or cast_to(DataType.BOOL)")
        return DataType.BOOL


@op("and", api="math.and_ base.and_ var.and_ math.logical_and", file=replace(_COMPARABLE, aliases=("boolean_and",)))
class And(Logic):
    """True where both elements are true."""

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return xp.logical_and(x, y)


@op("or", api="math.or_ base.or_ var.or_ math.logical_or", file=replace(_COMPARABLE, aliases=("boolean_or",)))
class Or(Logic):
    """True where at least one element is true."""

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return xp.logical_or(x, y)


@op("xor", api="math.xor base.xor var.xor math.logical_xor", file=replace(_COMPARABLE, aliases=("boolean_xor",)))
class Xor(Logic):
    """True where exactly one element is true."""

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return xp.logical_xor(x, y)


unary("boolean_not", "base.not_ math.not_ var.not_ math.logical_not", lambda xp, x: xp.logical_not(x), "True where x is 0 or false.",
      rule="bool", gradient="zero")


@op("Where", api="base.where math.where", inputs="x y condition", file=_CONDITION_FIRST)
class Where(Elementwise):
    """x where the condition holds, else y; all broadcast."""

    def result_type(self, *specs: TensorSpec) -> DataType:
        """The common type of x and y."""
        require_same_type("where", *specs[:2])
        if specs[2].dtype is not DataType.BOOL:
            raise DataTypeError(f"the condition of where must be BOOL, got {specs[2].dtype.name}; the order is where(x, y, condition)")
        return specs[0].dtype

    def compute(self, xp: Any, x: Any, y: Any, condition: Any) -> Any:
        return xp.where(condition, x, y)

    def place(self, sd: Any, inputs: Sequence[Any], names: Sequence[str] | None) -> Any:
        """A vector of conditions that fits the rows but not the columns of x chooses rows."""
        shapes: list[tuple[int, ...]] = [(v.spec.shape or ()) if hasattr(v, "spec") else () for v in inputs]
        x, condition = shapes[0], shapes[2]
        if len(condition) == 1 < len(x) and condition[0] == x[0] != x[-1]:
            rows = sd.call("base", "reshape", inputs[2], -1, *[1] * (len(x) - 1))
            return sd.add_op(self, [*inputs[:2], rows], names)
        return super().place(sd, inputs, names)


@op("where_np", api="base.where_numpy", inputs="x y condition", file=_CONDITION_FIRST)
class WhereNumpy(Where):
    """x where the condition is not 0, else y; all broadcast."""

    def result_type(self, *specs: TensorSpec) -> DataType:
        """The common type of x and y; any condition."""
        require_same_type("where_numpy", *specs[:2])
        return specs[0].dtype

    def compute(self, xp: Any, x: Any, y: Any, condition: Any) -> Any:
        return xp.where(condition != 0, x, y)


@op("select", api="base.select math.select", inputs="condition x y")
class Select(Elementwise):
    """x where the condition holds, else y; all broadcast."""

    def result_type(self, *specs: TensorSpec) -> DataType:
        """The common type of x and y."""
        require_same_type("select", *specs[1:])
        return specs[1].dtype

    def compute(self, xp: Any, condition: Any, x: Any, y: Any) -> Any:
        return xp.where(condition != 0, x, y)


@op("where_coordinates", api="base.where math.where", inputs="condition", gradient="zero", file=FileArgs(op_name="Where", with_inputs=(1,)))
class WhereCoordinates(Op):
    """Coordinates of the true elements.  Shapes: condition (*S) -> (n, rank) LONG, n known when run."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """One row for each true element."""
        rank = specs[0].rank
        return TensorSpec(None if rank is None else (-1, rank), DataType.LONG)

    def compute(self, xp: Any, condition: Any) -> Any:
        return xp.stack(xp.nonzero(condition), axis=-1) if condition.ndim else xp.zeros((int(bool(condition)), 0))


@op("assign", api="base.assign math.assign var.assign", inputs="x y")
class Assign(Op):
    """The values of y in the shape of x."""

    flops_per_element = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        x, y = specs
        expect_broadcast("y", y, x.shape)
        return TensorSpec(x.shape, x.dtype)

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return xp.broadcast_to(y, x.shape)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [None, sum_to(output_grads[0].sd.call("base", "cast_to", output_grads[0], inputs[1].dtype), inputs[1])]
