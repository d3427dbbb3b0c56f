"""Functions of a number that ``BooleanIndexing.applyWhere`` takes."""
from __future__ import annotations

from typing import Any

from ..base.javanames import JavaSpelling

__all__ = ["Value", "Zero"]


class Value(JavaSpelling):
    """The same number for every one.

    Parameters
    ----------
    number : number
        What comes out.
    """

    def __init__(self, number: Any) -> None:
        self.number = number

    def apply(self, given: Any) -> Any:
        """The number; ``given`` has no effect here."""
        return self.number


class Zero(Value):
    """0 for every number."""

    def __init__(self) -> None:
        super().__init__(0)
