"""Other values of the kind of one: what is tried in the place of an option or attribute."""
from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterator
from typing import Any, get_args

import numpy as np

from ..datatype import DataType


def others(value: Any) -> Iterator[Any]:
    """Other values, likely ones first; none of texts and types, whose meaning nobody can guess."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, enum.Enum) and not isinstance(value, DataType):
        yield from (member for member in type(value) if member is not value)
    elif isinstance(value, int) and not isinstance(value, DataType):
        yield from dict.fromkeys(n for n in (value + 1, value - 1, 1, 0) if n != value)
    elif isinstance(value, float):
        yield from dict.fromkeys(x for x in (value * 0.75 + 0.1, 0.0, -value, 1e3) if x != value)
    elif isinstance(value, complex) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc"):
        yield value * 0.75 + 0.1
    elif isinstance(value, (list, tuple)):
        yield from _changed(value, type(value))
    elif isinstance(value, dict):
        yield from _changed(value.values(), lambda values: dict(zip(value, values)))


#: In the place of None, and for the elements of an empty tuple, by what is declared.
_OF_TYPES: dict[Any, tuple[Any, ...]] = {float: (0.5, 2.0), int: (0, 1, -1), bool: (True, False), complex: (0.5 + 0.5j,)}


def others_of(hint: Any, value: Any, words: Collection[str] = ()) -> Iterator[Any]:
    """Other values of a declared type: those of :func:`others`, and what the type and words of the code tell of None, of texts and of
    empty tuples."""
    yield from others(value)
    hints = [h for h in (get_args(hint) if type(None) in get_args(hint) else (hint,)) if h is not type(None)]
    if value is None:
        for h in hints:
            yield from _OF_TYPES.get(h, words if h is str else _tuples(h))
    elif type(None) in get_args(hint):
        yield None
    if isinstance(value, str):
        yield from (w for w in words if w != value)
    if isinstance(value, tuple) and not value:
        yield from (t for h in hints for t in _tuples(h))


def _tuples(hint: Any) -> Iterator[Any]:
    """Tuples of one element, of a type of tuples or lists."""
    yield from ((v,) for v in _OF_TYPES.get(next(iter(get_args(hint)), None), ()))


def words_of(code: Any) -> list[str]:
    """Single words among the constants of a function, such as names of modes."""
    found: list[str] = []
    waiting: list[Any] = [getattr(code, "__code__", None)]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, str) and one.isidentifier():
            found.append(one)
        elif isinstance(one, (tuple, frozenset)):
            waiting += one
        elif hasattr(one, "co_consts"):
            waiting += one.co_consts
    return list(dict.fromkeys(found))


def _changed(values: Any, made: Callable[[Any], Any]) -> Iterator[Any]:
    """All of several values changed; those that have no others stay, and where none has some there is nothing to try."""
    found = [next(others(v), v) for v in values]
    if any(a is not b for a, b in zip(found, values)):
        yield made(found)
