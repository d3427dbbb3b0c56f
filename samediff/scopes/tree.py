"""Nested tuples, lists, dictionaries and dataclasses of arrays: the arrays in a row, and the form that is left without them."""
from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays.indarray import INDArray
from ..errors import GraphError
from .exact import Exact, exact

#: Stands in a form where an array was.
ARRAY = "array"

_STATIC = frozenset((int, bool, str, type(None)))
_ndarray = np.ndarray
_shape_of, _dtype_of = _ndarray.shape.__get__, _ndarray.dtype.__get__  # type: ignore[attr-defined]


@dataclasses.dataclass(frozen=True)
class Branch:
    """A container in a form: its class, the names of its parts (none for tuples and lists), and their forms."""

    kind: type
    names: tuple[Any, ...]
    parts: tuple[Any, ...]


def is_array(value: Any) -> bool:
    """Whether a value is an array of any library, or a number of NumPy."""
    return hasattr(type(value), "__array__") or hasattr(type(value), "__cuda_array_interface__")


def flatten(value: Any, arrays: list[Any], path: str = "", numbers: bool = False) -> Any:
    """The form of a value; its arrays are appended to ``arrays``, and its numbers too where ``numbers`` says that they are arrays.

    Raises
    ------
    GraphError
        Something in it is neither an array, a container of such, nor a value that can be a key.
    """
    kind = type(value)
    if kind is np.ndarray or is_array(value) or (numbers and isinstance(value, (bool, int, float))):
        arrays.append(value)
        return ARRAY
    if isinstance(value, (tuple, list)):
        return Branch(kind, (), tuple([flatten(v, arrays, f"{path}[{i}]", numbers) for i, v in enumerate(value)]))
    if isinstance(value, dict):
        return Branch(kind, tuple(value), tuple([flatten(v, arrays, f"{path}[{k!r}]", numbers) for k, v in value.items()]))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = tuple([f.name for f in dataclasses.fields(value)])
        return Branch(kind, fields, tuple([flatten(getattr(value, n), arrays, f"{path}.{n}", numbers) for n in fields]))
    try:
        return Exact(value)
    except TypeError:
        raise GraphError(f"{path or 'a value'} is of type {kind.__name__}, which can be no part of a compiled call: give arrays, tuples, "
                         "lists, dictionaries and dataclasses of them, and values that are hashable") from None


def form_of_call(args: tuple[Any, ...], kwargs: dict[str, Any], arrays: list[Any]) -> Any:
    """The form of the arguments of a call, as of the pair of them; errors say which one is none."""
    places = tuple([flatten(v, arrays, f"argument {i}") for i, v in enumerate(args)])
    named = tuple([flatten(v, arrays, f"argument {k!r}") for k, v in kwargs.items()])
    return Branch(tuple, (), (Branch(tuple, (), places), Branch(dict, tuple(kwargs), named)))


def form_of(args: tuple[Any, ...], kwargs: dict[str, Any], arrays: list[Any]) -> Any:
    """A key for arguments; None where one has no such. Their arrays are appended to ``arrays``."""
    key: list[Any] = []
    usual = _add(args, key, arrays)
    if kwargs:
        key.append(tuple(kwargs))
        usual = usual and _add(kwargs.values(), key, arrays)
    return tuple(key) if usual else None


def _add(values: Iterable[Any], key: list[Any], arrays: list[Any]) -> bool:
    for value in values:
        kind = type(value)
        if kind is _ndarray:
            arrays.append(value)
            key += value.shape, value.dtype
        elif kind is INDArray:
            arrays.append(value)
            key += kind, _shape_of(value), _dtype_of(value)
        elif kind is dict:
            key += kind, tuple(value)
            if not _add(value.values(), key, arrays):
                return False
        elif kind is list or kind is tuple:
            key += kind, len(value)
            if not _add(value, key, arrays):
                return False
        elif kind is float:
            key += kind, value.hex()            # tells -0.0 from 0.0
        elif kind in _STATIC:
            key += kind, value
        elif not _add_other(value, key, arrays):
            return False
    return True


def _add_other(value: Any, key: list[Any], arrays: list[Any]) -> bool:
    kind = type(value)
    if isinstance(value, np.generic):
        arrays.append(np.asarray(value))
        key.append(kind)
        return True
    if is_array(value):
        return False                            # of another library
    if isinstance(value, (tuple, list)):
        key += kind, len(value)
        return _add(value, key, arrays)
    if isinstance(value, dict):
        key += kind, tuple(value)
        return _add(value.values(), key, arrays)
    if dataclasses.is_dataclass(kind):
        key.append(kind)
        return _add([getattr(value, n) for n in _fields(kind)], key, arrays)
    try:
        key.append(exact(value))
    except TypeError:
        return False
    return True


@functools.lru_cache(maxsize=256)
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple([f.name for f in dataclasses.fields(kind)])


def build(form: Any, arrays: Iterator[Any]) -> Any:
    """The value of a form, with these arrays in their order."""
    if form is ARRAY:
        return next(arrays)
    if isinstance(form, Exact):
        return form.value
    parts = [build(p, arrays) for p in form.parts]
    if not form.names:
        return form.kind(*parts) if hasattr(form.kind, "_fields") else form.kind(parts)
    if issubclass(form.kind, dict):
        return _dictionary(form, parts)
    made = object.__new__(form.kind)
    for name, part in zip(form.names, parts):
        object.__setattr__(made, name, part)
    return made


def builder(form: Any, places: Iterator[int]) -> Callable[[Sequence[Any]], Any]:
    """A function that makes a value of the form of a row of NumPy's arrays: as INDArrays, each from the next of the places."""
    if form is ARRAY:
        place = next(places)
        return lambda row: row[place].view(INDArray)
    if isinstance(form, Branch) and form.kind in (tuple, list, dict):
        kind, names, parts = form.kind, form.names, [builder(p, places) for p in form.parts]
        if kind is dict:
            return lambda row: dict(zip(names, [part(row) for part in parts]))
        return lambda row: kind([part(row) for part in parts])
    own = [next(places) for _ in range(count(form))]
    return lambda row: build(form, iter([row[i].view(INDArray) for i in own]))


def _dictionary(form: Branch, parts: list[Any]) -> Any:
    made = form.kind() if form.kind is not dict else {}
    made.update(zip(form.names, parts))
    return made


def leaf_names(form: Any, name: str) -> Iterator[str]:
    """A name for each array of a form: ``p``, ``p_0``, ``p_weights_1`` ..."""
    if form is ARRAY:
        yield name
    elif isinstance(form, Branch):
        for key, part in zip(form.names or range(len(form.parts)), form.parts):
            yield from leaf_names(part, f"{name}_{key}" if name else str(key))


def count(form: Any) -> int:
    """Number of arrays in a form."""
    return 1 if form is ARRAY else sum(map(count, form.parts)) if isinstance(form, Branch) else 0
