# mypy: ignore-errors
"""One segment again and again, each time with locals and numbers of its own, in one call."""
from __future__ import annotations

from typing import Any

from numba import float32, float64, int64, types, void
from numba.extending import intrinsic

from ...cache import jit
from .machine import store
from .runner import LOCALS, launch


@intrinsic
def _put(context, address, value):
    """Store a float where an address says."""
    def emit(c, b, s, a):
        b.store(a[1], b.inttoptr(a[0], a[1].type.as_pointer()))
        return c.get_dummy_value()
    return types.void(types.int64, value), emit


def _launch_series(segment, indices, locals_, places, numbers):
    for k in range(locals_.shape[0]):
        for j in range(locals_.shape[1]):
            store(segment + LOCALS + 8 * indices[j], locals_[k, j])
        for j in range(numbers.shape[1]):
            _put(places[j], numbers[k, j])
        launch(segment, 0, 0, 0, 0)


def _compiled(real):
    return jit(_launch_series, void(int64, int64[::1], int64[:, ::1], int64[::1], real[:, ::1]), nogil=True, error_model="numpy")


_KINDS = {"float32": float32, "float64": float64}
_made = {}


def launch_series(segment: int, indices: Any, locals_: Any, places: Any, numbers: Any) -> None:
    """Run a segment once for each row of ``locals_`` and ``numbers``.

    ``indices`` says which locals the columns of ``locals_`` are, ``places`` where the columns of ``numbers`` are stored.
    """
    name = numbers.dtype.name
    if name not in _made:
        _made[name] = _compiled(_KINDS[name])
    _made[name](segment, indices, locals_, places, numbers)
