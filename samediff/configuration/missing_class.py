"""The places of configurations whose classes a file names and nobody registers."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, NoReturn, Self

from ..errors import ConfigurationError, MissingOpError
from .classes import is_registered
from .configuration import Configuration, lenient_reader
from .values import convert

#: Packages of which nobody can register a class: an unknown one means a damaged file or one of a newer DL4J.
_NOT_OF_PLUG_INS = ("java.", "javax.", "jdk.", "sun.", "com.sun.", "org.deeplearning4j.", "org.nd4j.")


class _MissingAttributeError(MissingOpError, AttributeError):
    """Error for an attribute that a stand-in does not know; ``hasattr`` sees it as one, too."""


@contextmanager
def stand_ins() -> Iterator[None]:
    """A block in which a class that is not registered gets a :class:`MissingClass` in place of an error."""
    before = lenient_reader.set(read_or_stand_in)
    try:
        yield
    finally:
        lenient_reader.reset(before)


class MissingClass(Configuration):
    """Keeps its document as it was read, so that saving writes it again; using it raises :class:`MissingOpError`.

    ``missing_classes`` names what is missing; ``extent`` is the number of its parameters, None where that is not known. It is also an
    instance of the class that the place asks for. Methods of that class which ``kept_by_stand_ins`` names work all the same.
    """

    missing_classes: tuple[str, ...]
    document: Mapping[str, Any]
    extent: int | None
    stands_for: ClassVar[type[Configuration]] = Configuration

    @classmethod
    def holding(cls, document: Mapping[str, Any], missing_classes: Iterable[str], extent: int | None = None) -> Self:
        """The stand-in of a document."""
        self = cls.__new__(cls)
        values = {n: None if f.required else f.default() for n, f in cls._fields.items()}
        if "layer_name" in values:
            values["layer_name"] = convert(document.get("layerName"), cls._fields["layer_name"].hint(), f"{cls.__name__}.layer_name")
        self._put(**values, _extra={}, document=document, missing_classes=tuple(missing_classes), extent=extent)
        return self

    def to_document(self) -> dict[str, Any]:
        return dict(self.document)

    def replace(self, **changes: Any) -> Self:
        return self.fail() if changes else self

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.stands_for, self.document, self.missing_classes, self.extent)

    def fail(self) -> NoReturn:
        """Raise the error that says what is missing."""
        raise MissingOpError(self.text)

    @property
    def missing_class(self) -> str:
        """The simple name of the class in the file."""
        return str(self.document.get(self.json_tag, type(self).__name__)).rpartition(".")[2]

    @property
    def text(self) -> str:
        """The message of the error."""
        return (f"{self.missing_class} cannot be used here, as nobody registers {' and '.join(self.missing_classes)}: import the package "
                "that defines it, then load the file again")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise _MissingAttributeError(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MissingClass) and self.document == other.document and self.extent == other.extent

    __hash__ = Configuration.__hash__

    def __repr__(self) -> str:
        return f"<stand-in for {self.missing_class}>"


@functools.cache
def stand_in(base: type[Configuration]) -> type[MissingClass]:
    """The class of stand-ins where a ``base`` is expected."""
    kept = {"validate", *getattr(base, "kept_by_stand_ins", ())}
    methods = [n for n in dir(base) if not n.startswith("_") and n not in kept and not hasattr(Configuration, n)
               and inspect.isfunction(inspect.getattr_static(base, n))]
    body = {"__module__": __name__, "__doc__": f"Stands where a {base.__name__} is missing.", "stands_for": base}
    return type(f"Missing{base.__name__}", (MissingClass, base), body | dict.fromkeys(methods, _refusing) | {"validate": _nothing})


def read_or_stand_in(base: type[Configuration], document: Mapping[str, Any]) -> Configuration:
    """The object of a document, or what stands in for it where it names classes that nobody registers."""
    name = document.get(base.json_tag)
    if isinstance(name, str) and not is_registered(name) and not name.startswith(_NOT_OF_PLUG_INS):
        return _standing_in(base, document, [name])
    try:
        return base._read(document)
    except (MissingOpError, ConfigurationError):
        missing_classes = [n for n in named_classes(document) if not is_registered(n)]
        if missing_classes and not any(n.startswith(_NOT_OF_PLUG_INS) for n in missing_classes):
            return _standing_in(base, document, [])
        raise


def _standing_in(base: type[Configuration], document: Mapping[str, Any], names: list[str]) -> MissingClass:
    missing_classes = [n for n in dict.fromkeys([*names, *named_classes(document)]) if not is_registered(n)]
    return stand_in(base).holding(document, missing_classes)  # type: ignore[arg-type]  # classes are hashable


def named_classes(document: Any) -> Iterator[str]:
    """All classes that a document names."""
    if isinstance(document, list):
        for item in document:
            yield from named_classes(item)
    elif isinstance(document, Mapping):
        if isinstance(document.get("@class"), str):
            yield document["@class"]
        for item in document.values():
            yield from named_classes(item)


def stand_ins_in(value: Any) -> Iterator[MissingClass]:
    """All stand-ins in a configuration, or in what holds configurations."""
    if value is None or isinstance(value, (str, int, float)):       # most are plain
        return
    if isinstance(value, MissingClass):
        yield value
    elif isinstance(value, Configuration):
        for name in type(value)._fields:
            yield from stand_ins_in(getattr(value, name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from stand_ins_in(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from stand_ins_in(item)


def _made(base: type[Configuration], *parts: Any) -> MissingClass:
    return stand_in(base).holding(*parts)  # type: ignore[arg-type]  # classes are hashable


def _refusing(self: MissingClass, *args: Any, **options: Any) -> NoReturn:
    self.fail()


def _nothing(self: MissingClass) -> None:
    """Check nothing: nothing was read."""
