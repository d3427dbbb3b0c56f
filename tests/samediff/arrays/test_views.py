"""What looks at the memory of another array, and what is refused."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.samediff import Conditions, DataType, INDArray, NDArrayIndex
from dl4py.samediff.errors import DataTypeError, GraphError, OutOfRangeError, ShapeError

all_, point, interval, indices = NDArrayIndex.all, NDArrayIndex.point, NDArrayIndex.interval, NDArrayIndex.indices


@pytest.fixture
def a():
    return INDArray.of(np.arange(12, dtype=np.float32).reshape(3, 4))


@pytest.mark.parametrize("part", [
    lambda a: a.getRow(1), lambda a: a.getColumn(2), lambda a: a.get(all_(), interval(1, 3)), lambda a: a.get(point(0)),
    lambda a: a.slice(2),
    lambda a: a.transpose(), lambda a: a.permute(1, 0), lambda a: a.reshape(4, 3), lambda a: a.tensorAlongDimension(1, 0),
    lambda a: a.ravel(),
    lambda a: a.getScalar(1, 1), lambda a: a.vectorAlongDimension(2, 1), lambda a: a.swapAxes(0, 1), lambda a: a[1:, ::2],
    lambda a: a.dimShuffle([1, "x", 0]), lambda a: a.getRow(1).get(interval(1, 3))])
def test_views_share_memory(a, part):
    view = part(a)
    assert type(view) is INDArray and np.shares_memory(view, a)
    view.assign(-1)
    assert (np.asarray(a) == -1).sum() == view.length()
    assert view.isView() is (view.length() < 12)


@pytest.mark.parametrize("copied", [
    lambda a: a.dup(), lambda a: a.getRows(0, 1), lambda a: a.get(indices(0, 2), all_()), lambda a: a.add(0),
    lambda a: a.castTo(DataType.DOUBLE),
    lambda a: a.reshape("f", 4, 3), lambda a: a.unsafeDuplication(), lambda a: a.broadcast(2, 3, 4), lambda a: a.like(), lambda a: a.neg(),
    lambda a: a.repmat(1, 1), lambda a: a.putWhereWithMask(a.gt(3), 0)])
def test_copies_do_not(a, copied):
    assert not np.shares_memory(copied(a), a)


@pytest.mark.parametrize("same", [lambda a: a.detach(), lambda a: a.leverage(), lambda a: a.migrate(), lambda a: a.castTo(DataType.FLOAT),
                                  lambda a: a.broadcast(3, 4), lambda a: a.permute(0, 1), lambda a: a.leverageTo("workspace")])
def test_some_give_the_array_itself(a, same):
    assert same(a) is a


def test_own_axes_turn(a):
    row = a.getRow(1)
    assert a.transposei() is a and a.shape == (4, 3) and a.getDouble(2, 1) == 6
    row.assign(0)
    assert a.getColumn(1).sumNumber() == 0
    part = INDArray.of(np.arange(24.0).reshape(2, 3, 4))[:, ::2]
    expected = np.asarray(part).transpose(2, 0, 1).copy()
    assert part.permutei(2, 0, 1).tolist() == expected.tolist()


@pytest.mark.parametrize("order", ["c", "f"])
@pytest.mark.parametrize("shape", [(1, 2), (3, 2), (2, 1, 3), (3, 3, 2), (1, 2, 2, 3), (2, 0, 3)])
def test_own_axes_turn_where_the_memory_is_own(shape, order):
    for turned in itertools.permutations(range(len(shape))):
        made = INDArray(shape, np.float32, order=order)
        made[...] = np.arange(made.size).reshape(shape)
        expected = np.asarray(made).transpose(turned).copy()
        assert made.base is None and made.permutei(*turned).tolist() == expected.tolist()
        assert made.permutei(*np.argsort(turned)).shape == shape


def test_parts_that_are_written(a):
    assert a.put([point(1), all_()], INDArray.of([1.0, 2.0, 3.0, 4.0])).tolist() == [1, 2, 3, 4]
    assert a.getRow(1).tolist() == [1, 2, 3, 4]
    assert a.put([indices(0, 2), indices(1, 3)], 9.0) is a and a.get(indices(0, 2), indices(1, 3)).tolist() == [[9, 9], [9, 9]]
    a.put(a.gt(8), 0)
    assert a.max().getDouble() == 8
    assert a.replaceWhere(a.mul(0), Conditions.greaterThan(2)) is a and a.maxNumber() <= 2


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda a: a.add(np.ones((2, 3))), ShapeError, r"add: shapes \(3, 4\) and \(2, 3\)"),
    (lambda a: a.getRow(5), OutOfRangeError, "position 5 is out of range for axis 0, which has 3"),
    (lambda a: a.getRow(5), IndexError, "position 5"),
    (lambda a: a.getDouble(12), OutOfRangeError, r"getDouble: element 12.*shape \(3, 4\), which has 12"),
    (lambda a: a.getDouble(1, 2, 3), ShapeError, "3 positions"),
    (lambda a: a.get(point(0), point(0), point(0)), ShapeError, "3 indices for an array of rank 2"),
    (lambda a: a.get(interval(2, 9)), OutOfRangeError, "does not fit axis 0, which has 3"),
    (lambda a: a.get("all"), DataTypeError, "NDArrayIndex"),
    (lambda a: a.reshape(5, 5), ShapeError, r"12 elements.*\(5, 5\)"),
    (lambda a: a.dup("f").reshape("c", True, 12), ShapeError, "leave out enforce"),
    (lambda a: a.permute(0, 0), ShapeError, "named once"),
    (lambda a: a.mmul(a), ShapeError, "columns of x"),
    (lambda a: a.mmul(a.castTo(DataType.DOUBLE)), DataTypeError, "FLOAT and DOUBLE"),
    (lambda a: a.reshape(3, 2, 2).mmul(a), ShapeError, "matrices"),
    (lambda a: a.gt(1).add(a), DataTypeError, "BOOL.*castTo"),
    (lambda a: a.castTo(DataType.INT).add(1.5), DataTypeError, "no fractions.*castTo"),
    (lambda a: a.addi(np.ones((2, 3, 4))), ShapeError, "without i"),
    (lambda a: a.addRowVector(INDArray.of([1.0, 2.0])), ShapeError, "as long as its rows"),
    (lambda a: a.sum(5), ShapeError, "5"),
    (lambda a: a.norm1(axis=0), GraphError, "positional"),
    (lambda a: a.element(), ShapeError, "one element"),
    (lambda a: a.toDoubleVector(), ShapeError, "needs a vector"),
    (lambda a: a.putScalar(0, "text"), (DataTypeError, ValueError), "text"),
    (lambda a: a.putRow(0, INDArray.of([1.0])[:0]), ShapeError, "putRow"),
    (lambda a: a.dup("x"), GraphError, "order"),
    (lambda a: a.repeat(0, 1, 2), ShapeError, "one count"),
    (lambda a: a.percentile(120), GraphError, "between 0 and 100"),
    (lambda a: a.castTo("NOPE"), DataTypeError, "NOPE"),
    (lambda a: a.nope(), AttributeError, "nope"),
])
def test_errors(a, call, error, text):
    before = a.tolist()
    with pytest.raises(error, match=f"(?s){text}"):
        call(a)
    assert a.tolist() == before
