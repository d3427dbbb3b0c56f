"""Attribute values that are not numbers, texts or tuples: arrays and dicts that nobody can change."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from ..base.datatype import DataType


class FrozenDict(dict[Any, Any]):
    """A dict that stays as it is, and so can be hashed.

    Examples
    --------
    >>> FrozenDict(a=1) == {"a": 1}
    True
    """

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("an attribute of an op cannot be changed; make an op with another value")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(hashable(self))

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)


def frozen_array(value: Any, dtype: Any = None) -> Any:
    """A copy of the array that cannot be written."""
    made = np.array(value, dtype)
    made.flags.writeable = False
    return made


def hashable(value: Any) -> Any:
    """A hashable key for a value, equal for equal values, arrays included."""
    if isinstance(value, np.ndarray):
        content = tuple(value.reshape(-1).tolist()) if value.dtype.kind == "O" else value.tobytes()
        return value.shape, value.dtype if value.dtype.kind == "c" else DataType.of(value), content
    if isinstance(value, Mapping):
        return frozenset((k, hashable(v)) for k, v in value.items())
    return tuple(map(hashable, value)) if isinstance(value, tuple) else value
