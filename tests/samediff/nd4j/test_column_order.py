"""Arrays in column order, rows and columns in functions of ``Nd4j`` and ``Transforms``, as DL4J 1.0.0-M2.1 has them."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import INDArray, Nd4j, Transforms
from dl4py.samediff import DataType
from dl4py.samediff.errors import ShapeError

TIES = np.array([[1, 3, 0, 2], [3, 0, 2, 3]], np.float32)
LATE = np.array([[0, 0, 0, 0], [0, 5, 0, 0]], np.float32)
CUBE = np.zeros((2, 3, 2))
CUBE[0, 2, 1] = CUBE[1, 0, 1] = 4


@pytest.mark.parametrize("values, order, place", [
    (TIES, "c", (0, 1)), (TIES, "f", (1, 0)), (LATE, "c", (1, 1)), (LATE, "f", (1, 1)), (CUBE, "c", (0, 2, 1)), (CUBE, "f", (1, 0, 1))])
def test_the_first_largest_element_in_memory(values, order, place):
    wanted = np.zeros(values.shape)
    wanted[place] = 1
    whole = Transforms.isMax(INDArray.of(values).dup(order), DataType.INT)
    assert whole.tolist() == wanted.tolist() and whole.dtype == np.int32 and whole.ordering() == order
    array = INDArray.of(values).dup(order)
    assert Transforms.isMax(array) is array and array.tolist() == wanted.tolist() and array.ordering() == order


@pytest.mark.parametrize("order", "cf")
def test_a_view_with_gaps_is_read_in_rows(order):
    array = INDArray.of(np.pad(TIES, 1)).dup(order)
    Transforms.isMax(array[1:-1, 1:-1])
    assert array[1, 2] == 1 == array.sum()


@pytest.mark.parametrize("shape, kept", [((1, 3), True), ((3, 1), True), ((1, 1), True), ((3,), True), ((2, 3), False), ((1, 1, 3), False)])
def test_running_sums_of_everything_keep_rows_and_columns(shape, kept):
    made = Nd4j.cumsum(Nd4j.ones(*shape))
    assert made.shape == (shape if kept else (int(np.prod(shape)),)) and made.ravel().tolist() == list(range(1, made.size + 1))


@pytest.mark.parametrize("call, shape", [
    ("Nd4j.rollAxis(x, 2)", (4, 2, 1)), ("Nd4j.rollAxis(x, 0, 2)", (1, 2, 4)), ("Nd4j.expandDims(x, 1)", (2, 1, 1, 4)),
    ("Nd4j.expandDims(x, -1)", (2, 1, 1, 4)), ("Nd4j.expandDims(x, 3)", (2, 1, 4, 1)), ("Nd4j.squeeze(x, 1)", (2, 4))])
@pytest.mark.parametrize("order", "cf")
def test_other_axes_are_views(call, shape, order):
    x = INDArray.of(np.arange(8.0).reshape(2, 1, 4)).dup(order)
    made = eval(call, {"Nd4j": Nd4j, "x": x})
    assert made.shape == shape and np.shares_memory(made, x)


def test_axes_in_their_place_are_the_array_itself():
    x = Nd4j.ones(2, 3)
    assert Nd4j.rollAxis(x, 0) is x and Nd4j.rollAxis(x, 1, 1) is x


@pytest.mark.parametrize("call", ["Nd4j.squeeze(x, 0)", "Nd4j.squeeze(x, 5)", "Nd4j.expandDims(x, 7)"])
def test_axes_that_do_not_fit_are_named(call):
    with pytest.raises(ShapeError):
        eval(call, {"Nd4j": Nd4j, "x": Nd4j.ones(2, 1)})
