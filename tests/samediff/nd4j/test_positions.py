"""Elements and positions of arrays, chosen by conditions or one after the other; shapes with an order."""
from __future__ import annotations

import pytest

from dl4py import BooleanIndexing, Conditions, Nd4j, NdIndexIterator, Value, Zero

POSITIVE, NEGATIVE = Conditions.greaterThan(0), Conditions.lessThan(0)


def array():
    return Nd4j.create([[1.0, -2.0, 3.0], [-4.0, 5.0, 6.0]])


ASKED = {
    "first": (lambda a: BooleanIndexing.firstIndex(a, NEGATIVE).getInt(0), 1),
    "first of none": (lambda a: BooleanIndexing.firstIndex(a, Conditions.greaterThan(9)).getInt(0), -1),
    "first of rows": (lambda a: BooleanIndexing.firstIndex(a, NEGATIVE, 1).tolist(), [1, 0]),
    "last": (lambda a: BooleanIndexing.lastIndex(a, NEGATIVE).getInt(0), 3),
    "last of columns": (lambda a: BooleanIndexing.last_index(a, POSITIVE, 0).tolist(), [0, 1, 1]),
    "all": (lambda a: BooleanIndexing.and_(a, POSITIVE), False), "any": (lambda a: BooleanIndexing.or_(a, NEGATIVE), True),
    "all of columns": (lambda a: BooleanIndexing.and_(a, POSITIVE, 0), [False, False, True]),
    "any of rows": (lambda a: BooleanIndexing.or_(a, Conditions.greaterThan(5), 1), [False, True]),
    "chosen": (lambda a: BooleanIndexing.chooseFrom([a], NEGATIVE).tolist(), [-2, -4]),
    "chosen by a value": (lambda a: BooleanIndexing.chooseFrom([a], [-3.0], [], NEGATIVE).tolist(), [-4]),
    "chosen by value and condition": (lambda a: BooleanIndexing.chooseFrom([a], [4.0], [3], NEGATIVE).tolist(), [5, 6]),
    "chosen beside another": (lambda a: BooleanIndexing.chooseFrom([a, a.mul(a)], NEGATIVE).tolist(), [-2, 3, -4, 5, 6]),
    "mask": (lambda a: BooleanIndexing.applyMask(a, Nd4j.zeros(2, 3)).sumNumber(), 0),
    "positions": (lambda a: list(NdIndexIterator(a.shape())), [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]),
    "positions by columns": (lambda a: list(NdIndexIterator("f", 2, 2)), [(0, 0), (1, 0), (0, 1), (1, 1)]),
    "zeros": (lambda a: (Nd4j.create([2, 3], "f").shape(), Nd4j.create([2, 3], "f").ordering(), Nd4j.create([2, 3], "f").sumNumber()),
              ((2, 3), "f", 0)),
    "numbers": (lambda a: Nd4j.create([2.0, 3.0], "f").tolist(), [2, 3]), "whole numbers": (lambda a: Nd4j.create([2, 3]).tolist(), [2, 3]),
}


@pytest.mark.parametrize("row", ASKED)
def test_asked(row):
    ask, wanted = ASKED[row]
    assert ask(array()) == wanted


def test_in_place():
    a = array()
    BooleanIndexing.replaceWhere(a, 0, NEGATIVE)
    assert a.tolist() == [[1, 0, 3], [0, 5, 6]]
    BooleanIndexing.assignIf(a, array().neg(), POSITIVE)
    assert a.tolist() == [[1, 2, 3], [4, 5, 6]]
    BooleanIndexing.applyWhere(a, Conditions.greaterThan(4), Value(9.0))
    BooleanIndexing.applyWhere(a, Conditions.lessThan(3), lambda number: -number)
    BooleanIndexing.applyWhere(a, Conditions.equals(3), Zero())
    assert a.tolist() == [[-1, -2, 0], [4, 9, 9]]
    BooleanIndexing.applyMaskInPlace(a, Nd4j.zeros(2, 3))
    assert a.sumNumber() == 0
    positions = NdIndexIterator(1, 1)
    assert positions.hasNext() and positions.next() == (0, 0) and not positions.hasNext()
