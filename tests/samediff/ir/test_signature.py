"""Matching calls with the ways an op can be called."""
from __future__ import annotations

import enum
import inspect
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import GraphError, UnknownNameError
from dl4py.samediff.ir.held_values import FrozenDict
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.ir.signature import Mismatch, _parsed, coerce


class Kind(enum.Enum):
    SOFT = 1
    HARD = 2


@pytest.fixture(scope="module")
def sd():
    made = SameDiff.create()
    made.constant("x", np.arange(12.0).reshape(3, 4))
    made.constant("i", np.array([0, 2], np.int32))
    return made


GOOD = [(int, 3, 3), (int, np.int64(3), 3), (float, 2, 2.0), (float, np.float32(0.5), 0.5), (bool, np.bool_(True), True),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[int, ...], 3, (3,)), (tuple[int, ...], np.array([1, 2]), (1, 2)), (Literal["a", "b"], "b", "b"), (Kind, "hard", Kind.HARD),
        (Kind, Kind.SOFT, Kind.SOFT), (DataType, "float", DataType.FLOAT), (DataType, np.float64, DataType.DOUBLE),
        (float | None, None, None), (float | None, 1, 1.0), (str, "text", "text"), (complex, 1, 1 + 0j), (bytes, b"a", b"a"),
        (list[int], [1, 2], (1, 2)), (tuple[int, str], [1, "a"], (1, "a")), (dict[str, float], {"a": 1}, FrozenDict(a=1.0)),
        (dict[str, list[int]], {"a": [1]}, FrozenDict(a=(1,)))]
BAD = [(int, 1.5), (int, True), (float, "1"), (float, True), (bool, 1), (tuple[int, ...], [1.5]), (Literal["a", "b"], "c"), (Kind, "soft?"),
       (DataType, "flaot"), (float | None, "x"), (str, 3), (DataType, None), (complex, "1"), (bytes, "a"), (list[int], ["a"]),
       (tuple[int, str], (1,)), (tuple[int, str], ("a", 1)), (dict[str, float], [("a", 1)]), (dict[str, float], {1: 1.0}),
       (np.ndarray, "text"), (np.ndarray, [[1], [2, 3]]), (NDArray[np.float32], [{}])]


@pytest.mark.parametrize(("hint", "value", "wanted"), GOOD, ids=str)
def test_values_of_attributes(hint, value, wanted):
    found = coerce(hint, value, "name")
    assert found == wanted and type(found) is type(wanted)


@pytest.mark.parametrize(("hint", "dtype"), [(np.ndarray, np.int64), (NDArray[np.float32], np.float32), (NDArray[np.floating], np.int64)])
def test_arrays_are_copies_that_stay(hint, dtype):
    given = np.array([1, 2])
    found = coerce(hint, given, "name")
    given[0] = 5
    assert found.tolist() == [1, 2] and found.dtype == dtype
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 3


@pytest.mark.parametrize(("hint", "value"), BAD, ids=str)
def test_values_that_do_not_fit(hint, value):
    with pytest.raises(Mismatch, match="name"):
        coerce(hint, value, "name")


def test_ways_to_give_arguments(sd):
    x = sd.variable("x")
    wanted = np.arange(12.0).reshape(3, 4).sum(0)
    for made in (x.sum(0), x.sum("named", 0), x.sum(False, 0), sd.sum(x, 0), sd.sum("other", x, 0), sd.sum(x, [0]), sd.sum(x, False, 0),
                 sd.math.sum(x, 0) if hasattr(sd.math, "sum") else x.sum(0), sd.sum(x, dimensions=(0,)), sd.sum(None, x, 0)):
        np.testing.assert_array_equal(made.eval(), wanted)
    assert sd.variable("named") is not None
    assert [v.name() for v in sd.unstack(["a", "b", "c"], x, 0, 3)] == ["a", "b", "c"]
    assert sd.concat(0, x, x).get_shape() == sd.concat(0, [x, x]).get_shape() == (6, 4)


@pytest.mark.parametrize(("act", "texts"), [
    (lambda sd, x: sd.nn.softmax(x, dimention=1), ["softmax", "'dimention'", "did you mean 'dimension'", "Ways to call"]),
    (lambda sd, x: sd.nn.softmax(), ["softmax", "missing"]),
    (lambda sd, x: sd.nn.softmax(x, 1, 2, 3), ["too many"]),
    (lambda sd, x: sd.nn.softmax(x, "one"), ["softmax", "int", "'one'"]),
    (lambda sd, x: sd.nn.softmax(x, 1, dimension=1), ["twice"]),
    (lambda sd, x: sd.math.add(x), ["missing"]),
    (lambda sd, x: sd.math.add(x, object()), ["object"]),
], ids=range(7))
def test_calls_that_do_not_fit(sd, act, texts):
    count = len(sd.variables())
    with pytest.raises(GraphError) as error:
        act(sd, sd.variable("x"))
    assert all(t in str(error.value) for t in texts), str(error.value)
    assert len(sd.variables()) == count


@pytest.mark.parametrize(("act", "near"), [(lambda sd, x: sd.nn.sofmax(x), "softmax"), (lambda sd, x: sd.math.tanhh(x), "tanh"),
                                           (lambda sd, x: x.summ(0), "sum"), (lambda sd, x: sd.concatt(0, x), "concat")])
def test_names_that_do_not_exist(sd, act, near):
    with pytest.raises((UnknownNameError, AttributeError), match=near):
        act(sd, sd.variable("x"))


def test_every_method_documents_its_calls(sd):
    assert "softmax(" in sd.nn.softmax.__doc__ and sd.nn.softmax.__name__ == "softmax"
    assert "softmax" in dir(sd.nn) and "concat" in dir(sd) and "mmul" in dir(sd.variable("x")) and "ops>" in repr(sd.nn)


def test_signatures_say_what_comes_back(sd):
    wanted = {"one": "SDVariable", "several": "list[SDVariable]", "of a variable": "SDVariable", "graph": SameDiff, "zeros": "SDVariable"}
    calls = sd.nn.relu, sd.math.moments, sd.variable("x").mmul, SameDiff.create, sd.create
    assert {k: inspect.signature(call).return_annotation for k, call in zip(wanted, calls)} == wanted
    assert not inspect.signature(SameDiff.create).parameters and "shape" in inspect.signature(sd.create).parameters
    assert "object at" not in str(inspect.signature(sd.output))


def test_ops_declare_their_ways_to_be_called_where_these_do_not_follow_from_inputs_and_attributes(monkeypatch):
    said = []
    for name in OPS:
        cls = OPS[name]
        if not cls.__module__.startswith("dl4py.samediff.ops.") or not vars(cls).get("signatures"):
            continue
        declared = _parsed(cls)
        with monkeypatch.context() as patch:
            patch.setattr(cls, "signatures", ())
            said += [name] * (_parsed(cls) == declared)
    assert not said
