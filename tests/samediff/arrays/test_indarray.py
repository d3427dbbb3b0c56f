"""INDArray as an array of NumPy's."""
from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from dl4py.samediff import DataType, INDArray, SameDiff
from dl4py.samediff.ir.op import OPS
from dl4py.udf import user_op


@pytest.fixture
def a():
    return INDArray.of([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize(("value", "dtype"), [(1, "int32"), (1.5, "float32"), ([True], "bool"), (np.float64(1), "float64"),
                                              (2 ** 40, "int64"), (np.ones(3, np.int16), "int16"), ([], "float32")])
def test_types_are_those_of_dl4j(value, dtype):
    assert INDArray.of(value).dtype == dtype


def test_a_type_can_be_asked_for():
    assert INDArray.of([1, 2], DataType.DOUBLE).dtype == np.float64


def test_memory_is_shared_with_an_array(a):
    plain = np.zeros((2, 3))
    assert np.shares_memory(INDArray.of(plain), plain)
    assert INDArray.of(a) is a


@pytest.mark.parametrize("function", [
    lambda a: a + 1, lambda a: 1 - a, lambda a: a[0], lambda a: a[a > 2], lambda a: a.T, lambda a: np.exp(a), lambda a: np.add(a, a),
    lambda a: np.where(a > 2, a, 0), lambda a: np.concatenate([a, a]), lambda a: np.stack([a, a]), lambda a: a @ a.T,
    lambda a: np.dot(a, a.T), lambda a: np.add.reduce(a), lambda a: np.add.outer(a, a), lambda a: np.sum(a), lambda a: np.sum(a, axis=0),
    lambda a: np.std(a, axis=1), lambda a: np.clip(a, 2, 3), lambda a: np.einsum("ij->j", a), lambda a: np.maximum(a, np.zeros(3)),
    lambda a: -a, lambda a: a > 2, lambda a: np.split(a, 3, axis=1)[1], lambda a: np.modf(a)[0], lambda a: np.sort(a),
    lambda a: copy.deepcopy(a), lambda a: copy.copy(a), lambda a: pickle.loads(pickle.dumps(a)),
    lambda a: np.add(a, a, where=a > 2, out=INDArray.of(np.zeros((2, 3), np.float32))), lambda a: np.linalg.inv(a[:, :2]),
    lambda a: np.tile(a, 2), lambda a: np.repeat(a, 2, axis=1), lambda a: np.cumsum(a), lambda a: np.max(a),
    lambda a: np.transpose(a, (1, 0)), lambda a: np.reshape(a, (3, 2)), lambda a: np.ravel(a),
    lambda a: np.mean(a, axis=0, keepdims=True)])
def test_numpy_computes_the_same_and_keeps_the_class(a, function):
    found, expected = function(a), function(np.asarray(a))
    assert type(found) is INDArray
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(found), expected, strict=True)


def test_an_output_is_given_back(a):
    out = np.zeros((2, 3), np.float32)
    assert np.add(a, 1, out=out) is out
    assert out[1, 2] == 7
    a += 1
    assert type(a) is INDArray


def test_numbers_and_truth_are_python_s(a):
    assert float(a[0, 1]) == 2.0 and bool(np.all(a == a)) and np.array_equal(a, a) is True


def test_graphs_give_such_arrays_as_they_get(a):
    sd = SameDiff()
    x = sd.placeholder("x", DataType.FLOAT, -1, 3)
    y = sd.constant("c", a).add("y", x)
    seen = a.dup()
    a.assign(0)
    for _ in range(2):
        found = sd.output_single({"x": seen}, y)
        assert type(found) is INDArray and found.tolist() == (2 * seen).tolist()


def test_user_ops_see_plain_arrays_and_give_such_as_they_get(a):
    @user_op("tests.spread_of")
    def spread_of(xp, x):
        assert type(x) is np.ndarray
        return x.std(0)                     # NumPy's, with divisor n

    try:
        found = spread_of(a)
        assert type(found) is INDArray and type(spread_of(np.asarray(a))) is np.ndarray
        assert found.tolist() == np.std(np.asarray(a), axis=0).tolist()
    finally:
        OPS.remove("tests.spread_of")


def test_files_tables_and_memory_of_others(a, tmp_path):
    np.save(tmp_path / "a.npy", a)
    np.savez(tmp_path / "a.npz", a=a)
    assert np.load(tmp_path / "a.npy").tolist() == np.load(tmp_path / "a.npz")["a"].tolist() == a.tolist()
    assert memoryview(a).shape == (2, 3) and bytes(a) == np.asarray(a).tobytes()
    frame = pytest.importorskip("pandas").DataFrame(a, columns=list("xyz"))
    assert frame["y"].tolist() == [2, 5] and INDArray.of(frame).tolist() == a.tolist()
    assert type(frame + a) is type(frame)


@pytest.mark.parametrize(("x", "y", "dtype", "equal"), [
    ([1000, 1], [1000.005, 1], "f4", True), ([1000, 1], [1000.02, 1], "f4", False), ([[1000.0]], [[1000.005]], "f4", False),
    ([1, 0.5], [1, 0.500009], "f8", True), ([1, 0.5], [1, 0.500011], "f8", False), ([-1000, 1], [-1000.005, 1], "f8", True),
    (1000, 1000.005, "f8", False), ([10 ** 6, 1], [10 ** 6 + 1, 1], "i4", False), ([np.inf, 1], [np.inf, 1], "f4", True),
    ([np.inf, 1], [1, 1], "f4", False), ([np.nan, 1], [np.nan, 1], "f4", False), ([2000, 1], [2001, 1], "f2", False)])
def test_large_elements_are_equal_by_their_share(x, y, dtype, equal):
    """As in DL4J, but for whole numbers and infinities."""
    assert INDArray.of(np.array(x, dtype)).equals(INDArray.of(np.array(y, dtype))) is equal


NUMBERS = [t for t in DataType if t.is_numeric and t is not DataType.BOOL]


@pytest.mark.parametrize("other", NUMBERS, ids=lambda t: t.name)
@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda t: t.name)
def test_arrays_of_any_two_types_are_compared_without_loss(dtype, other):
    x, y = (INDArray.of(np.array([1, 2, 3]).astype(t.numpy)) for t in (dtype, other))
    assert x.eq(y).all() and x.gte(y).all() and not x.lt(y).any()
