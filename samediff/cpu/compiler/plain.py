"""Kernels as Numba's documentation has them compiled: slower than :mod:`.lean`, with every version of Numba."""
# mypy: ignore-errors
from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numba
from numba import types
from numba.extending import overload

from .objects import Code, emitted, only
from .target import type_of


def inner(function: Any, options: dict[str, Any]) -> Any:
    """A dispatcher of Numba, for functions that compiled code calls."""
    return numba.njit(**options)(function)


def by_type(key: Any, single: Any, double: Any) -> Any:
    """The type of a name that stands for ``single`` in calls with a float32, for ``double`` in calls with a float64."""
    def name(x):
        raise NotImplementedError(f"{key.__name__} is for compiled code")

    @overload(name, jit_options={"forceinline": True})
    def chosen(x):                      # without types: Numba compares the signatures
        function = {types.float32: single, types.float64: double}.get(x)
        return None if function is None else lambda x: function(x)
    key.name = name                     # Numba's tables do not keep it
    return type_of(name)


def machine_code(function: Any, symbol: str, options: dict[str, Any]) -> Code:
    """The object file of ``function(table, part, parts)`` as ``symbol`` of the C language, and what it calls elsewhere."""
    made = numba.cfunc(types.void(types.int64, types.int64, types.int64), **options)(function)
    module = llvm.parse_assembly(made.inspect_llvm())
    module.get_function(made.native_name).name = symbol
    only(module, symbol)
    return emitted(module)
