"""Elements that satisfy a condition: masks, counts, replacement, first and last position."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...base.datatype import DataType
from ...codecs.file_args import FileArgs
from ...codecs.flatbuffers.graph import FlatNode
from ...codecs.flatbuffers.properties import exact_properties
from ...errors import FileFormatError
from ...expressions.conditions import MODES, Condition
from ...families.families import Elementwise
from ...ir.op import op


@dataclass(frozen=True)
class ConditionArgs(FileArgs):
    """A condition as its value, tolerance and mode; ``with_operand`` for the ops that write a value where it holds."""

    with_operand: bool = False

    def encode(self, op_fields: Mapping[str, Any], op_name: str = "", input_dtype: DataType = DataType.FLOAT) -> dict[str, Any]:
        c = op_fields["condition"]
        numbers = [c.value, c.eps, float(MODES.index(c.mode))]
        parts = super().encode(op_fields, op_name, input_dtype)
        if self.with_operand or self.op_type is not None:
            numbers.insert(1, op_fields.get("value", 0.0))
        exact = exact_properties({"condition": c.value, "value": op_fields.get("value")})
        return parts | {"extra_params": tuple(map(float, numbers)), "properties": (*parts["properties"], *exact)}

    def decode(self, node: FlatNode) -> dict[str, Any]:
        found, numbers = super().decode(node), list(node.extra_params)
        if self.with_operand and len(numbers) > 1:
            operand = numbers.pop(1)
            found.setdefault("value", operand)
        elif len(numbers) > 3:  # the form with two arrays has a value too, which nobody reads
            numbers.pop(1)
        if len(numbers) < 3 or not 0 <= int(numbers[2]) < len(MODES):
            raise FileFormatError(f"node {node.name!r}: a condition is value, tolerance and mode (0 to {len(MODES) - 1}); got {numbers}")
        return found | {"condition": Condition(MODES[int(numbers[2])], found.get("condition", numbers[0]), numbers[1])}


@op("match_condition_transform", api="base.match_condition math.match_condition", gradient="zero", file=ConditionArgs())
class MatchCondition(Elementwise):
    """True where the condition holds."""

    rule = "bool"
    condition: Condition

    def compute(self, xp: Any, x: Any) -> Any:
        return self.condition.test(xp, x)


@op("car", api="base.replace_where math.replace_where", inputs="update from_", file=ConditionArgs(op_type="TRANSFORM_SAME", op_num=13))
class ReplaceWhere(Elementwise):
    """``from_`` where the condition holds on ``update``, else ``update``."""

    rule = "match"
    condition: Condition

    def compute(self, xp: Any, update: Any, from_: Any) -> Any:
        return xp.where(self.condition.test(xp, update), from_, update)


@op("cas", api="base.replace_where math.replace_where", inputs="update", file=ConditionArgs(with_operand=True))
class ReplaceWhereScalar(Elementwise):
    """``value`` where the condition holds on ``update``, else ``update``."""

    element_values = "value"
    value: float
    condition: Condition

    def compute(self, xp: Any, update: Any) -> Any:
        return xp.where(self.condition.test(xp, update), xp.asarray(self.value, dtype=update.dtype), update)


__all__: Sequence[str] = ("ConditionArgs", "MatchCondition", "ReplaceWhere", "ReplaceWhereScalar")
