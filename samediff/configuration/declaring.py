"""Declaration of configuration classes: the decorator, and what stands in the body of a class.

Apart from :class:`.Configuration`, whose stubs name classes of every room: so type checkers know the decorator before they read its uses.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, dataclass_transform, overload

from ..base.javanames import squash, to_snake
from ..errors import RegistrationError
from .classes import is_configuration, register
from .names import add_names, declare_plain_fields, keep_methods, take_plain_defaults
from .values import FieldInfo

T = TypeVar("T")


def field(default: Any = dataclasses.MISSING, *, default_factory: Any = dataclasses.MISSING, json: str | None = None,
          aliases: tuple[str, ...] = (), omit_none: bool = False, saved: bool = True, kw_only: bool = True) -> Any:
    """Describe a field: its JSON key, further spellings, whether JSON leaves out None, whether JSON has it at all.

    ``kw_only`` is for type checkers alone: False where the constructor of a class with keywords takes it by position too.
    """
    metadata = {"json": json, "aliases": aliases, "omit_none": omit_none, "saved": saved}
    if default_factory is not dataclasses.MISSING:
        return dataclasses.field(default_factory=default_factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def option(function: Callable[..., None]) -> Any:
    """Declare an option that sets fields: ``l2: InitVar[float | None] = option(function)`` calls ``function(values, *given)``.

    ``values`` is the dictionary of the fields given so far, which the function changes.
    """

    return Option(function)


class Option:
    """An option of a builder that is no field, made by :func:`option`."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function

    def __get__(self, instance: object, owner: type) -> Option:
        if instance is not None:
            raise AttributeError(f"{owner.__name__} keeps no such value: it is an option that sets other fields")
        return self


if TYPE_CHECKING:
    #: The type of a field that takes whatever :func:`convert` makes it of: "relu" for an activation, 3 for a pair of sizes.
    Convertible: TypeAlias = Any | T
else:
    class Convertible:
        """The type itself, where there is no type checker."""

        def __class_getitem__(cls, item: Any) -> Any:
            return item


@overload
def configuration(java_name: type[T], /) -> type[T]: ...
@overload
def configuration(java_name: str | None = None, *, kw_only: bool = False, tag: str | None = None,
                  aliases: tuple[str, ...] = ()) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field, dataclasses.field))
def configuration(java_name: Any = None, *, kw_only: bool = False, tag: str | None = None,
                  aliases: tuple[str, ...] = ()) -> Any:
    """Decorator that makes a subclass of :class:`.Configuration` a configuration class.

    Parameters
    ----------
    java_name
        Full Java class name, under which files know it. Without one (``@configuration``) the class is abstract.
    kw_only
        The constructor takes keywords only (inherited).
    tag
        JSON key of the class name, ``"@class"`` by default; ``""`` writes none (inherited).
    aliases
        Further class names that files may use for it.

    Raises
    ------
    RegistrationError
        The name is taken by another class.
    """

    def decorate(cls: Any) -> Any:
        if not is_configuration(cls):
            raise RegistrationError(f"{cls.__qualname__} must derive from Configuration to be a configuration class")
        if cls.__doc__ is None:
            cls.__doc__ = f"Configuration {cls.__name__}."
        cls._kw_only = kw_only or cls._kw_only
        if tag is not None:
            cls.json_tag = tag
        cls.java_name = java_name or ""
        declare_plain_fields(cls)
        dataclasses.dataclass(cls, init=False, repr=False, eq=False)  # type: ignore[call-overload]
        keep_methods(cls)
        take_plain_defaults(cls)
        describe_fields(cls)
        for name in (java_name, *aliases):
            if name:
                register(name, cls)
        return cls

    if isinstance(java_name, type):
        cls, java_name = java_name, None
        return decorate(cls)
    return decorate


def describe_fields(cls: Any) -> None:
    """Keep on the class what its body says of fields and options."""
    cls._fields = {f.name: FieldInfo(f, cls) for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    declared = cls.__dict__["__dataclass_fields__"]  # with the options, which dataclasses.fields leaves out
    cls._options = {name: f.default.function for name, f in declared.items() if isinstance(f.default, Option)}
    spellings = {squash(name): name for name in (*cls._options, *cls._fields)}
    for info in cls._fields.values():
        for alias in (info.json, *info.aliases):
            spellings.setdefault(squash(alias), info.name)
    cls._spellings = spellings
    for info in cls._fields.values():
        add_names(cls, info.name, (to_snake(n) for n in (info.json, *info.aliases) if squash(n) != squash(info.name)))
