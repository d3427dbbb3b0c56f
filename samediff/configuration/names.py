"""Further names of fields, where tools and readers look for them: on the class."""
from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable
from typing import Any


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
