"""The arrays and variables among the arguments of constructors, and what a constructor makes."""
from __future__ import annotations

from typing import Any, NamedTuple

from ...arrays.pairs import is_array
from ...ir.op import Op
from ...ir.variable import SDVariable


class Constructed(NamedTuple):
    """An op with its inputs, and the arrays that its results are written into."""

    op: Op
    inputs: list[Any]
    outputs: list[Any]


def is_operand(value: Any) -> bool:
    """Whether it is an array or a variable."""
    return isinstance(value, SDVariable) or is_array(value)


def is_output(value: Any) -> bool:
    """Whether results may be written into it."""
    return is_array(value) and not isinstance(value, SDVariable)


def are_operands(value: Any) -> bool:
    """Whether it is a list of arrays or variables."""
    return isinstance(value, (list, tuple)) and bool(value) and all(is_operand(a) for a in value)
