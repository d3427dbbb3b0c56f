"""The one Java object stream that graph files hold: a ``LinkedHashMap`` of names to pairs of ``Long``, read strictly.

Only the classes of such a map are accepted; nothing is looked up or made by name.
"""
from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import FileFormatError, LimitError, TruncatedFileError

_MAP, _BASE, _PAIR = "java.util.LinkedHashMap", "java.util.HashMap", "org.nd4j.common.primitives.Pair"
_LONG, _NUMBER, _OBJECT = "java.lang.Long", "java.lang.Number", "Ljava/lang/Object;"
_HEAD = bytes.fromhex("aced0005")
_FIRST_HANDLE = 0x7E0000
MOST_ENTRIES = 1_000_000

#: Class: version, flags, fields (kind and name), base class.
_CLASSES: dict[str, tuple[str, int, tuple[tuple[str, str], ...], str | None]] = {
    _MAP: ("34c04e5c106cc0fb", 2, (("Z", "accessOrder"),), _BASE),
    _BASE: ("0507dac1c31660d1", 3, (("F", "loadFactor"), ("I", "threshold")), None),
    _PAIR: (f"{119:016x}", 2, (("L", "key"), ("L", "value")), None),
    _LONG: ("3b8be490cc8f23df", 2, (("J", "value"),), _NUMBER),
    _NUMBER: ("86ac951d0b94e08b", 2, (), None),
}


def write_map(entries: Mapping[str, tuple[int, int]]) -> bytes:
    """The bytes that Java's ``ObjectOutputStream`` writes for such a map."""
    return _MapWriter().map(entries)


def read_map(data: bytes | memoryview) -> dict[str, tuple[int, int]]:
    """The map of an object stream.

    Raises
    ------
    FileFormatError, TruncatedFileError, LimitError
        Another object, or a damaged or oversized one.
    """
    return _MapReader(memoryview(data)).map()


@dataclass
class _MapWriter:
    out: bytearray = field(default_factory=bytearray)
    handles: dict[object, int] = field(default_factory=dict)
    count: int = 0

    def new(self, key: object) -> None:
        self.handles[key] = _FIRST_HANDLE + self.count
        self.count += 1

    def back(self, key: object) -> bool:
        if key in self.handles:
            self.out += b"\x71" + struct.pack(">I", self.handles[key])
        return key in self.handles

    def utf(self, text: str) -> None:
        raw = text.encode("utf-8")
        if len(raw) > 0xFFFF:
            raise FileFormatError(f"a name of {len(raw)} bytes cannot be stored; at most {0xFFFF} are possible")
        self.out += struct.pack(">H", len(raw)) + raw

    def describe(self, name: str | None) -> None:
        if name is None:
            self.out += b"\x70"
            return
        if self.back(("class", name)):
            return
        version, flags, fields, base = _CLASSES[name]
        self.out += b"\x72"
        self.utf(name)
        self.new(("class", name))
        self.out += bytes.fromhex(version) + struct.pack(">BH", flags, len(fields))
        for kind, label in fields:
            self.out += kind.encode()
            self.utf(label)
            if kind == "L" and not self.back(("text", _OBJECT)):
                self.out += b"\x74"
                self.utf(_OBJECT)
                self.new(("text", _OBJECT))
        self.out += b"\x78"
        self.describe(base)

    def long(self, value: int) -> None:
        if -128 <= value < 128 and self.back(("long", value)):      # Java keeps small numbers as single objects
            return
        self.out += b"\x73"
        self.describe(_LONG)
        self.new(("long", value))
        self.out += struct.pack(">q", value)

    def map(self, entries: Mapping[str, tuple[int, int]]) -> bytes:
        capacity = 16
        while len(entries) > 0.75 * capacity:
            capacity *= 2
        self.out += _HEAD + b"\x73"
        self.describe(_MAP)
        self.new("map")
        self.out += struct.pack(">fi", 0.75, int(capacity * 0.75) if entries else 0)
        self.out += b"\x77\x08" + struct.pack(">ii", capacity, len(entries))
        for name, (first, second) in entries.items():
            self.out += b"\x74"
            self.utf(name)
            self.new(("name", name))
            self.out += b"\x73"
            self.describe(_PAIR)
            self.new(("pair", name))
            self.long(first)
            self.long(second)
        self.out += b"\x78\x00"
        return bytes(self.out)


