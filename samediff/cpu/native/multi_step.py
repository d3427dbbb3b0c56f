"""One segment again and again, each time with locals and numbers of its own, in one call."""
from __future__ import annotations

from typing import Any

from . import interpreter


def launch_many(segment: int, indices: Any, locals_: Any, places: Any, numbers: Any) -> int:
    """Run a segment once for each row of ``locals_`` and ``numbers``.

    ``indices`` says which locals the columns of ``locals_`` are, ``places`` where the columns of ``numbers`` are stored. All are dense.
    Ends at the row for which an instruction refuses what it is given; gives its number from 1 on, or 0.
    """
    at = [array.ctypes.data for array in (indices, locals_, places, numbers)]
    return int(interpreter.launch_many(segment, len(locals_), at[0], indices.size, at[1], at[2], places.size, at[3], numbers.itemsize))
