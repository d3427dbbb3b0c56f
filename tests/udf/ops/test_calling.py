"""User ops on plain arrays: later calls of one form give what the first gave."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import DL4PyError
from dl4py.udf import UserOp, user_op
from dl4py.udf.ops import calling


@user_op("test_calling.scaled")
def scaled(xp, x, *, by: float | bool = 1.0):
    return x * by


@user_op("test_calling.parts")
def parts(xp, x, y=None):
    return [x.sum(axis=0), x - (0 if y is None else y)]


@user_op("test_calling.positive")
def positive(xp, x):
    if (x < 0).any():
        raise ValueError("negative")
    return np.sort(x)[: int(x[0]) + 1]


@user_op("test_calling.Power")
class Power(UserOp):
    exponent: int = 2

    def compute(self, xp, x):
        return x ** self.exponent


@pytest.fixture(autouse=True)
def forgotten():
    calling._known.clear()


def twice(call):
    """The result, and that of a second call, which is the same and a memory of its own."""
    first, again = call(), call()
    assert calling._known
    for a, b in zip(first if isinstance(first, tuple) else [first], again if isinstance(again, tuple) else [again], strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype and type(a) is type(b) and not np.shares_memory(a, b)
    assert type(first) is type(again)
    return again


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_a_second_call_gives_the_same_types(dtype):
    x = np.arange(6, dtype=dtype).reshape(2, 3)
    assert twice(lambda: scaled(x)).dtype == scaled.op_class()(x).dtype
    assert isinstance(twice(lambda: parts(x)), tuple) and len(twice(lambda: parts(x, x))) == 2
    np.testing.assert_array_equal(twice(lambda: Power(exponent=3)(x)), x ** 3)


def test_values_and_attributes_count_in_every_call():
    x = np.ones(3)
    assert twice(lambda: scaled(x, by=2.0))[0] == 2 and twice(lambda: scaled(x, by=3.0))[0] == 3
    assert scaled(x + 1, by=3.0)[0] == 6 and scaled(x, by=True)[0] == 1 and scaled(x.astype("f"), by=2.0).dtype == np.float32
    assert Power(exponent=2)(x + 1)[0] == 4 and Power(exponent=3)(x + 1)[0] == 8


def test_shapes_that_depend_on_values_and_errors_are_those_of_a_first_call():
    assert [positive(np.array([n, 5.0, 7.0])).shape for n in (0, 0, 1, 0)] == [(1,), (1,), (2,), (1,)]
    for _ in range(2):
        with pytest.raises(ValueError, match="negative") as caught:
            positive(np.array([0.0, -1.0, 1.0]))
        assert "test_calling.positive" in caught.value.__notes__[0]
    with pytest.raises(DL4PyError, match="by"):
        scaled(np.ones(3), by="two")


def test_the_newest_op_of_a_name_is_called():
    def made(factor):
        @user_op("test_calling.again")
        def again(xp, x):
            return x * factor
        return again
    x = np.ones(2)
    first = made(2.0)
    assert first(x)[0] == first(x)[0] == 2
    second = made(3.0)
    assert second(x)[0] == second(x)[0] == 3


def test_what_is_known_has_a_bound(monkeypatch):
    monkeypatch.setattr(calling, "_MOST_KNOWN", 4)
    for n in range(20):
        scaled(np.ones(n + 1))
    assert 0 < len(calling._known) <= 4
    calling._known.clear()
    for count, known in ((1, 1), (2, 2), (3, 3), (4, 4), (1, 4), (5, 1)):           # forgotten all at once, when there are that many
        scaled(np.ones(count))
        assert len(calling._known) == known


class LookedAt(Exception):
    """Something that later calls need not do."""


@pytest.fixture
def only_known(monkeypatch):
    """From here on, calls must be like an earlier one."""
    def forbid():
        def looked(*args):
            raise LookedAt
        monkeypatch.setattr(calling, "_check_registered", looked)
    return forbid


def test_a_later_call_looks_at_nothing_but_its_arrays(only_known):
    x = np.arange(1.0, 7.0).reshape(2, 3)
    scaled(x), scaled(x, by=2.0), parts(x), Power()(x), Power(exponent=3)(x)
    only_known()
    np.testing.assert_array_equal(scaled(2 * x), 2 * x)
    np.testing.assert_array_equal(scaled(x, by=2.0), 2 * x)
    np.testing.assert_array_equal(parts(x)[1], x)
    np.testing.assert_array_equal(Power(exponent=3)(2 * x), 8 * x ** 3)


@pytest.mark.parametrize("call", [
    lambda x: scaled(x.astype(np.float32)), lambda x: scaled(x[:2]), lambda x: scaled(x, by=2), lambda x: scaled(x, by=3.0),
    lambda x: scaled(list(x)), lambda x: parts(x, x), lambda x: Power(exponent=4)(x), lambda x: Power()(x, name="named"),
    lambda x: Power()(x[None]), lambda x: scaled(x.view(type("Other", (np.ndarray,), {})))])
def test_calls_of_another_form_are_looked_at(call, only_known):
    x = np.arange(1.0, 4.0)
    scaled(x), scaled(x, by=2.0), parts(x), Power()(x)
    only_known()
    with pytest.raises(LookedAt):
        call(x)


def test_a_result_of_another_type_is_one_of_a_first_call(only_known):
    @user_op("test_calling.turning")
    def turning(xp, x):
        return x if x[0] < 5 else x.astype(np.float32) if x[0] < 9 else x[:1]

    for start in (6.0, 10.0):
        calling._known.clear()
        turning(np.array([1.0, 2.0]))
        key = calling._key(turning.op_class, (), [np.array([1.0, 2.0])])
        assert key in calling._known and calling._again(turning.op_class, key, [np.array([start, 2.0])]) is None


def test_ops_with_random_numbers_or_kept_outputs_are_not_remembered():
    @user_op("test_calling.drawn", stateful=True)
    def drawn(xp, x, *, context):
        return x + context.random().normal(size=x.shape)
    drawn(np.ones(2))
    Power()(np.float64(3.0))            # a number, no array
    assert not calling._known


@pytest.mark.parametrize("rule", [None, lambda x: TensorSpec(x.shape, DataType.FLOAT)])
def test_results_have_the_types_of_a_rule_that_was_written(rule):
    """Code that can only be tried says its types itself."""
    runs = []

    def code(xp, x):
        runs.append(type(x))
        return np.asarray(x) * 2.0
    op = user_op("test_calling.typed" if rule is None else "test_calling.ruled", infer=rule)(code)
    assert op(np.ones(2)).dtype == (np.float64 if rule is None else np.float32)
    tried = len(runs)
    assert op(np.ones(2, np.int32)).dtype == (np.float64 if rule is None else np.float32) and len(runs) > tried
