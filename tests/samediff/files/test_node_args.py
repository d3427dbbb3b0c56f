"""Attributes of ops that files hold as properties: spellings, types, versions, what is missing or too much; which inputs are there."""
from __future__ import annotations

import re

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.codecs.file_args import FileArgs
from dl4py.samediff.codecs.flatbuffers.graph import FlatNode
from dl4py.samediff.codecs.flatbuffers.properties import make_property, property_value
from dl4py.samediff.errors import FileFormatError, GraphError, UnsupportedVersionError
from dl4py.samediff.files import node_args
from dl4py.samediff.files.missing_op import MissingOp
from dl4py.samediff.files.nested_values import MARK
from dl4py.samediff.files.node_args import (
    DISTRIBUTION,
    PRESENT,
    VERSION,
    check_inputs,
    file_fields,
    file_inputs,
    read_op,
    spread_inputs,
    write_op,
)
from dl4py.samediff.ir.op import OPS, Op, op


class Base(Op):
    def infer(self, *specs):
        return specs[0]

    def compute(self, xp, *arrays):
        return arrays[0]


@pytest.fixture
def scaled():
    @op("test_node_args.scaled", api="", inputs="x weights? rest*?")
    class Scaled(Base):
        byHow: float
        many_times: int = 1
        is_on: bool = False
        axes: tuple[int, ...] = ()
        what: DataType = DataType.FLOAT

        def __post_init__(self):
            if self.byHow == 13:
                raise GraphError("13 is unlucky")
    yield Scaled
    OPS.remove("test_node_args.scaled")


def node(**values):
    """A node that is a user op with these properties."""
    return FlatNode(name="n", properties=tuple(make_property(n.replace("__", "."), v) for n, v in values.items()))


def versioned(**values):
    return FlatNode(name="n", properties=(make_property(VERSION, values.pop("version")),
                                          *(make_property(n, v) for n, v in values.items())))


@pytest.mark.parametrize(("stored", "expected"), [
    ({"byHow": 2.5}, {}), ({"by_how": 2.5}, {}), ({"BYHOW": 2.5, "manyTimes": 3}, {"many_times": 3}),
    ({"byHow": 2.5, "many_times": 3.0, "isOn": 1, "axes": (1, 2)}, {"many_times": 3, "is_on": True, "axes": (1, 2)}),
    ({"byHow": 2.5, "is_on": 0, "what": DataType.INT, "other": 1}, {"what": DataType.INT}),
    ({"byHow": 2.5, "axes": MARK + "[1, 2]"}, {"axes": (1, 2)})])
def test_values_by_any_spelling_and_in_the_type_of_the_attribute(scaled, stored, expected):
    found = read_op(scaled, node(**stored))
    assert found == scaled(2.5, **expected)
    assert [type(getattr(found, n)) for n in ("many_times", "is_on")] == [int, bool]


@pytest.mark.parametrize(("stored", "text"), [
    ({"many_times": 2}, r"node 'n' (op 'test_node_args.scaled') does not hold the attributes ['byHow']"),
    ({"byHow": 2.5, "many_times": 2.5}, r"node 'n' (op 'test_node_args.scaled'): many_times"),
    ({"byHow": 2.5, "is_on": 1.0}, r"node 'n' (op 'test_node_args.scaled'): is_on"),
    ({"byHow": "text"}, r"node 'n' (op 'test_node_args.scaled'): byHow"),
    ({"byHow": 13.0}, r"node 'n' (op 'test_node_args.scaled'): 13 is unlucky"),
    ({"byHow": 2.5, "axes": MARK + "{"}, r"node 'n' (op 'test_node_args.scaled'), attribute 'axes'")])
def test_values_that_an_attribute_cannot_have(scaled, stored, text):
    with pytest.raises(FileFormatError, match=re.escape(text)):
        read_op(scaled, node(**stored))


def test_outputs_tell_their_type_and_number(scaled):
    two = FlatNode(name="n", properties=(make_property("byHow", 1.0),), output_types=(DataType.LONG.code, DataType.INT.code))
    assert read_op(scaled, two).what is DataType.LONG
    assert read_op(scaled, FlatNode(name="n", properties=(make_property("byHow", 1.0), make_property("what", DataType.BOOL)),
                                    output_types=(DataType.LONG.code,))).what is DataType.BOOL
    assert read_op(OPS["unstack"], FlatNode(name="n", extra_integer=(1,), output_names=("a", "b", "c"))) == OPS["unstack"](1, 3)
    assert read_op(OPS["unstack"], FlatNode(name="n", extra_integer=(1,), output_names=("a",), properties=(make_property("num", 2),))
                   ) == OPS["unstack"](1, 2)


@pytest.mark.parametrize(("mine", "stored", "upgrades", "expected"), [
    (3, 3, True, 2.0), (3, 2, True, 20.0), (3, 2, False, 2.0), (None, 2, True, 2.0), (3, None, True, 2.0)])
