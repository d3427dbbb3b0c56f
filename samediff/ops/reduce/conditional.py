"""Counts and positions of elements for which a condition holds."""
from __future__ import annotations

from typing import Any

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...errors import ShapeError
from ...expressions.conditions import Condition
from ...families.families import Reduction
from ...ir.op import Specs, op
from ..elementwise.conditional import ConditionArgs
from .argreduce import IndexReduction

_REDUCED = ConditionArgs(bools=("keep_dims", "=true"), dimensions="dimensions")


_WAYS = ("x, condition, *dimensions", "x, condition, keep_dims, *dimensions")


@op("match_condition", api="base.match_condition_count math.match_condition_count", signatures=_WAYS, gradient="zero", file=_REDUCED)
class MatchConditionCount(Reduction):
    """Number of elements over ``dimensions`` for which the condition holds, LONG."""

    result = DataType.LONG
    condition: Condition = Condition("not_equals")

    def reduce(self, xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
        return self.condition.test(xp, x).sum(axis=axes, keepdims=self.keep_dims)


class ConditionalIndex(IndexReduction):
    """Position along ``dimensions``, -1 where the condition never holds."""

    signatures = _WAYS
    condition = Condition("not_equals")

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__annotations__["condition"] = "Condition"

    def infer(self, *specs: TensorSpec) -> Specs:
        """The reduced shape; ShapeError without dimensions."""
        if not self.dimensions:
            raise ShapeError(f"{self.id} needs at least one dimension")
        return super().infer(*specs)

    def found(self, xp: Any, holds: Any) -> Any:
        """The first true one along the last axis, -1 where there is none."""
        return xp.where(holds.any(axis=-1), holds.argmax(axis=-1), -1) if holds.shape[-1] else xp.full(holds.shape[:-1], -1)


@op("first_index", api="math.first_index base.first_index", file=_REDUCED)
class FirstIndex(ConditionalIndex):
    """Position of the first element over ``dimensions`` for which the condition holds, -1 if none; LONG."""

    def choose(self, xp: Any, rows: Any) -> Any:
        """The first position where the condition holds, -1 for none."""
        return self.found(xp, self.condition.test(xp, rows))


@op("last_index", api="math.last_index base.last_index", file=_REDUCED)
class LastIndex(ConditionalIndex):
    """Position of the last element over ``dimensions`` for which the condition holds, -1 if none; LONG."""

    def choose(self, xp: Any, rows: Any) -> Any:
        """The last position where the condition holds, -1 for none."""
        found = self.found(xp, self.condition.test(xp, rows)[..., ::-1])
        return xp.where(found < 0, found, rows.shape[-1] - 1 - found)
