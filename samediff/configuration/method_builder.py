"""Builders whose options are methods, for classes that are no configurations: listeners, iterators, transfer learning."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..base.java.old_names import instead
from ..base.javanames import JavaSpelling, squash, to_snake
from ..errors import did_you_mean
from .configuration import UnknownOptionError


class MethodBuilder(JavaSpelling):
    """Base of builders whose options are methods, which return the builder.

    ``warmup(3)`` may be written ``setWarmup(3)`` too. A name that is no option is an UnknownOptionError that names the nearest.

    Examples
    --------
    >>> class Greeting(MethodBuilder):
    ...     def name(self, name):
    ...         return self._set(name=name)
    ...
    ...     def build(self):
    ...         return "Hello, {name}".format(**self._values)
    >>> Greeting().setName("Ada").build()
    'Hello, Ada'
    """

    #: The table of :func:`~dl4py.samediff.base.java.old_names.instead` that knows names of older versions.
    _old_names: ClassVar[str] = ""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def _set(self, **values: Any) -> Self:
        self._values.update(values)
        return self

    if not TYPE_CHECKING:       # else no misspelt name would be noticed
        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            methods = {squash(n): n for n in sorted(dir(type(self))) if not n.startswith("_") and callable(getattr(type(self), n))}
            short = squash(name)
            found = methods.get(short) or methods.get(short.removeprefix("set"))
            if found is not None:
                return getattr(self, found)
            known = sorted({to_snake(n) for n in methods.values()})
            hint = instead(self._old_names, name) or did_you_mean(to_snake(name), known) or f"; its options: {', '.join(known)}"
            raise UnknownOptionError(f"{type(self).__name__} has no option {name!r}{hint}")
