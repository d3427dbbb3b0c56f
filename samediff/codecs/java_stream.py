"""Java's object serialization, read strictly: objects of a few known classes become dictionaries, anything else is refused.

No class is looked up by a name in the file; a name only has to be among those the caller allows. Depth, counts and sizes are limited.

References
----------
Java Object Serialization Specification, chapter 6 (grammar of the stream).
"""
from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import LimitError, UnsupportedVersionError
from .data_stream import DataInput

_NULL, _REFERENCE, _CLASS, _OBJECT, _STRING, _ARRAY, _BLOCK, _END, _LONG_BLOCK = 0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x77, 0x78, 0x7A
_FIRST_HANDLE = 0x7E0000
_HAS_WRITE_METHOD, _SERIALIZABLE = 1, 2
_NUMBERS = {"B": ">i1", "D": ">f8", "F": ">f4", "I": ">i4", "J": ">i8", "S": ">i2", "Z": ">u1"}
_MOST_NESTED, _MOST_HANDLES, _MOST_ELEMENTS = 32, 10_000, 1 << 20


@dataclass(eq=False)
class JavaObject:
    """An object: its class, its fields by name, and the bytes and values that classes with a ``writeObject`` of their own added."""

    name: str
    fields: dict[str, Any] = field(default_factory=dict)
    blocks: bytes = b""
    items: list[Any] = field(default_factory=list)


@dataclass(eq=False)
class _Class:
    name: str
    flags: int
    fields: list[tuple[str, str]]
    parent: _Class | None = None


class JavaStream:
    """Reads the values of a stream whose header (``AC ED 00 05``) was read.

    ``allowed`` are the names of the classes whose objects may occur.
    """

    def __init__(self, source: DataInput, allowed: Collection[str]) -> None:
        self.source, self.allowed = source, allowed
        self._handles: list[Any] = []
        self._depth = 0

    def read(self) -> Any:
        """The next value: None, a text, a list of numbers or values, or a :class:`JavaObject`."""
        return self._value(self._tag())

    def _tag(self) -> int:
        return self.source.read_exact(1, "the kind of a Java value")[0]

    def _value(self, tag: int) -> Any:
        self._depth += 1
        if self._depth > _MOST_NESTED:
            raise LimitError(f"{self.source.where}: Java objects nested more than {_MOST_NESTED} deep")
        try:
            if tag == _NULL:
                return None
            if tag == _REFERENCE:
                return self._referred()
            if tag == _STRING:
                return self._known(self.source.read_utf("a Java text"))
            if tag == _OBJECT:
                return self._object()
            if tag == _ARRAY:
                return self._array()
        finally:
            self._depth -= 1
        raise self._refused(f"a value of kind {tag:#x}")

    def _refused(self, what: str) -> UnsupportedVersionError:
        return UnsupportedVersionError(f"{self.source.where}: a serialized Java object with {what}, which is not read")

    def _known(self, value: Any) -> Any:
        if len(self._handles) >= _MOST_HANDLES:
            raise LimitError(f"{self.source.where}: more than {_MOST_HANDLES} Java objects")
        self._handles.append(value)
        return value

    def _referred(self) -> Any:
        number = self.source.read_int("a reference") - _FIRST_HANDLE
        if not 0 <= number < len(self._handles):
            raise self.source.error(f"a reference to Java object {number}; there are {len(self._handles)}")
        return self._handles[number]

    def _class(self) -> _Class | None:
        tag = self._tag()
        if tag == _NULL:
            return None
        if tag == _REFERENCE:
            found = self._referred()
            if not isinstance(found, _Class):
                raise self.source.error("a reference to a Java class leads to something else")
            return found
        if tag != _CLASS:
            raise self._refused(f"a class of kind {tag:#x}")
        made = self._known(_Class(self.source.read_utf("the name of a Java class", 1024), 0, []))
        self.source.read_exact(8, "the version of a Java class")
        made.flags = self._tag()
        if made.name not in self.allowed and made.name[:1] != "[":
            raise self._refused(f"the class {made.name}")
        if made.flags & ~(_HAS_WRITE_METHOD | _SERIALIZABLE):
            raise self._refused(f"class flags {made.flags}")
        for _ in range(int.from_bytes(self.source.read_exact(2, "the number of fields"), "big")):
            kind, name = chr(self._tag()), self.source.read_utf("the name of a field", 1024)
            if kind in "L[":
                self._value(self._tag())        # the type's name, which the value repeats
            elif kind not in _NUMBERS and kind != "C":
                raise self.source.error(f"field {name} of the unknown Java type {kind!r}")
            made.fields.append((name, kind))
        if self._tag() != _END:
            raise self._refused(f"annotations of the class {made.name}")
        self._depth += 1
        if self._depth > _MOST_NESTED:
            raise LimitError(f"{self.source.where}: Java classes nested more than {_MOST_NESTED} deep")
        made.parent = self._class()
        self._depth -= 1
        return made  # type: ignore[no-any-return]

    def _object(self) -> JavaObject:
        cls = self._class()
        if cls is None:
            raise self.source.error("a Java object without a class")
        made: JavaObject = self._known(JavaObject(cls.name))
        lineage: list[_Class] = []
        while cls is not None and cls not in lineage:      # a damaged file may make a class its own parent
            lineage.insert(0, cls)
            cls = cls.parent
        for one in lineage:
            for name, kind in one.fields:
                made.fields[name] = self._field(kind)
            if one.flags & _HAS_WRITE_METHOD:
                self._add_annotations(made)
        return made

    def _field(self, kind: str) -> Any:
        if kind in "L[":
            return self._value(self._tag())
        if kind == "C":
            return chr(int.from_bytes(self.source.read_exact(2, "a character"), "big"))
        return self._numbers(kind, 1)[0]

    def _numbers(self, kind: str, count: int) -> list[Any]:
        dtype = np.dtype(_NUMBERS[kind])
        found: list[Any] = np.frombuffer(self.source.read_exact(count * dtype.itemsize, "a number"), dtype).tolist()
        return [v != 0 for v in found] if kind == "Z" else found

    def _add_annotations(self, made: JavaObject) -> None:
        """Read what a class wrote itself."""
        while (tag := self._tag()) != _END:
            if tag == _BLOCK:
                made.blocks += self.source.read_exact(self._tag(), "block data")
            elif tag == _LONG_BLOCK:
                size = self.source.read_int("the length of block data")
                if not 0 <= size <= _MOST_ELEMENTS * 8:
                    raise LimitError(f"{self.source.where}: {size} bytes of block data")
                made.blocks += self.source.read_exact(size, "block data")
            else:
                made.items.append(self._value(tag))

    def _array(self) -> Any:
        cls = self._class()
        if cls is None or cls.name[:1] != "[":
            raise self.source.error("a Java array of a class that is none")
        place = len(self._handles)
        self._known(None)
        count = self.source.read_int("the length of a Java array")
        if not 0 <= count <= _MOST_ELEMENTS:
            raise LimitError(f"{self.source.where}: a Java array of {count} elements, at most {_MOST_ELEMENTS} are read")
        kind = cls.name[1]
        made = self._numbers(kind, count) if kind in _NUMBERS else [self._field("C" if kind == "C" else "L") for _ in range(count)]
        self._handles[place] = made
        return made
