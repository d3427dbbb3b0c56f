"""Numba kernels that users write, compiled on first use."""
from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from ...samediff.errors import RegistrationError


def check_kernel(op_id: str, kernel: Any) -> Any:
    """A function, or the function that a source text defines."""
    if kernel is None or callable(kernel):
        return kernel
    if not isinstance(kernel, str):
        raise RegistrationError(f"op {op_id!r}: numba must be a function or source text, got {type(kernel).__name__}")
    scope: dict[str, Any] = {"np": np, "math": math}
    try:
        exec(compile(textwrap.dedent(kernel), f"<numba kernel of {op_id}>", "exec"), scope)
    except Exception as error:
        raise RegistrationError(f"op {op_id!r}: the numba source cannot be compiled: {type(error).__name__}: {error}") from error
    functions = [v for v in scope.values() if callable(v) and getattr(v, "__module__", "") != "numpy" and hasattr(v, "__code__")]
    if len(functions) != 1:
        raise RegistrationError(f"op {op_id!r}: the numba source must define one function, it defines {len(functions)}")
    return functions[0]


@functools.cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function compiled by Numba; one that is compiled already stays."""
    import numba
    if isinstance(function, staticmethod):
        function = function.__func__
    if hasattr(function, "py_func"):
        return function
    return numba.njit(nogil=True)(function)  # type: ignore[no-any-return]


@functools.cache
def bounds_checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function compiled so that an index beside an array raises IndexError, by one thread."""
    import numba
    function = getattr(function, "__func__", function)
    return numba.njit(boundscheck=True)(getattr(function, "py_func", function))  # type: ignore[no-any-return]
