"""Attribute values that are kept as text: every kind comes back, and what cannot be understood is a typed error."""
from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.codecs.flatbuffers.graph import FlatNode
from dl4py.samediff.codecs.flatbuffers.properties import make_property
from dl4py.samediff.errors import DataTypeError, FileFormatError
from dl4py.samediff.families.subgraph import SubGraph
from dl4py.samediff.files.nested_values import MARK, from_text, is_plain, missing_classes, to_text
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.training import Adam


class Way(enum.Enum):
    UP = "up"
    DOWN = "down"


class Level(enum.IntEnum):
    LOW = 1


@dataclass(frozen=True)
class Setting:
    way: Way
    sizes: tuple[int, ...] = ()
    inner: Setting | None = None


VALUES = {  # annotation and value
    "nothing": (Any, None), "a switch": (bool, True), "a number": (float, 2.5), "a number of NumPy": (Any, np.float32(0.1)),
    "a text": (str, "text"), "a type": (DataType, DataType.LONG),
    "nested": (tuple[tuple[int, ...], ...], ((1, 2), (3,), ())), "pairs": (tuple[Way, DataType], (Way.DOWN, DataType.INT)),
    "equal ones": (tuple[DataType, ...], (DataType.INT, DataType.BOOL)), "an enum": (Way, Way.UP),
    "an enum or none": (Way | None, Way.DOWN), "a number's enum": (Level, Level.LOW),
    "fields": (Setting, Setting(Way.DOWN, (4, 5), Setting(Way.UP))), "fields or none": (Setting | None, Setting(Way.UP)),
    "an op": (Any, OPS["conv2d"](k_h=2, k_w=3, padding_mode="SAME")), "an op in an op": (Any, OPS["partial"](OPS["multiply"](), 1)),
    "settings": (Any, Adam(0.25, beta1=0.5)), "a complex number": (complex, 1.5 - 2j), "bytes": (bytes, b"\0\xff"),
    "a table": (dict[Way, tuple[DataType, ...]], {Way.UP: (DataType.INT,), Way.DOWN: ()}), "any table": (Any, {1: "a", (2, 3): None}),
    "a table or none": (dict[str, Way] | None, {"a": Way.DOWN}), "a list or none": (tuple[Way, ...] | None, (Way.UP, Way.DOWN)),
    "more than are annotated": (tuple[Way], (Way.UP, Way.DOWN)), "a longer pair": (tuple[Way, DataType], (Way.UP, DataType.INT, 3)),
    "none of several classes": (Setting | Way | int, Way.UP), "fields of several classes": (Way | Setting, Setting(Way.UP)),
}
ARRAYS = [np.float32([[1.5, 2], [3, 4]]), np.array([True, False]), np.arange(3, dtype=np.int16), np.zeros((0, 2), np.float64),
          np.array([[1 + 2j], [3 - 1j]], np.complex64), np.array([0.5j]), np.array(7, np.int64)]


@pytest.mark.parametrize("name", VALUES)
def test_values_come_back(name):
    hint, value = VALUES[name]
    text = to_text(value)
    assert text.startswith(MARK)
    again = from_text(text, hint, "here")
    assert again == value and type(again) is type(value)


@pytest.mark.parametrize("value", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_arrays_come_back(value):
    (again,) = from_text(to_text((value,)), Any, "here")
    assert (again.dtype, again.shape) == (value.dtype, value.shape)
    np.testing.assert_array_equal(again, value)


def test_graphs_come_back():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, 2)
    (x * 3.0).rename("y")
    again = from_text(to_text(SubGraph(sd, ["x"], ["y"])), Any, "here")
    assert (again.inputs, again.outputs) == (("x",), ("y",))
    np.testing.assert_array_equal(again.sd.output_single({"x": np.ones(2)}, "y"), [3, 3])


@pytest.mark.parametrize("value, plain", [
    (None, True), (1, True), (2.5, True), ("a", True), (True, True), (Way.UP, True), (np.zeros(2), True), ((), True), ((1, 2.5), True),
    ((True, False), True), (("a", Way.UP), True), ([1], True), ((1, True), False), ((1, "a"), False), ((None,), False), (((1,),), False),
    ((1, None), False), (Setting(Way.UP), False), (DataType, False), ({}, False), (MARK, False), (f"a {MARK}", True), ((1, MARK), False),
    ((MARK,), False), ((Way.UP, MARK), False), (np.zeros(2, complex), False), (np.array(["a"]), False), (np.array([b"a"]), False),
    (np.array([None]), False), (np.array([True]), True), (1j, False)])
def test_what_properties_hold(value, plain):
    assert is_plain(value) is plain


@pytest.mark.parametrize("value", [object(), {1, 2}, lambda: 1])
def test_what_cannot_be_saved(value):
    with pytest.raises(DataTypeError, match="cannot be saved as an attribute"):
        to_text(value)


@pytest.mark.parametrize("hint, document", [
    (int, "{"), (int, '{"fields": {}}'), (Way, '{"enum": "SIDE"}'), (int, '{"enum": "UP"}'), (Any, '{"data_type": "NONE"}'),
    (Setting, '{"fields": {"other": 1}}'), (Setting, '{"fields": 3}'), (Any, '{"op": "no.such.op", "attributes": {}}'),
    (Any, '{"op": "conv2d"}'), (Any, '{"graph": "!!", "inputs": [], "outputs": []}'), (Any, '{"what": 1}'), (Any, "[" * 100000),
    (Any, '{"complex": [1, 2, 3]}'), (Any, '{"bytes": "?"}'), (Any, '{"bytes": "QQ"}'), (Any, '{"items": [[1]]}'),
    (Any, '{"array": ["FLOAT", [3], [1, 2]]}'), (Any, '{"array": ["NONE", [1], [1]]}'),
    (Any, '{"complex array": ["float32", [1], [[1, 0]]]}'), (Any, '{"configuration": {"@class": "org.acme.C"}}')])
def test_what_cannot_be_understood(hint, document):
    with pytest.raises(Exception) as caught:
        from_text(MARK + document, hint, "node 'n'")
    assert isinstance(caught.value, FileFormatError) or any(n in str(caught.value) for n in ("no.such.op", "org.acme.C"))
    if type(caught.value) is FileFormatError and "annotated" not in str(caught.value):
        assert str(caught.value).startswith(f"node 'n': {(MARK + document)[:80]!r} cannot be understood (")


def test_what_an_annotation_cannot_hold():
    with pytest.raises(FileFormatError, match=r"an attribute annotated <class 'int'> cannot hold \['fields', 'more'\]"):
        from_text(MARK + '{"more": 1, "fields": {}}', int, "here")


def node(*values):
    return FlatNode(properties=tuple(make_property(f"p{i}", v) for i, v in enumerate(values)))


def test_classes_that_are_missing():
    known = to_text((OPS["conv2d"](), Adam(0.1)))
    documents = [[{"op": "acme.b", "attributes": {"x": [{"op": "acme.a", "attributes": {}}]}}], {"configuration": {"@class": "org.acme.C"}}]
    texts = [MARK + json.dumps(d) for d in documents]
    assert missing_classes(node(known, 3, "plain", 'no {"op": "acme.x", "attributes": {}}')) == ()
    assert missing_classes(node(*texts, known)) == ("acme.a", "acme.b", "org.acme.C")
    assert missing_classes(node(MARK + "{", MARK + '{"op": 3, "attributes": {}}', MARK + '{"op": "acme.y"}', MARK + '{"@class": 4}')) == ()
