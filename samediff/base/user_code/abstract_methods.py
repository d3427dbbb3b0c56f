"""Methods that the classes of users must write."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

from ...errors import ConfigurationError, RegistrationError
from ..javanames import to_camel

F = TypeVar("F", bound=Callable[..., Any])


@overload
def unwritten(method: F, /) -> F: ...
@overload
def unwritten(*, when_called: bool = False, unless: str = "") -> Callable[[F], F]: ...
def unwritten(method: Any = None, /, *, when_called: bool = False, unless: str = "") -> Any:
    """Mark a method that sub-classes must write: calling it says so, in both spellings.

    :func:`check_written` asks for it when an object is made, except where it matters only ``when_called``, or where the method called
    ``unless`` is overridden in its place.
    """

    def mark(function: F) -> F:
        @functools.wraps(function)
        def refuse(self: Any, *args: Any, **options: Any) -> Any:
            raise NotImplementedError(_demand(type(self), function))

        refuse.__dict__["asked_for"] = (not when_called, unless)
        return refuse  # type: ignore[return-value]

    return mark if method is None else mark(method)


@functools.lru_cache(maxsize=1024)
def check_written(cls: type) -> None:
    """ConfigurationError for a class that lacks a method it must write, or whose method takes other arguments than it is called with."""
    marked = {name: (base, value) for base in reversed(cls.__mro__) for name, value in vars(base).items() if hasattr(value, "asked_for")}
    for name, (base, method) in marked.items():
        demanded, unless = method.asked_for
        if demanded and hasattr(getattr(cls, name), "asked_for") and not (unless and getattr(cls, unless) is not getattr(base, unless)):
            raise ConfigurationError(_demand(cls, method) + _instead(cls))
    for name, (_, method) in marked.items():
        found = getattr(cls, name)
        if hasattr(found, "asked_for") or any(_takes(found, count) for count in _counts(method)):
            continue
        if _takes(found, _counts(method)[0] + 1):       # of workspaces, which DL4J's methods take last
            setattr(cls, name, _without_last(found))
        else:
            raise ConfigurationError(f"{cls.__name__}.{name}{inspect.signature(found)} is called with other arguments: "
                                     f"{name}{_arguments(method)}")


def check_class_methods(cls: type, *names: str) -> None:
    """RegistrationError where a class overrides a class method of a base, or writes one of these names, without ``@classmethod``."""
    for name, value in vars(cls).items():
        if inspect.isfunction(value) and (name in names or any(isinstance(vars(b).get(name), classmethod) for b in cls.__mro__[1:])):
            raise RegistrationError(f"{cls.__name__}.{name} is called on the class: write @classmethod above it, and cls as its first "
                                    "argument")


def _counts(method: Callable[..., Any]) -> tuple[int, int]:
    """Number of all arguments, and of those without a default."""
    every = inspect.signature(method).parameters.values()
    return len(every), sum(p.default is p.empty for p in every)


def _takes(method: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(method).bind(*[None] * count)
    except TypeError:
        return False
    return True


def _without_last(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method with None for its last argument."""
    @functools.wraps(method)
    def call(*args: Any) -> Any:
        return method(*args, None)
    return call


def _arguments(method: Callable[..., Any]) -> str:
    return f"({', '.join(inspect.signature(method).parameters)})"


def _demand(cls: type, method: Callable[..., Any]) -> str:
    name, camel = method.__name__, to_camel(method.__name__)
    java = "" if camel == name else f" ({camel} in Java's spelling)"
    what = (method.__doc__ or "").strip().partition("\n")[0]         # python -OO has no docstrings
    return f"{cls.__name__} must implement {name}{_arguments(method)}{java}" + (f": {what}" if what else "")


def _instead(cls: type) -> str:
    """What the class has of its own: in DL4J's form, which does not take the place of what is missing."""
    theirs = [base for base in cls.__mro__ if not base.__module__.startswith(("dl4py.", "builtins"))]
    own = sorted({name for base in theirs for name, value in vars(base).items() if inspect.isfunction(value) and to_camel(name) == name})
    return f" What it has ({', '.join(own)}) does not take its place." if own else ""
