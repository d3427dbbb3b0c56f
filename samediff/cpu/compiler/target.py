"""Names that Numba knows when it compiles for the processor."""
# mypy: ignore-errors
from __future__ import annotations

from typing import Any

from numba.core.registry import cpu_target


def refresh() -> None:
    """Register the functions for compiled code that were defined since the last call."""
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def type_of(value: Any) -> Any:
    """The type that a value of a module has in compiled code."""
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(value)
