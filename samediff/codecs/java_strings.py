"""Lists of text in Java's own serialization: the only Java objects that are read.

Only the exact bytes of ``java.util.Arrays$ArrayList`` over ``String[]`` and of ``java.util.ArrayList`` are known here;
nothing is looked up, made or run by a name in the file.
"""
from __future__ import annotations

from .data_stream import DataInput

_STRING, _REFERENCE, _FIRST_HANDLE = 0x74, 0x71, 0x7E0000
_AS_LIST = (b"\xac\xed\x00\x05sr\x00\x1ajava.util.Arrays$ArrayList\xd9\xa4<\xbe\xcd\x88\x06\xd2\x02\x00\x01[\x00\x01a"
            b"t\x00\x13[Ljava/lang/Object;xpur\x00\x13[Ljava.lang.String;\xad\xd2V\xe7\xe9\x1d{G\x02\x00\x00xp")
_ARRAY_LIST = b"\xac\xed\x00\x05sr\x00\x13java.util.ArrayListx\x81\xd2\x1d\x99\xc7a\x9d\x03\x00\x01I\x00\x04sizexp"
_LIMIT = 1 << 24


def read_string_list(source: DataInput) -> list[str] | None:
    """The next list of text; None when something else stands there (then the stream cannot be read any further)."""
    start = bytes(source.read_exact(len(_ARRAY_LIST), "a list"))
    if start == _ARRAY_LIST:
        count, handle = source.read_int("the length of a list"), 2
        source.read_exact(6, "the capacity of a list")
        strings = _strings(source, count, handle)
        source.read_exact(1, "the end of a list")
        return strings
    if not _AS_LIST.startswith(start):
        return None
    if start + bytes(source.read_exact(len(_AS_LIST) - len(start), "a list")) != _AS_LIST:
        return None
    return _strings(source, source.read_int("the length of a list"), 5)


def _strings(source: DataInput, count: int, handle: int) -> list[str] | None:
    if not 0 <= count <= _LIMIT:
        raise source.error(f"a list of {count} texts")
    handles: dict[int, str] = {}
    out = []
    for _ in range(count):
        tag = source.read_exact(1, "an element of a list")[0]
        if tag == _STRING:
            handles[_FIRST_HANDLE + handle] = source.read_utf("an element of a list")
            out.append(handles[_FIRST_HANDLE + handle])
            handle += 1
        elif tag == _REFERENCE:
            number = source.read_int("a reference")
            if number not in handles:
                return None
            out.append(handles[number])
        else:
            return None
    return out
