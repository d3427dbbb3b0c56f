"""Attributes of all plain types: held, compared, saved, and given to kernels."""
from __future__ import annotations

import enum
import pickle

import numpy as np
import pytest
from numpy.typing import NDArray

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import GraphError
from dl4py.samediff.ir.held_values import FrozenDict
from dl4py.udf import UserOp, check_op, user_op


class Way(enum.Enum):
    UP = 1
    DOWN = 2


@user_op("test_kinds.all")
class Kinds(UserOp):
    """x times a number from the options."""
    rows: list[int] = [1, 2]
    ragged: list[list[int]] = [[1], [2, 3]]
    pair: tuple[int, str] = (1, "a")
    options: dict[str, float] = {"scale": 2.0}
    table: np.ndarray = np.arange(3.0)
    typed: NDArray[np.float32] = np.zeros(2)
    waves: np.ndarray = np.array([1j])
    several: list[np.ndarray] = [np.eye(2)]
    raw: bytes = b"\x00\xff"
    z: complex = 1 + 2j
    kind: DataType = DataType.FLOAT
    way: Way = Way.UP
    ways: tuple[Way, ...] = (Way.UP,)
    nested: dict[str, tuple[int, ...]] = {"k": (1, 2)}
    by_number: dict[int, Way] = {1: Way.DOWN}
    maybe: dict[str, int] | None = None
    limits: tuple[float, ...] = (np.inf, 1.0)
    text: str = "a"

    def compute(self, xp, x):
        return x * self.options["scale"] + xp.sum(xp.asarray(self.table)) * self.z.real


OTHERS = {"rows": [], "ragged": [[], [4]], "pair": (2, "b"), "options": {"scale": 3.0, "b": 1.0}, "table": [[1.0], [2.0]], "typed": [1.0],
          "waves": np.array([[1 + 2j, 3]], np.complex64), "several": [np.ones(1, np.int32), np.zeros((2, 0))], "raw": b"", "z": -1j,
          "kind": DataType.DOUBLE, "way": Way.DOWN, "ways": (Way.DOWN, Way.UP), "nested": {"a": [3], "b": []}, "by_number": {},
          "maybe": {"q": 1}, "limits": (-np.inf, 0.0), "text": "dl4py-json:{"}


@pytest.mark.parametrize("name", [None, *OTHERS])
def test_saved_and_compared(name, tmp_path):
    op = Kinds() if name is None else Kinds(**{name: OTHERS[name]})
    assert name is None or (op != Kinds() and op == Kinds(**{name: OTHERS[name]}) and hash(op) == hash(Kinds(**{name: OTHERS[name]})))
    sd = SameDiff.create()
    sd.add_op(op, [sd.placeholder("x", DataType.DOUBLE, -1)], ["y"])
    sd.save(tmp_path / "a.sdz")
    again = SameDiff.load(tmp_path / "a.sdz")
    assert again.nodes()[0].op == op
    np.testing.assert_array_equal(again.output_single({"x": np.ones(2)}, "y"), sd.output_single({"x": np.ones(2)}, "y"))


def test_checked():
    check_op(Kinds, [np.array([0.5, 1.0])]).raise_if_failed()


def test_values_cannot_be_changed():
    op = Kinds()
    with pytest.raises(ValueError, match="read-only"):
        op.table[0] = 1
    for change in (lambda d: d.update(a=1), lambda d: d.pop("scale"), lambda d: d.__setitem__("a", 1), lambda d: d.clear()):
        with pytest.raises(TypeError, match="cannot be changed"):
            change(op.options)
    assert op.options == {"scale": 2.0} and op.rows == (1, 2)
    assert pickle.loads(pickle.dumps(op.options)) == op.options and hash(FrozenDict(a=(1,))) == hash(FrozenDict(a=(1,)))


@pytest.mark.parametrize("name, value, text", [
    ("rows", "a", "rows must be int"), ("pair", (1,), "pair must be 2 values"), ("options", 3, "options must be a dict"),
    ("options", {1: 2.0}, "each key of options must be str"), ("options", {"a": "b"}, r"options\['a'\] must be float"),
    ("table", "x", "table must be an array of numbers"), ("raw", "x", "raw must be bytes"), ("z", "x", "z must be complex")])
def test_values_that_do_not_fit(name, value, text):
    with pytest.raises(GraphError, match=text):
        Kinds(**{name: value})


def test_kernels_are_given_them():
    def kernel(x, out, table, rows):
        for i in range(x.size):
            out[i] = x[i] * table[0] * rows[0]

    @user_op("test_kinds.kernel", numba=kernel)
    def scaled(xp, x, *, table: np.ndarray, rows: tuple[int, ...] = (3,)):
        return x * table[0] * rows[0]
    check_op(scaled, [np.array([0.5, 1.0])], {"table": np.array([2.0, 3.0])}, gradient=False).raise_if_failed()
    sd = SameDiff.create()
    y = scaled(sd.placeholder("x", DataType.DOUBLE, -1), table=np.array([2.0, 3.0]))
    np.testing.assert_array_equal(sd.output_single({"x": np.ones(2)}, y), [6.0, 6.0])