def test_versions(scaled, mine, stored, upgrades, expected):
    scaled.version = mine
    if upgrades:
        scaled.upgrade = classmethod(lambda cls, attributes, version: attributes | {"byHow": 10 * attributes["byHow"]})
    given = {"byHow": 2.0} if stored is None else {"version": stored, "byHow": 2.0}
    assert read_op(scaled, (node if stored is None else versioned)(**given)).byHow == expected


def test_newer_versions_are_refused(scaled):
    scaled.version = 2
    assert read_op(scaled, versioned(version=2, byHow=1.0)).byHow == 1
    with pytest.raises(UnsupportedVersionError, match=re.escape(
            "node 'n': op 'test_node_args.scaled' was saved by version 3 of its class; registered is version 2. Update the package")):
        read_op(scaled, versioned(version=3, byHow=1.0))


def test_upgrades_are_given_the_attributes_alone_and_may_not_invent_any(scaled):
    scaled.version, seen = 2, []
    scaled.upgrade = classmethod(lambda cls, attributes, version: seen.append((dict(attributes), version)) or {"byHow": 1.0, "many": 2})
    stored = FlatNode(name="n", properties=(make_property(VERSION, 1), make_property(PRESENT, [True], "b"), make_property("byHow", 4.0)))
    with pytest.raises(FileFormatError, match=re.escape(
            "node 'n': the file holds property 'many' of op 'test_node_args.scaled', which the registered class lacks")) as caught:
        read_op(scaled, stored)
    assert "its properties: byHow, many_times, is_on, axes, what. Register the op as it was when saved" in str(caught.value)
    assert seen == [({"byHow": 4.0}, 1)]


def test_user_ops_tell_version_and_distribution(scaled, monkeypatch):
    monkeypatch.setattr(node_args, "distribution_of", {"acme": "acme-ops 1.5", "dl4py": "dl4py 1"}.get)

    def written(**more):
        found = {p.name: property_value(p) for p in write_op(scaled(2.5), ("x",), DataType.FLOAT, **more)["properties"]}
        return {n: v for n, v in found.items() if n in (VERSION, DISTRIBUTION, PRESENT)}
    assert written() == {}
    scaled.version, scaled.__module__ = 3, "acme.inner.ops"
    assert written() == {VERSION: 3, DISTRIBUTION: "acme-ops 1.5"}
    for module in ("dl4py.udf.ops", "elsewhere.ops"):
        scaled.__module__ = module
        assert written() == {VERSION: 3}


def test_what_slots_may_name(scaled):
    found = file_fields(scaled(2.5, 3), ("x", None, "z"), (4, 5))
    assert found == {"given_x": True, "given_weights": False, "given_rest": True, "input_shape": (4, 5), "byHow": 2.5, "many_times": 3,
                     "is_on": False, "axes": (), "what": DataType.FLOAT}
    assert not file_fields(scaled(2.5), ("x",))["given_rest"] and file_fields(scaled(2.5), ())["input_shape"] is None


@pytest.mark.parametrize(("inputs", "added", "present"), [
    (("x", None, "z"), False, (True, False, True)), (("x", "w"), False, None), (("x",), True, (True, False, False)),
    (("x", "w"), True, (True, True, False)), ((None, "w"), False, (False, True))])
def test_which_inputs_are_there_is_told_where_one_is_left_out(scaled, inputs, added, present):
    parts = write_op(scaled(2.5), inputs, DataType.FLOAT, added)
    found = {p.name: property_value(p) for p in parts["properties"]}
    assert found.get(PRESENT) == present
    if present is not None and not added:
        there = [n for n in inputs if n is not None]
        assert file_inputs(scaled(2.5), inputs) == there
        assert spread_inputs(scaled(2.5), FlatNode(name="n", properties=parts["properties"]), there) == inputs


def told(*present):
    return FlatNode(name="n", properties=(make_property(PRESENT, list(present), "b"),))


@pytest.mark.parametrize(("flat", "names", "expected"), [
    (FlatNode(), ["a", "b"], ("a", "b")), (told(True, False, True), ["a", "b"], ("a", None, "b")),
    (told(True, False, True), ["a", "b", "c"], ("a", None, "c")), (told(True, False, False), ["a", "b", "c"], ("a",)),
    (told(False, False, False), ["a", "b", "c"], ()), (told(True, True, True), ["a"], ("a",)), (told(False, True), ["a"], (None, "a"))])
def test_inputs_take_the_places_that_files_tell(scaled, flat, names, expected):
    """Nodes with all their inputs may have some for DL4J alone; numbers that fit neither way tell nothing."""
    assert spread_inputs(scaled(2.5), flat, names) == expected


@pytest.mark.parametrize(("flags", "names", "expected"), [
    ((1, 1, 2), ["x", "m", "v", "g", "b"], ("x", "m", "v", "g", "b")), ((1, 0, 2), ["x", "m", "v", "g"], ("x", "m", "v", "g", None)),
    ((0, 1, 2), ["x", "m", "v", "b"], ("x", "m", "v", None, "b")), ((0, 0, 2), ["x", "m", "v"], ("x", "m", "v", None, None))])
