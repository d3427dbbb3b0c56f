"""What a sweep does: folds of slices of arrays to numbers, after which it may go over the slices again."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Fold:
    """A pass over a slice.

    Attributes
    ----------
    term : str
        Of an element: ``x0``, ``x1``, … of the inputs, ``r0``, ``r1``, … of the folds before, ``first`` of the slice of x0.
    combine : "sum", "prod", "max" or "min"
    result : str
        Of the total ``t`` and the length ``n`` of a slice, besides what terms may use.
    counting : bool
        The terms are small whole numbers, whatever the type of the inputs.
    keep : bool
        The terms are stored in the output for each element, where what comes later finds them as ``kept``.
    """

    term: str = "x0"
    combine: Literal["sum", "prod", "max", "min"] = "sum"
    result: str = "t"
    counting: bool = False
    keep: bool = False


@dataclass(frozen=True)
class Sweep:
    """Folds one after the other.

    Attributes
    ----------
    results : tuple of str
        What is stored for each slice, in terms of ``r0``, …; one output for each.
    each : str
        What is stored for each element instead; the only output, in the shape of x0.
    inputs : int
    """

    folds: tuple[Fold, ...]
    results: tuple[str, ...] = ()
    each: str = ""
    inputs: int = 1


#: Elements of the longest rows that are turned.
SHORT = 16


@dataclass(frozen=True)
class Form:
    """What is compiled in: types, and along which of (a, b, c, d) each input varies (innermost only)."""

    rows: bool
    turned: bool                       # short rows
    dtypes: tuple[Any, ...]            # of the inputs
    result: Any                        # of the outputs
    dense: tuple[bool, ...]            # whether an input varies along the innermost loop; copies of turned rows always do

    @property
    def works_in(self) -> Any:
        """The type of the arithmetic."""
        return self.dtypes[0]
