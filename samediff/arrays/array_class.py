"""The class of arrays that results are given as: it stands above what computes, and makes itself known here."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.source_line import asked_by_others

_known: list[type[np.ndarray[Any, Any]]] = [np.ndarray]

#: Classes of objects that stand for an array, with a test whether one has its values, and the class that others take it for.
_stand_ins: list[tuple[type, Callable[[Any], bool], Callable[[Any], type]]] = []


def stands_for_array(cls: type, has_values: Callable[[Any], bool], seen_as: Callable[[Any], type]) -> None:
    """Have objects of a class count as arrays once they have values, and for the code of others before."""
    _stand_ins.append((cls, has_values, seen_as))


def is_pending(value: Any) -> bool:
    """Whether an object stands for an array that has no values yet."""
    return any(type(value) is kind and not has_values(value) for kind, has_values, _ in _stand_ins)


class ArrayType(type):
    """The class of the array class: what stands for an array is an instance of it too."""

    def __instancecheck__(cls, value: Any) -> bool:
        if type.__instancecheck__(cls, value):
            return True
        for kind, has_values, seen_as in _stand_ins:
            if type(value) is kind:
                return has_values(value) or (asked_by_others(1) and issubclass(seen_as(value), cls))
        return False


def is_array_class(cls: type[np.ndarray[Any, Any]]) -> None:
    """Give results as arrays of this class."""
    _known[:] = [cls]


def wrapped(result: Any) -> Any:
    """An array or a NumPy number as an array of that class, which looks at the same memory; also those in a tuple or list."""
    if type(result) is np.ndarray:
        return result.view(_known[0])
    if isinstance(result, (np.ndarray, np.generic)):
        return np.asarray(result).view(_known[0])
    if not isinstance(result, (tuple, list)) or not any(isinstance(r, (np.ndarray, np.generic)) for r in result):
        return result
    found = map(wrapped, result)
    return type(result)(found) if type(result) in (tuple, list) else type(result)(*found)         # the second are named tuples
