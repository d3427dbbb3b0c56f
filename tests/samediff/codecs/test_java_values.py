"""Plain values in Java's serialization."""
from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from dl4py.samediff.codecs.java_values import java_value, read_java_value
from dl4py.samediff.errors import DataTypeError, FileFormatError, UnsupportedVersionError

#: What Java writes for {"a": 5, "b": 2.5, "c": [1, true, "a", "a", null]}.
WRITTEN = (b"\xac\xed\x00\x05sr\x00\x17java.util.LinkedHashMap4\xc0N\\\x10l\xc0\xfb\x02\x00\x01Z\x00\x0baccessOrderxr\x00\x11java.util."
           b"HashMap\x05\x07\xda\xc1\xc3\x16`\xd1\x03\x00\x02F\x00\nloadFactorI\x00\tthresholdxp?@\x00\x00\x00\x00\x00\x0cw\x08\x00\x00\x00"
           b"\x10\x00\x00\x00\x03t\x00\x01asr\x00\x11java.lang.Integer\x12\xe2\xa0\xa4\xf7\x81\x878\x02\x00\x01I\x00\x05valuexr\x00\x10java"
           b".lang.Number\x86\xac\x95\x1d\x0b\x94\xe0\x8b\x02\x00\x00xp\x00\x00\x00\x05t\x00\x01bsr\x00\x10java.lang.Double\x80\xb3\xc2J)k"
           b"\xfb\x04\x02\x00\x01D\x00\x05valuexq\x00~\x00\x05@\x04\x00\x00\x00\x00\x00\x00t\x00\x01csr\x00\x13java.util.ArrayListx\x81\xd2"
           b"\x1d\x99\xc7a\x9d\x03\x00\x01I\x00\x04sizexp\x00\x00\x00\x05w\x04\x00\x00\x00\x05sq\x00~\x00\x04\x00\x00\x00\x01sr\x00\x11java"
           b".lang.Boolean\xcd r\x80\xd5\x9c\xfa\xee\x02\x00\x01Z\x00\x05valuexp\x01t\x00\x01at\x00\x01apxx\x00")
VALUE = {"a": 5, "b": 2.5, "c": [1, True, "a", "a", None]}


def test_the_bytes_are_those_of_java():
    assert java_value(VALUE) == WRITTEN and read_java_value(WRITTEN, "bytes") == VALUE


@pytest.mark.parametrize("value, read", [
    ("", ""), ("kätze \U0001F600 \0", "kätze \U0001F600 \0"), (2 ** 40, 2 ** 40), (-3, -3), (np.float32(0.5), 0.5), (np.int64(7), 7),
    (None, None), ((1, "b"), [1, "b"]), (np.arange(6.0).reshape(2, 3), [[0, 1, 2], [3, 4, 5]]), (np.arange(3, dtype=np.int32), [0, 1, 2]),
    (np.array([True, False]), [True, False]), ({"many": list(range(40))}, {"many": list(range(40))}),
    (dict.fromkeys(range(30)),) * 2], ids=str)
def test_there_and_back(value, read):
    assert read_java_value(java_value(value), "bytes") == read


@pytest.mark.parametrize("value", [object(), b"bytes", 2 ** 70, {"a": [1j]}], ids=["object", "bytes", "large", "complex"])
def test_other_values_are_refused(value):
    with pytest.raises(DataTypeError):
        java_value(value)


def test_other_classes_are_refused():
    with pytest.raises(UnsupportedVersionError, match="java.io.File"):
        read_java_value(WRITTEN.replace(b"\x00\x17java.util.LinkedHashMap", b"\x00\x0cjava.io.File"), "bytes")


def test_damaged_bytes_are_told():
    for place in range(len(WRITTEN)):
        for byte in (0, 0x70, 0x71, WRITTEN[place] ^ 0x10):
            with suppress(FileFormatError):
                read_java_value(WRITTEN[:place] + bytes([byte]) + WRITTEN[place + 1:], "bytes")
        with pytest.raises(FileFormatError):
            read_java_value(WRITTEN[:place], "bytes")


def test_an_object_that_holds_itself_is_refused():
    inside = java_value([1]).replace(b"sr\x00\x11java.lang.Integer", b"q\x00~\x00\x01x", 1)     # the list in place of its element
    with pytest.raises(FileFormatError, match="holds itself"):
        read_java_value(inside, "bytes")
