"""Plain values in Java's object serialization: texts, numbers, truth values, None, lists, dictionaries, arrays of numbers.

Reading makes nothing but these: see :mod:`java_stream`.
"""
from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from ..errors import DataTypeError
from .data_stream import DataInput, DataOutput
from .java_stream import JavaObject, JavaStream

_HEADER = b"\xac\xed\x00\x05"
_NULL, _REFERENCE, _CLASS, _OBJECT, _STRING, _ARRAY, _BLOCK, _END = b"p", b"q", b"r", b"s", b"t", b"u", b"w", b"x"
_FIRST_HANDLE = 0x7E0000
#: Classes that are written: version, flags (2; 3 where the class writes more than its fields), fields, parent.
_WRITTEN: dict[str, tuple[int, int, str, str | None]] = {
    "java.lang.Number": (0x86AC951D0B94E08B, 2, "", None),
    "java.lang.Boolean": (0xCD207280D59CFAEE, 2, "Z:value", None),
    "java.lang.Integer": (0x12E2A0A4F7818738, 2, "I:value", "java.lang.Number"),
    "java.lang.Long": (0x3B8BE490CC8F23DF, 2, "J:value", "java.lang.Number"),
    "java.lang.Double": (0x80B3C24A296BFB04, 2, "D:value", "java.lang.Number"),
    "java.util.ArrayList": (0x7881D21D99C7619D, 3, "I:size", None),
    "java.util.HashMap": (0x0507DAC1C31660D1, 3, "F:loadFactor I:threshold", None),
    "java.util.LinkedHashMap": (0x34C04E5C106CC0FB, 2, "Z:accessOrder", "java.util.HashMap"),
}
_NUMBERS = {f"java.lang.{name}" for name in ("Number", "Boolean", "Byte", "Character", "Short", "Integer", "Long", "Float", "Double")}
_LISTS = {f"java.util.{name}" for name in ("ArrayList", "LinkedList", "Arrays$ArrayList", "HashSet", "LinkedHashSet", "TreeSet")}
_MAPS = {f"java.util.{name}" for name in ("HashMap", "LinkedHashMap", "TreeMap", "Hashtable")}
_IMMUTABLE = "java.util.CollSer"        # List.of, Set.of and Map.of
_ARRAYS = {"float64": "D", "float32": "F", "int64": "J", "int32": "I", "int16": "S", "int8": "B", "bool": "Z"}


def read_java_value(data: bytes, where: str) -> Any:
    """The value in the bytes: lists and sets as lists, maps as dictionaries, arrays of numbers as lists.

    Raises
    ------
    UnsupportedVersionError
        An object of another class; it is never made.
    FileFormatError
        Damaged bytes; TruncatedFileError and LimitError are kinds of it.

    Examples
    --------
    >>> read_java_value(java_value({"classes": ["cat", "dog"], "rate": 0.5}), "an example")
    {'classes': ['cat', 'dog'], 'rate': 0.5}
    """
    source = DataInput(BytesIO(data), where)
    if bytes(source.read_exact(4, "the beginning of Java's serialization")) != _HEADER:
        raise source.error("no value in Java's serialization")
    try:
        return _plain(JavaStream(source, {*_NUMBERS, *_LISTS, *_MAPS, _IMMUTABLE}).read(), source)
    except KeyError as error:
        raise source.error(f"an object of Java without {error}") from None


def _plain(value: Any, source: DataInput, within: tuple[int, ...] = ()) -> Any:
    if not isinstance(value, (list, JavaObject)):
        return value
    if id(value) in within:
        raise source.error("an object that holds itself")
    if isinstance(value, JavaObject) and value.name in _NUMBERS:
        return value.fields["value"]
    inside = value if isinstance(value, list) else value.fields.get("a", value.items)
    items = [_plain(one, source, (*within, id(value))) for one in inside]
    if isinstance(value, list):
        return items
    if value.name == "java.util.TreeSet":
        items = items[1:]               # behind its comparator
    if value.name in _LISTS or (value.name == _IMMUTABLE and value.fields["tag"] != 3):
        return items
    try:
        return dict(zip(items[0::2], items[1::2], strict=True))
    except (TypeError, ValueError):
        raise source.error("a map whose keys are no texts or numbers, or that has a key without a value") from None


