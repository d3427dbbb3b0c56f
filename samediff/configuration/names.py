"""Names in the body of a configuration class, and further names of its fields, which tools look for on the class."""
from __future__ import annotations

import copy
import dataclasses
import inspect
import types
from collections.abc import Iterable
from typing import Any

from ..base.user_code.abstract_methods import check_class_methods
from ..errors import RegistrationError


class FieldName:
    """Another name of a field; instances give its value, or for a name ``set_…`` what returns the changed copy."""

    def __init__(self, name: str, field: str) -> None:
        self.field = field
        self.sets = name.startswith("set_")
        self.__doc__ = f"{'Change' if self.sets else 'The same as'} ``{field}``."

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return (lambda value: instance.replace(**{self.field: value})) if self.sets else getattr(instance, self.field)


def add_names(cls: type, field: str, names: Iterable[str]) -> None:
    """Give a field further names on its class, except those that mean something else there."""
    for name in names:
        if name.isidentifier() and not hasattr(cls, name):
            setattr(cls, name, FieldName(name, field))


def declare_plain_fields(cls: type) -> None:
    """Keep fields without a default from taking a further name of a base's field for one."""
    for name in inspect.get_annotations(cls):
        if name not in vars(cls) and isinstance(inspect.getattr_static(cls, name, None), FieldName):
            setattr(cls, name, dataclasses.field())


def keep_methods(cls: Any) -> None:
    """RegistrationError for class methods that are none, and for a field named as a method of a base, which would be called no more."""
    check_class_methods(cls)
    annotated = inspect.get_annotations(cls)
    for name in (f.name for f in dataclasses.fields(cls) if f.name in annotated):
        home = next((c for c in cls.__mro__[1:] if name in vars(c)), None)
        if home is not None and isinstance(vars(home)[name], (types.FunctionType, classmethod, staticmethod, property)):
            raise RegistrationError(f"{cls.__name__}: the field {name!r} takes the place of {home.__name__}.{name}, which is no field but "
                                    "what dl4py calls; give the field another name")


def take_plain_defaults(cls: Any) -> None:
    """Make a value without an annotation, ``has_bias = False``, the default of the field of a base that has its name."""
    fields = cls.__dict__["__dataclass_fields__"]
    for name in {f.name for f in dataclasses.fields(cls)} & vars(cls).keys() - inspect.get_annotations(cls).keys():
        value = vars(cls)[name]
        if not hasattr(value, "__get__"):       # a method or property has another meaning
            fields[name] = copy.copy(fields[name])
            fields[name].default, fields[name].default_factory = value, dataclasses.MISSING
