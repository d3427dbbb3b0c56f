"""Elements that satisfy a condition: masks, counts, replacement, first and last position."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...errors import ShapeError
from ...expressions.conditions import Condition
from ...families.families import Elementwise, Reduction
from ...ir.op import Specs, op
from ..reduce.argreduce import IndexReduction

_WAYS = ("x, condition, *dimensions", "x, condition, keep_dims, *dimensions")


@op("match_condition_transform", api="base.match_condition math.match_condition", gradient="zero")
class MatchCondition(Elementwise):
    """True where the condition holds."""

    rule = "bool"
    condition: Condition

    def compute(self, xp: Any, x: Any) -> Any:
        """The test."""
        return self.condition.test(xp, x)


@op("match_condition", api="base.match_condition_count math.match_condition_count", signatures=_WAYS, gradient="zero")
class MatchConditionCount(Reduction):
    """Number of elements over ``dimensions`` for which the condition holds, LONG."""

    result = DataType.LONG
    condition: Condition = Condition("not_equals")

    def reduce(self, xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
        """The count."""
        return self.condition.test(xp, x).sum(axis=axes, keepdims=self.keep_dims)


@op("car", api="base.replace_where math.replace_where", inputs="update from_", signatures=("update, from_, condition",))
class ReplaceWhere(Elementwise):
    """``from_`` where the condition holds on ``update``, else ``update``."""

    rule = "match"
    condition: Condition

    def compute(self, xp: Any, update: Any, from_: Any) -> Any:
        """Choice."""
        return xp.where(self.condition.test(xp, update), from_, update)


@op("cas", api="base.replace_where math.replace_where", inputs="update", signatures=("update, value, condition",))
class ReplaceWhereScalar(Elementwise):
    """``value`` where the condition holds on ``update``, else ``update``."""

    value: float
    condition: Condition

    def compute(self, xp: Any, update: Any) -> Any:
        """Choice."""
        return xp.where(self.condition.test(xp, update), xp.asarray(self.value, dtype=update.dtype), update)


class ConditionalIndex(IndexReduction):
    """Position along ``dimensions``, -1 where the condition never holds."""

    signatures = _WAYS
    condition = Condition("not_equals")

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__annotations__["condition"] = "Condition"

    def infer(self, *specs: TensorSpec) -> Specs:
        """At least one dimension."""
        if not self.dimensions:
            raise ShapeError(f"{self.id} needs at least one dimension")
        return super().infer(*specs)


@op("first_index", api="math.first_index base.first_index")
class FirstIndex(ConditionalIndex):
    """Position of the first element over ``dimensions`` for which the condition holds, -1 if none; LONG."""

    def choose(self, xp: Any, rows: Any) -> Any:
        """The first true one."""
        holds = self.condition.test(xp, rows)
        return xp.where(holds.any(axis=-1), holds.argmax(axis=-1), -1)


@op("last_index", api="math.last_index base.last_index")
class LastIndex(ConditionalIndex):
    """Position of the last element over ``dimensions`` for which the condition holds, -1 if none; LONG."""

    def choose(self, xp: Any, rows: Any) -> Any:
        """The last true one."""
        holds = self.condition.test(xp, rows)
        return xp.where(holds.any(axis=-1), rows.shape[-1] - 1 - holds[..., ::-1].argmax(axis=-1), -1)


__all__: Sequence[str] = ("FirstIndex", "LastIndex", "MatchCondition", "MatchConditionCount", "ReplaceWhere", "ReplaceWhereScalar")
