"""Classes of users whose constructor sets attributes, as Java's do: these attributes are fields."""
from __future__ import annotations

import dataclasses
import dis
import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..base.javanames import squash


def with_own_constructor(cls: Any, describe: Callable[[Any], None]) -> None:
    """Declare what the constructor of a class sets, and the class and its bases do not declare, and let the constructor set it.

    Parameters
    ----------
    cls : type
        A class of a user, before it is decorated.
    describe : callable
        Makes the class's fields known.
    """
    own = cls.__init__
    if not inspect.isfunction(own):
        return
    given = inspect.signature(own).parameters
    annotations = dict(inspect.get_annotations(cls))
    for name in dict.fromkeys(i.argval for i in dis.get_instructions(own) if i.opname == "STORE_ATTR"):
        if name not in annotations and squash(name) not in cls._spellings:
            parameter = given.get(name)
            empty = parameter is None or parameter.annotation is inspect.Parameter.empty
            annotations[name] = Any if empty or parameter is None else parameter.annotation
            default = None if parameter is None or parameter.default is inspect.Parameter.empty else parameter.default
            setattr(cls, name, dataclasses.field(default=default, metadata={}))
    cls.__annotations__ = annotations
    dataclasses.dataclass(cls, init=False, repr=False, eq=False)
    describe(cls)

    @functools.wraps(own)
    def construct(self: Any, *args: Any, **options: Any) -> None:
        inner = "_open" in vars(self)
        if not inner:
            self.fill_defaults()
            self._put(_open=True)
        try:
            own(self, *args, **options)
        finally:
            if not inner:
                vars(self).pop("_open", None)
        if not inner:
            self.validate()

    cls.__init__ = construct
