"""Names that Java and NumPy both have: how they are called says which is meant."""
from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from dl4py.samediff import INDArray

X = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]], np.float32)


@pytest.fixture
def a():
    return INDArray.of(X.copy())


@pytest.mark.parametrize("read", [lambda a: a.shape, lambda a: a.shape(), lambda a: (a.size(0), a.size(-1)), lambda a: np.shape(a),
                                  lambda a: pickle.loads(pickle.dumps(a.shape)), lambda a: copy.deepcopy(a.shape)])
def test_sizes(a, read):
    assert read(a) == (2, 3)


def test_numbers_of_elements(a):
    assert a.size == a.length() == np.size(a) == pickle.loads(pickle.dumps(a.size)) == 6
    assert type(pickle.loads(pickle.dumps(a.size))) is int and json.dumps(a.size) == "6"
    a.shape = (3, 2)
    assert a.size(0) == 3


@pytest.mark.parametrize("order", "cf")
def test_buffers(a, order):
    a = a.dup(order)
    buffer = a.data()
    assert np.shares_memory(buffer, a) and buffer.length() == 6 and buffer.dataType() is a.dataType()
    assert a.data.asDouble() == a.data.asFloat() == a.ravel(order).tolist()
    assert a.data.asInt() == a.data.asLong() == [int(v) for v in a.ravel(order)]
    assert buffer.getDouble(1) == (2.0 if order == "c" else 8.0)
    assert bytes(memoryview(a.data)) == a.tobytes(order="A")


@pytest.mark.parametrize(("java", "numpy"), [
    (lambda a: a.std(0), lambda x: x.std(axis=0, ddof=1)), (lambda a: a.std(axis=0), lambda x: x.std(axis=0)),
    (lambda a: a.std(False, 0), lambda x: x.std(axis=0)), (lambda a: a.var(1), lambda x: x.var(axis=1, ddof=1)),
    (lambda a: a.var(axis=1, ddof=1), lambda x: x.var(axis=1, ddof=1)), (lambda a: np.std(a), lambda x: np.std(x)),
    (lambda a: np.var(a, axis=0), lambda x: np.var(x, axis=0)), (lambda a: a.sum(True, 0), lambda x: x.sum(axis=0, keepdims=True)),
    (lambda a: a.sum(0, 1), lambda x: np.asarray(x.sum())), (lambda a: a.sum(axis=(0, 1)), lambda x: np.asarray(x.sum())),
    (lambda a: a.repeat(0, 2), lambda x: x.repeat(2, axis=0)), (lambda a: a.repeat(2), lambda x: x.repeat(2)),
    (lambda a: a.repeat(2, axis=1), lambda x: x.repeat(2, axis=1)), (lambda a: a.repeat(1, 2), lambda x: x.repeat(2, axis=1)),
    (lambda a: a.cumsum(), lambda x: x.cumsum()), (lambda a: a.cumsum(1), lambda x: x.cumsum(axis=1)),
    (lambda a: a.cumsum(axis=0), lambda x: x.cumsum(axis=0)), (lambda a: a.reshape(3, 2), lambda x: x.reshape(3, 2)),
    (lambda a: a.reshape("f", 3, 2), lambda x: x.reshape((3, 2), order="F")), (lambda a: a.reshape((3, 2), order="F"), lambda x: x.reshape(
        (3, 2), order="F")), (lambda a: a.ravel("f"), lambda x: x.ravel(order="F")), (lambda a: a.transpose(), lambda x: x.T),
    (lambda a: a.transpose(1, 0), lambda x: x.T), (lambda a: a.max(0), lambda x: x.max(axis=0)), (lambda a: a.prod(1),
    lambda x: x.prod(axis=1)),
    (lambda a: a.min(axis=1, keepdims=True), lambda x: x.min(axis=1, keepdims=True)), (lambda a: a.argmax(axis=1),
    lambda x: x.argmax(axis=1)),
    (lambda a: a.any(axis=0), lambda x: x.any(axis=0)), (lambda a: a.all(axis=1), lambda x: x.all(axis=1)),
    (lambda a: a.mean(axis=0, dtype=np.float64), lambda x: x.mean(axis=0, dtype=np.float64))])
def test_positions_are_java_s_and_keywords_numpy_s(a, java, numpy):
    found, expected = java(a), numpy(X)
    assert type(found) is INDArray
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)
    assert found.dtype == expected.dtype and np.shape(found) == expected.shape


def test_results_that_are_given(a):
    out = np.zeros(3, np.float32)
    assert a.sum(axis=0, out=out) is out and out.tolist() == [9, 18, 36]
    taken = INDArray.of(np.zeros(3, np.float32))
    assert a.sum(taken, 0) is taken and taken.tolist() == [9, 18, 36]
    a.put([0, 1], -1.0, mode="raise")
    assert a.tolist()[0] == [-1, -1, 4]
    np.put(a, [5], [7.0])
    assert a.getDouble(1, 2) == 7
    assert a.put([0, 2], 3.0) is a and a.getDouble(0, 2) == 3


def test_truth_is_python_s(a):
    assert a.any() is True and a.all() is True and a.none() is False
    assert a.equals(a.dup()) is True and a.gt(2).any() is True


def test_the_number_of_elements_is_a_number_beside_arrays():
    a = INDArray.of(np.ones((2, 3), np.float32))
    for made in (a * a.size, a.size - a, a / a.size, a.sum() / a.size, np.multiply(a.size, np.asarray(a))):
        assert made.dtype == np.float32
    assert np.sqrt(a.size) == 6 ** 0.5 and a.size + 1 == 7