@dataclass
class _MapReader:
    data: memoryview
    at: int = 0
    handles: list[object] = field(default_factory=list)

    def take(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise TruncatedFileError(f"the list of arrays ends at byte {len(self.data)}; {count} more were expected at {self.at}")
        found = bytes(self.data[self.at:self.at + count])
        self.at += count
        return found

    def number(self, code: str) -> int:
        return int(struct.unpack(f">{code}", self.take(struct.calcsize(code)))[0])

    def expect(self, wanted: bytes, what: str) -> None:
        start, found = self.at, self.take(len(wanted))
        if found != wanted:
            raise FileFormatError(f"the list of arrays has {found.hex()} at byte {start}; expected {what} ({wanted.hex()})")

    def utf(self) -> str:
        raw = self.take(self.number("H"))
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise FileFormatError(f"a name at byte {self.at - len(raw)} of the list of arrays is not UTF-8") from None

    def back(self) -> object:
        handle = self.number("I") - _FIRST_HANDLE
        if not 0 <= handle < len(self.handles):
            raise FileFormatError(f"the list of arrays refers to object {handle} of {len(self.handles)}")
        return self.handles[handle]

    def text(self, wanted: str | None = None) -> str:
        kind = self.take(1)
        if kind == b"\x71":
            found = self.back()
        elif kind == b"\x74":
            found = self.utf()
            self.handles.append(found)
        else:
            raise FileFormatError(f"the list of arrays has {kind.hex()} at byte {self.at - 1}; expected a text")
        if not isinstance(found, str) or wanted not in (None, found):
            raise FileFormatError(f"the list of arrays has {found!r} where {wanted or 'a name'} was expected")
        return found

    def describe(self, name: str | None) -> None:
        kind = self.take(1)
        if name is None and kind == b"\x70":
            return
        if kind == b"\x71" and self.back() == ("class", name):
            return
        if kind != b"\x72" or name is None:
            raise FileFormatError(f"the list of arrays has {kind.hex()} at byte {self.at - 1}; expected {name or 'no base class'}")
        found = self.utf()
        if found != name:
            raise FileFormatError(f"the list of arrays holds an object of class {found!r}; expected {name}")
        self.handles.append(("class", name))
        version, flags, fields, base = _CLASSES[name]
        self.expect(bytes.fromhex(version) + struct.pack(">BH", flags, len(fields)), f"class {name}")
        for code, label in fields:
            self.expect(code.encode() + struct.pack(">H", len(label)) + label.encode(), f"field {label}")
            if code == "L":
                self.text(_OBJECT)
        self.expect(b"\x78", "the end of a class")
        self.describe(base)

    def long(self) -> int:
        kind = self.take(1)
        if kind == b"\x71":
            found = self.back()
            if isinstance(found, int):
                return found
        if kind != b"\x73":
            raise FileFormatError(f"the list of arrays has {kind.hex()} at byte {self.at - 1}; expected a number")
        self.describe(_LONG)
        value = self.number("q")
        self.handles.append(value)
        return value

    def map(self) -> dict[str, tuple[int, int]]:
        self.expect(_HEAD + b"\x73", "an object stream")
        self.describe(_MAP)
        self.handles.append("map")
        self.take(8)                                # load factor and threshold
        self.expect(b"\x77\x08", "the size of the map")
        _, count = self.number("i"), self.number("i")
        if not 0 <= count <= MOST_ENTRIES:
            raise LimitError(f"the list of arrays states {count} entries; at most {MOST_ENTRIES} are allowed")
        found: dict[str, tuple[int, int]] = {}
        for _ in range(count):
            name = self.text()
            self.expect(b"\x73", "a pair")
            self.describe(_PAIR)
            self.handles.append(("pair",))
            found[name] = self.long(), self.long()
        self.expect(b"\x78", "the end of the map")
        self.take(1)
        return found
