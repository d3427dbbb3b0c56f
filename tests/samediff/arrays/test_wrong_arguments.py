"""Arguments that methods do not take are refused by typed errors, which say what was expected and what came, and nothing is changed."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dl4py import Nd4j
from dl4py.samediff import Conditions, INDArray, NDArrayIndex, Transforms
from dl4py.samediff.errors import DataTypeError, DL4PyError, GraphError, OutOfRangeError, ShapeError
from tests.samediff.arrays.wrong_arguments import ARGUMENTS, RECEIVERS, fault, methods, ops

#: Functions of files, and those that run functions of users.
ELSEWHERE = {"compile", "read", "write", "set_default_data_types", "set_data_type"}


def faults(calls: list[tuple[str, Callable[..., Any], bool]], receivers: list[str]) -> dict[str, str]:
    """What is wrong, by call; functions are also called without a receiver."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, call, alone in calls:
            for receiver in [*receivers, *[""] * alone]:
                for key, arguments in ARGUMENTS.items():
                    given = (*([RECEIVERS[receiver]()] if receiver else []), *arguments())
                    if wrong := fault(lambda call=call, given=given: call(*given), given):
                        found[f"{name} of {receiver} ({key})"] = wrong
    return found


@pytest.mark.sampled(7)
@pytest.mark.parametrize("receiver", RECEIVERS)
def test_methods(receiver):
    assert not faults([(n, getattr(INDArray, n), False) for n in sorted(set(methods(INDArray)))], [receiver])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("cls", [Nd4j, Transforms])
