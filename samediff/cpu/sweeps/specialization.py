"""The specialization of a sweep: what is compiled into its loops."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: Elements of the longest rows that are transposed.
SHORT = 31


def is_short(length: int, passes: int, arrays: int) -> bool:
    """Whether rows are so short that transposing them pays: it costs a copy of each array, and makes each pass over them cheaper."""
    return length <= (SHORT if passes > arrays else 16 if passes == arrays else 12)


@dataclass(frozen=True)
class SweepSpecialization:
    """Types, and along which of (a, b, c, d) each input varies (innermost only)."""

    rows: bool
    transposed: bool                   # short rows
    dtypes: tuple[Any, ...]            # types of the inputs
    result: Any                        # type of the outputs
    dense: tuple[bool, ...]            # whether an input varies along the innermost loop; copies of transposed rows always do

    @property
    def works_in(self) -> Any:
        """The type in which the sweep computes."""
        return self.dtypes[0]
