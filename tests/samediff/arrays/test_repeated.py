"""Calls of a form that was seen before give what the first one gave."""
from __future__ import annotations

import warnings

import numpy as np
import pytest

from dl4py.samediff import Conditions, EagerOps, INDArray
from dl4py.samediff.arrays import quiet

ops = EagerOps()


@pytest.mark.parametrize("call", [
    lambda a, b: ops.math.add(a, b), lambda a, b: ops.math.add("sum", a, b), lambda a, b: ops.math.sub(b, a),
    lambda a, b: ops.math.mul(a, 2),
    lambda a, b: ops.math.mul(a, 2.0), lambda a, b: ops.math.exp(a), lambda a, b: ops.nn.relu(a, 0.5), lambda a, b: ops.math.gt(a, b),
    lambda a, b: ops.math.div(2.0, a), lambda a, b: ops.math.match_condition(a, Conditions.greaterThan(0.0)), lambda a, b: ops.add(a, b),
    lambda a, b: ops.where(a, b, a.gt(b)), lambda a, b: ops.reshape(a, 3, 2), lambda a, b: ops.math.add(a, [2, 2, 2])])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_the_second_call_gives_the_same(call, dtype):
    rng = np.random.default_rng(0)
    for _ in range(3):
        a, b = (INDArray.of(rng.integers(1, 9, (2, 3)).astype(dtype)) for _ in range(2))
        outcomes = []
        for x, y in ((a, b), (a, b), (a[:, ::-1], b[:, ::-1])):
            try:
                outcomes.append(call(x, y))
            except Exception as error:
                outcomes.append(type(error))
        first, second, turned = outcomes
        if isinstance(first, type):
            assert second is turned is first
        else:
            assert type(second) is INDArray and second.dtype == first.dtype == turned.dtype and second.tolist() == first.tolist()
            assert not np.shares_memory(second, a)
            if first.shape == (2, 3):
                assert turned[:, ::-1].tolist() == first.tolist()


def test_numbers_of_other_types_are_other_calls():
    a = INDArray.of([5, 7])
    assert [ops.math.mul(a, n).tolist() for n in (1, 2, 1, True)] == [[5, 7], [10, 14], [5, 7], [5, 7]]


def test_nothing_is_said_of_divisions_by_zero():
    a, z = INDArray.of([1.0, -1.0]), INDArray.of([0.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            assert a.div(z).tolist() == ops.math.div(a, z).tolist() == [np.inf, -np.inf]
        assert quiet.quietly(quiet.quietly, np.divide, a, z).tolist() == [np.inf, -np.inf]
    with pytest.warns(RuntimeWarning):
        np.divide(np.ones(1), np.zeros(1))


@pytest.mark.parametrize("method, wanted", [("add", np.add), ("mul", np.multiply), ("mmul", np.matmul), ("max", np.maximum)])
def test_an_array_that_stands_twice_says_nothing_of_others(method, wanted, rng):
    a, b = (INDArray.of(rng.normal(size=(7, 7))) for _ in range(2))         # in no other test, so that the form is a new one
    call = getattr(ops.math, method)
    call(a, a)
    np.testing.assert_allclose(call(a, b), wanted(a, b))