def test_functions(cls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not faults([(n, getattr(cls, n), True) for n in sorted(set(methods(cls)) - ELSEWHERE)], ["matrix", "truth", "texts"])


@pytest.mark.slow
def test_ops():
    assert not faults([(n, call, False) for n, call in ops()], ["matrix", "truth", "texts"])


def matrix() -> INDArray:
    return RECEIVERS["matrix"]()


MASK = INDArray.of(np.array([[True, False, False], [False, True, False]]))


@pytest.mark.parametrize("call, kind, said", [
    (lambda a: a.getRow("a"), DataTypeError, r"a position is a whole number; got 'a'"),
    (lambda a: a.getRow(0.5), DataTypeError, r"whole number; got 0.5"),
    (lambda a: a.getRow(True), DataTypeError, r"whole number; got True"),
    (lambda a: a.getRows(INDArray.of([0.5])), DataTypeError, r"whole number"),
    (lambda a: a.getColumn(3), OutOfRangeError, r"position 3 is out of range for axis 1"),
    (lambda a: a.sum(0.5), DataTypeError, r"a dimension is a whole number; got 0.5"),
    (lambda a: a.std(np.ones(2)), DataTypeError, r"std takes truth values and dimensions; got an array of shape \(2,\)"),
    (lambda a: a.reshape(-2, 3), ShapeError, r"sizes are 0 or more, and one may be -1"),
    (lambda a: a.reshape(4, 4), ShapeError, r"cannot be reshaped to \(4, 4\)"),
    (lambda a: a.ravel("z"), GraphError, r"'c'\) or column by column \('f'\); got 'z'"),
    (lambda a: a.get(INDArray.of([True, False, True])), ShapeError, r"the mask has shape \(3,\), the array \(2, 3\)"),
    (lambda a: a.put(MASK, np.ones(3)), ShapeError, r"the mask chooses 2 elements; values of shape \(3,\)"),
    (lambda a: a.put(INDArray.of([[True]]), 1.0), ShapeError, r"mask has shape \(1, 1\)"),
    (lambda a: a.put(MASK, None), DataTypeError, r"put: expected numbers or text"),
    (lambda a: a.assign(None), DataTypeError, r"assign: expected numbers or text"),
    (lambda a: a.putRow(0, None), DataTypeError, r"putRow: expected numbers or text"),
    (lambda a: a.getNumber(), ShapeError, r"getNumber takes a position"),
    (lambda a: NDArrayIndex.interval(0), GraphError, r"interval\(begin, end\)"),
    (lambda a: a.add(), DataTypeError, r"INDArray.add\(other, result=None\) of float32\(2, 3\) does not take \(\)"),
    (lambda a: a.all(5), OutOfRangeError, r"np.all\(float32\(2, 3\), 5\): axis 5 is out of bounds.*\(at .*test_wrong_arguments.py:"),
    (lambda a: a.cumsum(7), ShapeError, r"axis 7 is out of range"),
    (lambda a: Nd4j.pullRows(a, 1), GraphError, r"takes an array, 1 and the rows to copy"),
    (lambda a: Nd4j.sort(a, "up"), DataTypeError, r"ascending is True or False; got 'up'"),
    (lambda a: Nd4j.tear(a, 5), ShapeError, r"axis 5 is out of range"),
    (lambda a: Nd4j.rollAxis(a, 5), ShapeError, r"axis 5 is out of range"),
    (lambda a: Nd4j.append(a, 1, 0.0, 5), ShapeError, r"axis 5 is out of range"),
    (lambda a: Nd4j.averageAndPropagate(a, [a, a.getRow(0)]), DL4PyError, r"shapes? "),
    (lambda a: Nd4j.meshgrid(a, None), DataTypeError, r"Nd4j.meshgrid: expected numbers"),
    (lambda a: Nd4j.scalar(a), ShapeError, r"takes one number; got an array of shape \(2, 3\)"),
    (lambda a: Nd4j.scalar(None), DataTypeError, r"Nd4j.scalar: expected numbers"),
    (lambda a: Nd4j.valueArrayOf([2, 0.5], 1.0), DataTypeError, r"a size is a whole number; got 0.5"),
    (lambda a: Nd4j.create([1, 2], [-1]), ShapeError, r"0 or more"),
    (lambda a: Transforms.mpow(a, 2), ShapeError, r"square matrix; got shape \(2, 3\)"),
    (lambda a: Transforms.relu(a, "no"), DataTypeError, r"takes an array and whether to make a copy"),
    (lambda a: Transforms.isMax(a, INDArray.of(np.ones((1, 2, 3)))), ShapeError, r"does not fit into the array"),
    (lambda a: Transforms.normalizeZeroMeanAndUnitVariance(a.castTo("INT")), DataTypeError, r"floating numbers.*got INT")])
def test_what_is_said(call, kind, said):
    a = matrix()
    with pytest.raises(kind, match=said):
        call(a)
    assert a.tolist() == matrix().tolist()


def test_errors_of_users_are_their_own():
    class Odd:
        def __index__(self) -> int:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        matrix().getRow(Odd())


def test_names_of_methods_stay():
    assert INDArray.get_row.__name__ == "get_row" and "view of a row" in (INDArray.getRow.__doc__ or "")


@pytest.mark.parametrize("call, wanted", [
    (lambda: RECEIVERS["truth"]().getNumber(0), 1), (lambda: RECEIVERS["truth"]().scan(Conditions.epsEquals(1)), 2),
    (lambda: RECEIVERS["truth"]().getWhere(1, Conditions.epsEquals(0)).tolist(), [True, True]),
    (lambda: RECEIVERS["truth"]().getWhere(1, Conditions.lessThan(0)).tolist(), [False, False]),
    (lambda: INDArray.of([[1.0, 2.0, 3.0]]).broadcast(INDArray.of(np.zeros(3))).tolist(), [1, 2, 3]),
    (lambda: INDArray.of([[5.0]]).getTrailingOnes(), 1), (lambda: INDArray.of([5.0, 1.0]).cumsum(1).tolist(), [5, 6]),
    (lambda: Nd4j.cumsum(INDArray.of([5.0, 1.0]), 1).tolist(), [5, 6]), (lambda: matrix().getRow(1.0).tolist(), [3, 4, 5]),
    (lambda: matrix().getRow(INDArray.of(1)).tolist(), [3, 4, 5]), (lambda: matrix().put(MASK, [9, 8]).tolist(), [[9, 1, 2], [3, 8, 5]]),
    (lambda: Transforms.mpow(INDArray.of([[2.0, 0.0], [0.0, 4.0]]), -1).tolist(), [[0.5, 0], [0, 0.25]]),
    (lambda: Transforms.mpow(INDArray.of([[2.0, 0.0], [0.0, 4.0]]), 0).tolist(), [[1, 0], [0, 1]]),
    (lambda: Transforms.mpow(INDArray.of([[2.0, 0.0], [0.0, 4.0]]), 3).tolist(), [[8, 0], [0, 64]]),
    (lambda: matrix().getRows().shape, (0, 3)), (lambda: INDArray.of(np.zeros(1)).assign(0.1).getDouble(0), 0.1)])
def test_what_is_taken(call, wanted):
    assert call() == wanted


@pytest.mark.parametrize("order, wanted", [("c", [[0, 1, 0, 0], [0, 0, 0, 0]]), ("f", [[0, 0, 0, 0], [1, 0, 0, 0]])])
def test_first_largest_in_memory(order, wanted):
    found = Nd4j.math.isMax(Nd4j.create([[1, 3, 0, 2], [3, 0, 2, 3]], order))
    assert found.astype(int).tolist() == wanted and found.ordering() == order
