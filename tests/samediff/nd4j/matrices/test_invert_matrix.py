"""Inverses and pseudo-inverses, against the equations that they solve."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import InvertMatrix, Nd4j
from dl4py.samediff.errors import LinearAlgebraError, ShapeError

FORMS = [("invert", (4, 4)), ("pinvert", (5, 3)), ("pinvert", (3, 5)), ("pLeftInvert", (5, 3)), ("pRightInvert", (3, 5)),
         ("p_right_invert", (4, 4))]


@pytest.mark.parametrize("dtype", ["DOUBLE", "FLOAT", "HALF"])
@pytest.mark.parametrize("name, shape", FORMS)
def test_penrose(name, shape, dtype, rng):
    a = Nd4j.create(rng.normal(size=shape)).castTo(dtype)
    x = getattr(InvertMatrix, name)(a, False)
    assert x.dataType() is a.dataType() and x.shape() == a.shape()[::-1]
    a, x = np.asarray(a, np.float64), np.asarray(x, np.float64)
    close = {"DOUBLE": 1e-12, "FLOAT": 1e-4, "HALF": 0.1}[dtype]
    np.testing.assert_allclose(a @ x @ a, a, close, close)
    np.testing.assert_allclose(x @ a @ x, x, close, close)
    for product in (a @ x, x @ a):
        np.testing.assert_allclose(product, product.T, close, close)


def test_in_place_and_not():
    a = Nd4j.create([[2.0, 0.0], [1.0, 4.0]])
    assert InvertMatrix.invert(a, False).tolist() == [[0.5, 0], [-0.125, 0.25]] and a.getDouble(1, 1) == 4
    assert InvertMatrix.invert(a, True).tolist() == a.tolist() == [[0.5, 0], [-0.125, 0.25]]
    one = Nd4j.create([[4.0]])
    InvertMatrix.invert(one, in_place=True)
    assert one.tolist() == [[0.25]]


@pytest.mark.parametrize("name, rows, error, says", [
    ("invert", [[1.0, 2.0], [2.0, 4.0]], LinearAlgebraError, "singular"),
    ("invert", [[1.0, 2.0]], ShapeError, r"square matrix; got \(1, 2\): pinvert"),
    ("invert", [[np.nan, 1.0], [0.0, 1.0]], LinearAlgebraError, "not finite"),
    ("pinvert", [[1.0, 2.0], [2.0, 4.0]], LinearAlgebraError, "rows and columns depend"),
    ("pLeftInvert", [[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]], LinearAlgebraError, "columns depend"),
    ("pRightInvert", [[1.0], [2.0]], LinearAlgebraError, "rows depend"),
    ("invert", [1.0, 2.0], ShapeError, "takes a matrix of a floating type"),
])
def test_refusals(name, rows, error, says):
    a = Nd4j.create(rows)
    before = np.array(a)
    with pytest.raises(error, match=says):
        getattr(InvertMatrix, name)(a, True)
    np.testing.assert_array_equal(a, before)


def test_whole_numbers_and_rooms_of_another_shape_are_refused():
    with pytest.raises(ShapeError, match="floating type; got INT"):
        InvertMatrix.invert(Nd4j.create([[2, 0], [0, 2]]).castTo("INT"), False)
    with pytest.raises(ShapeError, match="leave out in_place"):
        InvertMatrix.pinvert(Nd4j.create([[1.0], [2.0]]), True)
