"""Builders in DL4J's style, made from the fields of a configuration class."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar, cast

from ..base.javanames import in_both_spellings, squash
from ..errors import ConfigurationError
from .values import convert

T = TypeVar("T")
B = TypeVar("B", covariant=True)


class Setter(Protocol[B]):
    """Sets an option and gives the builder back."""

    def __call__(self, *values: Any) -> B: ...


class Builder(Generic[T]):
    """``Thing.Builder().optionA(1).option_b(2).build()``: collects options in either spelling, then makes the object.

    Several arguments are one tuple: ``kernel_size(3, 3)`` is ``kernel_size((3, 3))``.
    """

    target: ClassVar[Any] = None
    made: ClassVar[frozenset[str]] = frozenset()    # fields that build() works out from other calls

    def __init__(self, *args: Any, **options: Any) -> None:
        self._values: dict[str, Any] = {}
        for name, value in {**self.target.builder_arguments(*args), **options}.items():
            self.set_option(name, value)

    def set_option(self, name: str, *values: Any) -> Self:
        """Set one option by any spelling of its name; ``setNIn`` is ``nIn``, and a switch without a value is on."""
        name = self._find(name)
        if not values and self._is_switch(name):
            values = (True,)
        if not values:
            raise ConfigurationError(f"{self.target.__name__}.Builder: option {name} needs a value")
        if name in self.target._options:
            self.target._options[name](self._values, *values)
        else:
            hint = self.target._fields[name].hint()     # wrong values raise here, at the user's line
            self._values[name] = convert(values[0] if len(values) == 1 else values, hint, f"{self.target.__name__}.{name}")
        return self

    if not TYPE_CHECKING:       # java_names.pyi lists the options of each class
        def __getattr__(self, name: str) -> Setter[Self]:
            if name.startswith("_"):
                raise AttributeError(name)
            name = self._find(name)

            def set_it(*values: Any) -> Any:
                return self.set_option(name, *values)

            return set_it

    def _find(self, name: str) -> str:
        if name[:3] == "set" and squash(name) not in self.target._spellings and squash(name[3:]) in self.target._spellings:
            name = name[3:]
        found = self.target._spellings.get(squash(name))
        if found is None or found in self.made:
            kind = type(self).__name__
            raise self.target.unknown_option(name, self.target.__name__ if kind == "Builder" else kind.lstrip("_"), self._known())
        return found  # type: ignore[no-any-return]

    def _known(self) -> set[str]:
        """The options, and what a builder has besides."""
        calls = {name for kind in type(self).__mro__ if kind not in Builder.__mro__ for name, member in vars(kind).items()
                 if callable(member) and name == name.lower() and not name.startswith("_")}
        return {*self.target._fields, *self.target._options} - self.made | calls

    def _is_switch(self, name: str) -> bool:
        return name in self.target._fields and self.target._fields[name].hint() is bool

    def __dir__(self) -> list[str]:
        return in_both_spellings([*super().__dir__(), *self.target._fields, *self.target._options])

    def build(self) -> T:
        """Return the configuration."""
        return cast(T, self.target(**self._values))

    def __repr__(self) -> str:
        return f"{self.target.__name__}.Builder({', '.join(f'{k}={v!r}' for k, v in self._values.items())})"


if TYPE_CHECKING:
    class OpenBuilder(Builder[T]):
        """The builder of a class whose options are not listed, such as a user's."""

        def __getattr__(self, name: str) -> Setter[Self]: ...
else:
    OpenBuilder = Builder


class BuilderAccess:
    """Class attribute that gives each configuration class a builder class of its own.

    A family with more than options derives from :class:`Builder` and sets ``Builder = BuilderAccess(ItsBuilder)``.
    """

    def __init__(self, base: type[Builder[Any]]) -> None:
        self.base = base
        self.made: dict[type, type[Builder[Any]]] = {}

    def __get__(self, instance: object, owner: type[T]) -> type[OpenBuilder[T]]:
        if owner not in self.made:
            self.made[owner] = type("Builder", (self.base,), {
                "target": owner, "__doc__": f"Builder of :class:`{owner.__name__}`.", "__module__": owner.__module__,
                "__qualname__": f"{owner.__qualname__}.Builder"})
        return cast("type[OpenBuilder[T]]", self.made[owner])