def java_value(value: Any) -> bytes:
    """A value as Java serializes it: ``ArrayList``, ``LinkedHashMap``, ``Integer``, ``Long``, ``Double``, ``Boolean``, ``String``, arrays.

    Raises
    ------
    DataTypeError
        Something else.
    """
    return _HEADER + _ValueWriter().value(value)


class _ValueWriter:
    def __init__(self) -> None:
        self._classes: dict[str, int] = {}
        self._handles = 0

    def _handle(self) -> int:
        self._handles += 1
        return _FIRST_HANDLE + self._handles - 1

    def value(self, value: Any) -> bytes:
        if value is None:
            return _NULL
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, (bool, np.bool_)):
            return self._object("java.lang.Boolean", struct.pack(">?", value))
        if isinstance(value, (int, np.integer)):
            return self._whole(int(value))
        if isinstance(value, (float, np.floating)):
            return self._object("java.lang.Double", struct.pack(">d", value))
        if isinstance(value, np.ndarray) and value.ndim:
            return self._array(value)
        if isinstance(value, Mapping):
            return self._map(value)
        if isinstance(value, (Sequence, set, frozenset)) and not isinstance(value, (bytes, bytearray)):
            start = self._object("java.util.ArrayList", struct.pack(">i", len(value)))
            return start + _BLOCK + struct.pack(">bi", 4, len(value)) + b"".join(map(self.value, value)) + _END
        raise DataTypeError(f"texts, numbers, truth values, None, lists, dictionaries and arrays of numbers can be stored as objects of "
                            f"Java; got {type(value).__name__}")

    def _text(self, text: str) -> bytes:
        self._handle()
        return _STRING + _utf(text)

    def _whole(self, number: int) -> bytes:
        for name, form in (("Integer", ">i"), ("Long", ">q")):
            try:
                return self._object(f"java.lang.{name}", struct.pack(form, number))
            except struct.error:
                continue
        raise DataTypeError(f"{number} is larger than whole numbers of Java")

    def _object(self, name: str, fields: bytes) -> bytes:
        start = _OBJECT + self._class(name)
        self._handle()
        return start + fields

    def _class(self, name: str) -> bytes:
        if name in self._classes:
            return _REFERENCE + struct.pack(">i", self._classes[name])
        self._classes[name] = self._handle()
        version, flags, fields, parent = _WRITTEN.get(name, (0, 2, "", None))       # Java asks for no version of an array
        declared = [one.split(":") for one in fields.split()]
        text = _CLASS + _utf(name) + struct.pack(">QbH", version, flags, len(declared))
        text += b"".join(kind.encode() + _utf(field) for kind, field in declared) + _END
        return text + (_NULL if parent is None else self._class(parent))

    def _map(self, items: Mapping[Any, Any]) -> bytes:
        room = 16
        while room * 3 < len(items) * 4:
            room *= 2
        start = self._object("java.util.LinkedHashMap", struct.pack(">fi", 0.75, room * 3 // 4))
        inside = b"".join(self.value(key) + self.value(item) for key, item in items.items())
        return start + _BLOCK + struct.pack(">bii", 8, room, len(items)) + inside + _END + b"\x00"

    def _array(self, array: np.ndarray[Any, Any]) -> bytes:
        kind = _ARRAYS.get(array.dtype.name)
        if kind is None:
            return self.value(array.tolist())
        start = _ARRAY + self._class("[" * array.ndim + kind)
        self._handle()
        start += struct.pack(">i", len(array))
        return start + (array.astype(array.dtype.newbyteorder(">")).tobytes() if array.ndim == 1 else b"".join(map(self._array, array)))


def _utf(text: str) -> bytes:
    written = BytesIO()
    DataOutput(written).write_utf(text)
    return written.getvalue()
