"""Lists of numbers among the inputs of ops, which have no type of their own."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ..base.datatype import DataType
from ..errors import DataTypeError
from .arrays import as_array

_T = TypeVar("_T")


def with_lists(call: Callable[[Sequence[Any]], _T], inputs: Sequence[Any]) -> _T:
    """The result of ``call(inputs)``; where it refuses types, lists of numbers take that of the first array of numbers, as numbers do.

    Raises
    ------
    DataTypeError
        That of ``call(inputs)``, where no list can take the type, or it is refused as well.
    """
    if not any(isinstance(v, (list, tuple)) for v in inputs):
        return call(inputs)
    try:
        return call(inputs)
    except DataTypeError:
        for typed in _typed(inputs):
            with contextlib.suppress(DataTypeError):
                return call(typed)
        raise


def _typed(inputs: Sequence[Any]) -> Iterator[list[Any]]:
    """The inputs with all lists in the type, then with one of them."""
    types = (DataType.of(v.dtype) for v in inputs if hasattr(v, "dtype"))
    dtype = next((t for t in types if t.is_numeric), None)
    if dtype is None:
        return
    made = {}
    for i, value in enumerate(inputs):
        if isinstance(value, (list, tuple)):
            with contextlib.suppress(DataTypeError):        # numbers that the type does not hold
                made[i] = as_array(value, dtype.numpy)
    for chosen in (made, *({i: array} for i, array in made.items() if len(made) > 1)):
        yield [chosen.get(i, value) for i, value in enumerate(inputs)]
