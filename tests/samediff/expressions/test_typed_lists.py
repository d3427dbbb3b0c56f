"""Lists of numbers as operands take the type that an op wants, as numbers do."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import DataType, Nd4j, SameDiff
from dl4py.samediff.errors import DataTypeError

TYPES = [t for t in DataType if t.is_numeric and t is not DataType.BOOL]
#: Ops by which a variable or an array x of three numbers meets a list of small whole ones.
CALLS = {
    "greater": lambda of, x: x > [1, 2, 3],
    "less": lambda of, x: x > [1, 2, 3],
    "max": lambda of, x: of.math.max(x, [2, 2, 2]),
    "first": lambda of, x: of.math.min([2, 2, 2], x),
    "nested": lambda of, x: of.math.max(x, [[1], (3,)]),
    "equal": lambda of, x: x.eq((1, 5, 3)),
}


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_as_arrays_of_the_type_do(call, dtype):
    values = np.array([3, 2, 1]).astype(dtype.numpy)
    wanted = {"greater": [True, False, False], "less": [True, False, False], "max": [3, 2, 2], "first": [2, 2, 1],
              "nested": [[3, 2, 1], [3, 3, 3]], "equal": [False, False, False]}[next(k for k, c in CALLS.items() if c is call)]
    sd = SameDiff.create()
    made = call(sd, sd.var("x", values) if dtype.is_floating else sd.constant("x", values))
    eager = call(Nd4j, Nd4j.create(values))
    assert made.dtype is DataType.of(eager.dtype) is (DataType.BOOL if isinstance(np.ravel(wanted)[0], np.bool_) else dtype)
    np.testing.assert_array_equal(made.eval().astype(float), np.asarray(wanted, float))
    np.testing.assert_array_equal(np.asarray(eager).astype(float), np.asarray(wanted, float))


def test_of_ops_that_want_floating_numbers_and_of_several_lists():
    sd = SameDiff.create()
    x = sd.var("x", np.array([1.0, 2, 3]))
    np.testing.assert_array_equal(x.mmul([[1], [2], [3]]).eval(), [14])
    updated = sd.scatter_update(x, [0, 2], [5, 6])           # indices stay whole numbers
    assert updated.dtype is DataType.DOUBLE
    np.testing.assert_array_equal(updated.eval(), [5, 2, 6])
    np.testing.assert_array_equal(sd.concat(0, x, [4.5]).eval(), [1, 2, 3, 4.5])


def test_what_was_allowed_keeps_its_type():
    sd = SameDiff.create()
    half, whole = sd.constant("half", np.ones(2, np.float16)), sd.constant("whole", np.array([5, 6]))
    assert (whole + [0.5, 1.5]).dtype is DataType.FLOAT
    assert sd.gather(half, [0, 1], 0).dtype is DataType.HALF


@pytest.mark.parametrize("given", [[1.5, 2], [2 ** 40, 1], ["a", "b"]])
def test_what_the_type_does_not_hold_is_refused_as_it_was(given):
    sd = SameDiff.create()
    x = sd.constant("x", np.array([1, 2], np.int32))
    with pytest.raises(DataTypeError, match="greater needs inputs of one type; got INT, "):
        x > given  # noqa: B015
    assert sd.variable_names() == ["x"]
    with pytest.raises(DataTypeError, match="one type"):
        Nd4j.math.max(Nd4j.create(np.array([1, 2], np.int32)), given)


def test_arrays_keep_theirs():
    sd = SameDiff.create()
    with pytest.raises(DataTypeError, match="got DOUBLE, LONG"):
        sd.var("x", np.ones(2)) > np.array([1, 2])  # noqa: B015
