"""The configuration classes by the names that files have for them."""
from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, TypeVar

from ..base.registry import further, refuse_taken, takes_over, why_missing
from ..errors import MissingOpError, did_you_mean


class Documented(Protocol):
    """Protocol of classes that are made of JSON documents."""

    @classmethod
    def from_document(cls, document: Any) -> Any: ...


T = TypeVar("T", bound=type[Documented])
_REGISTRY: dict[str, type[Documented]] = {}
_SIMPLE: dict[str, type[Documented]] = {}
_ROOTS: list[type[Documented]] = []


def root(cls: T) -> T:
    """Class decorator: the class reads documents that name any registered class."""
    _ROOTS.append(cls)
    return cls


def is_configuration(cls: type) -> bool:
    """Whether it derives from such a class."""
    return issubclass(cls, tuple(_ROOTS))


def read_named(document: Mapping[str, Any]) -> Any:
    """The object of a document that names its class."""
    return _ROOTS[-1].from_document(document)


def register(name: str, cls: type[Documented]) -> None:
    """Make a class known by its full Java name, and by the simple one."""
    owner = _REGISTRY.get(name)
    if owner is not None and (owner.__module__, owner.__qualname__) != (cls.__module__, cls.__qualname__) \
            and not takes_over("configuration class", name, cls, owner):
        refuse_taken(f"{name} is taken by {owner.__module__}.{owner.__qualname__}; {cls.__module__}.{cls.__qualname__} needs another name.")
        return
    _REGISTRY[name] = cls
    _SIMPLE.setdefault(name.replace("$", ".").rsplit(".", 1)[-1], cls)


def find_class(name: str, kind: str = "configuration class") -> type[Documented]:
    """Return the configuration class of a full Java name, or of a simple one; plug-ins are loaded when nobody has it."""
    found = _looked_up(name)
    if found is None:
        hint = did_you_mean(name, _REGISTRY)
        raise MissingOpError(f"no {kind} is registered as {name}{hint}; import the module that defines it, or register a class under that "
                             f'name: @configuration("{name}"), for layers, vertices and losses @layer, @vertex, @loss' + why_missing(name))
    return found


def is_registered(name: str) -> bool:
    """Whether a class of that name is registered, here or by a plug-in."""
    return _looked_up(name) is not None


def _looked_up(name: str) -> type[Documented] | None:
    found = _known(name)
    for _ in further() if found is None else ():
        found = _known(name)
        if found is not None:
            break
    return found


def _known(name: str) -> type[Documented] | None:
    return _REGISTRY.get(name) or (_SIMPLE.get(name) if "." not in name else None)


def by_name(made: Any) -> tuple[Any, ...] | None:
    """The form in which pickle keeps an object whose class is found under its registered name alone: one of a function or lambda.

    None where a module holds the class, as pickle expects, and where nobody holds it.
    """
    cls = type(made)
    name = getattr(cls, "java_name", "")
    if importable(cls) or _REGISTRY.get(name) is not cls:
        return None
    return _empty, (name,), dict(vars(made))


def importable(cls: type) -> bool:
    """Whether a module holds a class under the name that the class has."""
    found: Any = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is cls


def _empty(name: str) -> Any:
    cls = find_class(name)
    return cls.__new__(cls)


def registered() -> Iterator[tuple[str, type[Documented]]]:
    """All registered classes with their Java names."""
    yield from _REGISTRY.items()
