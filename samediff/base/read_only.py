"""Arrays to read: who writes to one is told what changes the values."""
from __future__ import annotations

from importlib import import_module
from typing import Any


def read_only(array: Any, refusal: str, change: Any = None) -> Any:
    """The array as a view that cannot be written, with DL4J's methods; see :func:`dl4py.samediff.arrays.read_only.read_only`."""
    return import_module("dl4py.samediff.arrays.read_only").read_only(array, refusal, change)


def constant_view(array: Any, name: str) -> Any:
    """The stored array of a constant."""
    return read_only(array, f"the array of constant {name!r} is read-only, as what follows from constants is computed once; "
                            f"sd.get_variable({name!r}).set_array(...) changes it")
