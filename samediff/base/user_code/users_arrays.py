"""The class of arrays with DL4J's methods, for what users are given: it stands above what gives, and makes itself known here."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

Method = TypeVar("Method", bound=Callable[..., Any])

_class: Any = None


class InDL4JForm:
    """Base of DL4J's arrays, data sets and iterators: calls that are given one answer with arrays that have DL4J's methods.

    The class of arrays itself takes more than them for its instances, and longer to say so.
    """

    __slots__ = ()


def is_users_array(cls: type[np.ndarray[Any, Any]]) -> None:
    """Give users arrays of this class."""
    global _class
    _class = cls


def users_array(values: Any) -> Any:
    """An array as one with DL4J's methods that looks at the same memory; what is no array of NumPy stays what it is."""
    if not isinstance(values, np.ndarray):
        return values
    if _class is None:
        import_module("dl4py.samediff.arrays.indarray")
    return values if isinstance(values, InDL4JForm) else values.view(_class)


def users_arrays(values: Any) -> Any:
    """The same for the arrays in tuples, lists and mappings."""
    if isinstance(values, Mapping):
        return {name: users_arrays(value) for name, value in values.items()}
    if isinstance(values, tuple):
        return tuple(map(users_arrays, values)) if type(values) is tuple else type(values)(*map(users_arrays, values))
    return list(map(users_arrays, values)) if isinstance(values, list) else users_array(values)


def is_given(value: Any) -> bool:
    """Whether somebody gives what is in DL4J's form, alone or in a tuple, list or dictionary."""
    kind = type(value)
    if kind is dict:
        value = value.values()
    elif kind is not list and kind is not tuple:
        return isinstance(value, InDL4JForm)
    for one in value:  # noqa: SIM110  # a generator takes as long as all else
        if isinstance(one, InDL4JForm):
            return True
    return False


def into_given(given: Any, found: Any) -> Any:
    """What was computed of an array; one with DL4J's methods takes the values itself, as in DL4J."""
    if not is_given(given):
        return found
    if not given.flags.writeable or given.shape != found.shape or not np.can_cast(found.dtype, given.dtype, "same_kind"):
        return users_array(found)
    np.copyto(given, found, "same_kind")
    return given


def in_kind(found: Any, given: Any) -> Any:
    """What was found, as arrays with DL4J's methods where what was given is in DL4J's form."""
    return users_arrays(found) if is_given(given) else found


def answers_in_kind(method: Method) -> Method:
    """Have a method that is given what is in DL4J's form give arrays with DL4J's methods."""
    @wraps(method)
    def call(*args: Any, **options: Any) -> Any:
        found = method(*args, **options)
        for one in (*args, *options.values()) if options else args:
            if is_given(one):
                return users_arrays(found)
        return found
    return call  # type: ignore[return-value]
