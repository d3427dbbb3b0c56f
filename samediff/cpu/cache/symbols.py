"""Functions that machine code calls by name: modules that have some make them known when code that needs them is loaded."""
from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[[int], object])
_makers: list[Callable[[int], object]] = []


def maker(function: F) -> F:
    """Decorator of what makes functions known for elements of so many bytes."""
    _makers.append(function)
    return function


def make_known(*sizes: int) -> None:
    """Make all functions known that kernels call by name for elements of these sizes.

    Those of the system and of BLAS are known once their modules are imported.
    """
    for size in sizes:
        for make in _makers:
            make(size)
