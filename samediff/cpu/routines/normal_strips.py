"""The strips under the normal density that NumPy draws by, from the copy that Numba has of them."""
from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

#: A module of Numba's own, which may be elsewhere in another version: then NumPy draws.
_PLACE = "np/random/_constants.py"


@functools.cache
def normal_strips(dtype: str) -> tuple[Any, Any, Any] | None:
    """Limits (int64), steps and heights of the 256 strips for a type; None where Numba does not have them as known here.

    The module is read by itself: all of Numba takes half a second to load.
    """
    numba = importlib.util.find_spec("numba")
    if numba is None or numba.origin is None:
        return None
    spec = importlib.util.spec_from_file_location("numba_random_constants", Path(numba.origin).parent / _PLACE)
    name = "double" if dtype == "float64" else "float"
    try:
        module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
        spec.loader.exec_module(module)  # type: ignore[union-attr]
        limits, steps, heights = (getattr(module, f"{letter}i_{name}") for letter in "kwf")
    except (OSError, AttributeError):
        return None
    fit = all(a.shape == (256,) for a in (limits, steps, heights)) and steps.dtype == heights.dtype == dtype
    return (limits.astype(np.int64), steps, heights) if fit else None