def test_arguments_of_an_op_may_tell_too(flags, names, expected):
    flat = FlatNode(name="n", extra_integer=flags, extra_params=(1e-3,))
    found = spread_inputs(read_op(OPS["batchnorm"], flat), flat, names)
    assert tuple(found) + (None,) * (5 - len(found)) == expected


@pytest.mark.parametrize(("inputs", "fit"), [("x", {1}), ("x y?", {1, 2}), ("x *rest", {1, 2, 3, 9}), ("x? y?", {0, 1, 2}), ("", {0})])
def test_numbers_of_inputs(inputs, fit):
    @op("test_node_args.counted", api="", inputs=inputs)
    class Counted(Base):
        pass
    try:
        for count in (0, 1, 2, 3, 9):
            if count in fit:
                check_inputs(Counted(), FlatNode(name="n"), count)
            else:
                text = f"node 'n' has {count} inputs; op 'test_node_args.counted' takes {inputs or 'none'}"
                with pytest.raises(FileFormatError, match=re.escape(text)):
                    check_inputs(Counted(), FlatNode(name="n"), count)
    finally:
        OPS.remove("test_node_args.counted")


def missing(**properties):
    return MissingOp(FlatNode(name="n", op_type=7, op_num=9, properties=tuple(make_property(n, v) for n, v in properties.items())))


def test_missing_ops_tell_what_they_are():
    found = missing(**{VERSION: 4, DISTRIBUTION: "acme 2", "other": 1})
    assert (found.missing_id, found.missing_version, found.missing_distribution) == ("op type 7, number 9", 4, "acme 2")
    assert found.missing == {"op type 7, number 9": 4} and missing().missing == {"op type 7, number 9": None}
    assert missing().missing_distribution is None
    several = MissingOp(FlatNode(name="n", op_name="acme.x"), missing_classes=("a.B", "c.D"))
    assert several.missing == {"a.B": None, "c.D": None}


def test_outputs_of_missing_ops():
    def dtypes(**told):
        return [s.dtype for s in MissingOp(FlatNode(name="n", **told)).infer()]
    assert dtypes() == dtypes(output_names=("a",)) and len(dtypes()) == 1 and len(dtypes(output_names=("a", "b"))) == 2
    assert dtypes(output_types=(DataType.LONG.code, 99)) == [DataType.LONG, DataType.UNKNOWN]
    assert all(s.shape is None for s in MissingOp(FlatNode(name="n", output_types=(5,))).infer())


def fails(found):
    def called(sd):
        found.compute(np)
    with pytest.raises(Exception) as caught:
        called(SameDiff)
    for other in (lambda: found.grad((), (), ()), found.at_inference):
        with pytest.raises(type(caught.value), match=re.escape(str(caught.value))):
            other()
    return str(caught.value)


def test_missing_ops_say_what_to_do(scaled):
    def of(**properties):
        name = properties.pop("name", "test_node_args.scaled")
        return fails(MissingOp(FlatNode(name="n", op_name=name, properties=tuple(make_property(k, v) for k, v in properties.items()))))
    scaled.version = 3
    text = "op 'test_node_args.scaled' (node 'n') was saved by version {} of its class; registered is version 3 by now: {}"
    assert of(**{VERSION: 2}) == text.format(2, "load the graph again")
    assert of(**{VERSION: 3}) == text.format(3, "load the graph again")
    assert of(**{VERSION: 4}) == text.format(4, "update the package that defines it, then load the graph again")
    assert of() == text.format(None, "load the graph again")
    tail = "is not registered: import the package that defines it, then load the graph again"
    assert of(name="acme.x") == f"op 'acme.x' (node 'n') {tail}"
    assert of(name="acme.x", **{VERSION: 2}) == f"op 'acme.x' version 2 (node 'n') {tail}"
    assert of(name="acme.x", **{DISTRIBUTION: "acme 1"}) == f"op 'acme.x' of acme 1 (node 'n') {tail}"
    assert fails(MissingOp(FlatNode(name="n", op_name="acme.x"), missing_classes=("a.B", "c.D"))) == (
        "op 'acme.x' (node 'n') needs a.B and c.D, which nobody registers: import the packages that define these classes, "
        "then load the graph again")


@pytest.mark.parametrize("stored", [{"by": 2.0, "other": 1}, {"By": 2.0}])
def test_user_ops_take_no_property_of_another_name(stored):
    @op("test_node_args.user", api="", inputs="x", file=FileArgs(op_type="UDF", all_properties=True))
    class User(Base):
        by: float = 1.0
    try:
        User.version = 1
        assert read_op(User, versioned(version=1, by=2.0)) == User(2.0)
        name = next(n for n in stored if n != "by")
        with pytest.raises(FileFormatError, match=f"the file holds property '{name}' of op 'test_node_args.user', which the registered"):
            read_op(User, versioned(version=1, **stored))
    finally:
        OPS.remove("test_node_args.user")
