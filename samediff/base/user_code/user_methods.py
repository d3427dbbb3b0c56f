"""Methods that users write and dl4py calls: exceptions tell whose they are, and results are looked at where they come from."""
from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ConfigurationError, DL4PyError, FileFormatError
from ..spec import may_equal, may_spread

#: What is wrong with a result, or nothing: ``check(owner, result, given)``, where ``given`` are the arguments by the names of the base.
ResultCheck = Callable[[Any, Any, Mapping[str, Any]], str]


class WrongResultError(ConfigurationError):
    """A method that a user wrote returned what it must not."""


def refuses(error: BaseException) -> bool:
    """Whether an error says that arguments are refused, on purpose."""
    return isinstance(error, DL4PyError) and not isinstance(error, WrongResultError)


def watch(cls: type, checks: Mapping[str, ResultCheck]) -> None:
    """Look at what the methods return that a class of another project writes; ``checks`` are those of its base, by method."""
    for name, check in checks.items():
        function = vars(cls).get(name)
        if isinstance(function, types.FunctionType) and not cls.__module__.startswith("dl4py."):
            root = [c for c in cls.__mro__ if name in vars(c)][-1]
            setattr(cls, name, _watched(cls, function, inspect.signature(vars(root)[name]), check))


def _watched(cls: type, function: types.FunctionType, signature: inspect.Signature, check: ResultCheck) -> Callable[..., Any]:
    code = function.__code__
    name = f"{cls.__module__}.{cls.__qualname__}.{function.__name__}"

    @functools.wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            result = function(self, *args, **kwargs)
        except Exception as error:
            note = f"in {name} ({code.co_filename}, line {code.co_firstlineno})"
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)
            raise
        wrong = check(self, result, dict(zip(signature.parameters, (self, *args))) | kwargs)
        if wrong:
            raise WrongResultError(f"{name} returned {wrong} ({code.co_filename}, line {code.co_firstlineno})")
        return result
    return method


def shown(value: Any) -> str:
    """A result in a message: the shape of an array, else the value."""
    if hasattr(type(value), "get_variable_type"):
        return f"a variable of shape {value.spec.shape}"
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {tuple(value.shape)}"
    return f"{value!r:.60}"


def is_number(owner: Any, result: Any, given: Mapping[str, Any]) -> str:
    """A number."""
    plain = isinstance(result, (int, float, np.number)) or (isinstance(result, np.ndarray) and not result.ndim)
    return "" if plain else f"{shown(result)}; a number was expected"


def is_array(owner: Any, result: Any, given: Mapping[str, Any]) -> str:
    """An array, or what stands for one in a graph or a trace."""
    return f"{shown(result)}; an array was expected" if result is None or isinstance(result, (str, tuple, list)) else ""


def is_variable(owner: Any, result: Any, given: Mapping[str, Any]) -> str:
    """A variable of the graph."""
    return "" if hasattr(type(result), "get_variable_type") else f"{shown(result)}; a variable of the graph was expected"


def keeps_shape(owner: Any, result: Any, given: Mapping[str, Any]) -> str:
    """A variable of the shape of ``x``, as far as the graph knows it."""
    wrong = is_variable(owner, result, given)
    x = given.get("x")
    if wrong or x is None or not hasattr(type(x), "get_variable_type"):
        return wrong
    a = x.spec.shape
    return "" if may_equal(a, result.spec.shape) else f"{shown(result)} for {a}; the same shape was expected"


def scores_examples(owner: Any, result: Any, given: Mapping[str, Any]) -> str:
    """A variable with one number for each example: (batch,) or (batch, 1)."""
    wrong = is_variable(owner, result, given)
    shape = None if wrong else result.spec.shape
    fits = shape is None or (len(shape) > 0 and all(n in (-1, 1) for n in shape[1:]))
    return wrong or ("" if fits else f"{shown(result)}; one score for each example was expected, of shape (batch,) or (batch, 1)")


def has_given_shape(owner: Any, result: Any, given: Mapping[str, Any]) -> str:
    """An array of the shape that was asked for."""
    shape = tuple(given["shape"])
    found = None if result is None else np.shape(result)
    return "" if found == shape else f"{shown(result)}; an array of shape {shape} was expected"


def spreads_to_shape(owner: Any, result: Any, given: Mapping[str, Any]) -> str:
    """A factor and a shift that broadcast to a shape, either None."""
    shape = tuple(given["shape"])
    if not isinstance(result, Sequence) or len(result) != 2:
        return f"{shown(result)}; a factor and a shift were expected, either None"
    wrong = [part for part in result if part is not None and not may_spread(np.shape(part), shape)]
    return f"{shown(wrong[0])}; arrays that broadcast to the shape {shape} of the input were expected" if wrong else ""


def upgraded(what: str, upgrade: Callable[..., Any], *old: Any) -> Mapping[str, Any]:
    """Options that an older version of a class saved, in the form of today: by its ``upgrade``."""
    try:
        found = upgrade(*old)
    except DL4PyError:
        raise
    except Exception as error:
        raise FileFormatError(f"upgrade of {what} raised {type(error).__name__}: {error}") from error
    if not isinstance(found, Mapping):
        raise FileFormatError(f"upgrade of {what} returned {found!r:.60}; it must return a dict in today's form")
    return found
