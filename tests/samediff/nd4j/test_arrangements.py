"""Orders, paddings and diagonals, compared with what DL4J 1.0.0-M2.1 gave for the same calls."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import INDArray, Nd4j, Transforms
from dl4py.samediff import DataType
from dl4py.samediff.data import JavaRandom
from dl4py.samediff.errors import DataTypeError, GraphError
from dl4py.samediff.nd4j import DynamicCustomOp
from dl4py.samediff.nd4j.op_classes import Pad


@pytest.mark.parametrize("size, seed, order", [
    (5, 0, [1, 0, 2, 4, 3]), (5, 2, [0, 4, 3, 2, 1]), (7, 0, [5, 4, 2, 6, 1, 0, 3]), (7, 2, [5, 2, 1, 6, 4, 0, 3]),
    (8, 1, [7, 2, 1, 4, 3, 6, 5, 0]), (8, 2, [7, 4, 3, 2, 1, 6, 5, 0]), (1, 3, [0]), (0, 3, [])])
def test_shuffled_by_javas_generator(size, seed, order):
    rows = INDArray.of(np.arange(2.0 * size).reshape(size, 2))
    Nd4j.shuffle(rows, JavaRandom(seed), 1)
    assert rows[:, 0].tolist() == [2 * i for i in order]


def test_arrays_are_shuffled_alike():
    a, b = INDArray.of(np.arange(6.0).reshape(3, 2)), INDArray.of(np.arange(3.0).reshape(3, 1))
    Nd4j.shuffle([a, b], JavaRandom(2), 1)
    assert a.tolist() == [[0, 1], [4, 5], [2, 3]] and b.tolist() == [[0], [2], [1]]


@pytest.mark.parametrize("shape, padded", [((3, 4), (6, 7)), ((3,), (6,)), ((2, 2, 2), (5, 5, 5))])
def test_two_widths_are_those_of_all_axes(shape, padded):
    made = Nd4j.pad(Nd4j.ones(*shape), [1, 2])
    assert made.shape == padded and made[(0,) * len(shape)] == 0 and made[(1,) * len(shape)] == 1 and not made[-2:].any()
    assert Nd4j.pad(Nd4j.ones(*shape), [1, 2], Pad.Mode.CONSTANT, 0).equals(made)


@pytest.mark.parametrize("shape, stripped", [
    ((1, 1), (1, 1)), ((3, 1), (3, 1)), ((1, 3), (1, 3)), ((1,), (1,)), ((1, 3, 1), (3,)), ((2, 1, 3), (2, 3))])
def test_vectors_keep_their_ones(shape, stripped):
    assert Nd4j.stripOnes(Nd4j.ones(*shape)).shape == stripped


@pytest.mark.parametrize("shape", [(4,), (1, 4), (4, 1), (1, 1), (1,)])
def test_vectors_of_any_form_become_diagonals(shape):
    values = np.arange(1.0, 1 + np.prod(shape))
    assert Nd4j.diag(INDArray.of(values.reshape(shape))).tolist() == np.diag(values).tolist()


@pytest.mark.parametrize("shape", [(4,), (1, 4), (4, 1)])
@pytest.mark.parametrize("axis", [0, -1])
def test_running_sums_of_rows_and_columns_go_along_their_elements(shape, axis):
    x = INDArray.of(np.arange(1.0, 5).reshape(shape))
    for found in (x.cumsum(axis), Nd4j.cumsum(x, axis), x.dup().cumsumi(axis)):
        assert found.shape == shape and found.ravel().tolist() == [1, 3, 6, 10]


def test_fractions_are_not_cut_where_whole_numbers_are_asked_for():
    for make in (lambda: Nd4j.scalar(DataType.INT, 2.5), lambda: Nd4j.valueArrayOf((2,), 1.5, DataType.LONG),
                 lambda: Nd4j.create([1.5, 2.0], [2], DataType.INT), lambda: Nd4j.scalar(DataType.BYTE, 300)):
        with pytest.raises(DataTypeError, match="has a fraction|beyond the range"):
            pytest.fail(str(make()))


def test_numbers_of_whole_arrays_are_whole():
    n = 2**53 + 1
    x = Nd4j.createFromArray([n, n - 3, -n])
    assert (x.maxNumber(), x.minNumber(), x.sumNumber(), x.amaxNumber()) == (n, -n, n - 3, n)


def test_numbers_beside_whole_arrays_keep_their_bits():
    n = 2**53 + 1
    x = Nd4j.createFromArray([n, n - 1, 3])
    clipped = DynamicCustomOp.builder("clipbyvalue").addInputs(x).build()
    clipped.addTArgument(n - 1, n)
    context = Nd4j.getExecutioner().buildContext()
    context.setInputArrays(x)
    context.setTArguments(n - 1, n)
    for found, wanted in ((Transforms.max(x, n), [n, n, n]), (Transforms.min(x, n), [n, n - 1, 3]), (Transforms.pow(x, 1), [n, n - 1, 3]),
                          (Nd4j.append(x, 1, n, 0), [n, n - 1, 3, n]),
                          (Nd4j.prepend(x, 1, n, 0), [n, n, n - 1, 3]), (Nd4j.pad(x, 1, 0, value=n), [n, n, n - 1, 3]),
                          (Nd4j.linspace(n, n + 4, 3, DataType.LONG), [n, n + 2, n + 4]),
                          (Nd4j.exec(clipped)[0], [n, n - 1, n - 1]),
                          (Nd4j.exec(DynamicCustomOp("clipbyvalue"), context)[0], [n, n - 1, n - 1])):
        assert found.tolist() == wanted
    with pytest.raises(DataTypeError, match="fractions"):
        Nd4j.linspace(0, 1, 3, DataType.INT)


@pytest.mark.parametrize(("sizes", "wanted"), [((2,), [[1, 0], [1, 1]]), ((2, 1), [[1, 1], [1, 1]]),
                                               ((3, -1), [[0, 0, 0], [1, 0, 0], [1, 1, 0]]), ((2, 3, 1), [[1, 1, 0], [1, 1, 1]]),
                                               ((3, 2, -1), [[0, 0], [1, 0], [1, 1]])])
def test_matrices_of_ones_below_a_diagonal(sizes, wanted):
    """The second of two numbers is the diagonal."""
    assert Nd4j.tri(*sizes).tolist() == wanted


@pytest.mark.parametrize("call", [lambda x, y, c: Nd4j.where(c, x, y), lambda x, y, c: Nd4j.where(c, [1, 2, 3], y),
                                  lambda x, y, c: Nd4j.where(c.tolist(), x, [4, 5, 6])])
@pytest.mark.parametrize("condition", [[True, False, True], [2.0, 0.0, float("nan")], [-1, 0, 1]])
def test_where_takes_conditions_of_any_type(condition, call):
    x, y = Nd4j.create(np.array([1.0, 2, 3])), Nd4j.create(np.array([4.0, 5, 6]))
    made, = call(x, y, Nd4j.create(np.array(condition)))
    assert made.dtype == np.float64
    np.testing.assert_array_equal(made, [1, 5, 3])


def test_where_takes_both_values_or_none():
    with pytest.raises(GraphError, match="or neither"):
        Nd4j.where(Nd4j.ones(2), Nd4j.ones(2), None)
