"""Vectors beside matrices and vectors, in every form: of rank 1 and 2, a single element, lists; what does not fit is refused."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl4py.samediff import INDArray
from dl4py.samediff.base.javanames import to_snake
from dl4py.samediff.errors import OutOfRangeError, ShapeError

OPS = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
       "rsub": lambda x, y: y - x, "rdiv": lambda x, y: y / x}
#: Shapes of the array and the vector, as (rows, columns); what stands for the vector beside rows, and beside columns.
PAIRS: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...] | None, tuple[int, ...] | None]] = [
    ((2, 3), (3,), (1, 3), None), ((2, 3), (1, 3), (1, 3), None), ((2, 3), (2,), None, (2, 1)), ((2, 3), (2, 1), None, (2, 1)),
    ((3, 3), (3,), (1, 3), (3, 1)), ((1, 3), (3,), (1, 3), None), ((3, 1), (3,), None, (3, 1)), ((3, 1), (3, 1), None, (3, 1)),
    ((3,), (3,), (3,), (3,)), ((3,), (1, 3), (3,), (3,)), ((2, 3), (1,), (1, 1), (1, 1)), ((2, 3), (), (1, 1), (1, 1)),
    ((2, 3), (1, 1), (1, 1), (1, 1)), ((3,), (1,), (1,), (1,)), ((2, 3, 2), (), (1, 1, 1), (1, 1, 1)), ((1, 1), (1,), (1, 1), (1, 1)),
    ((2, 3), (4,), None, None), ((3,), (2,), None, None), ((2, 3, 2), (3,), None, None), ((), (3,), None, None)]


def numbers(shape: tuple[int, ...], start: int) -> Any:
    return INDArray.of((np.arange(start, start + int(np.prod(shape)), dtype=np.float32) + 1).reshape(shape))


@pytest.mark.parametrize("spelling", [str, to_snake])
@pytest.mark.parametrize("axis", [0, 1], ids=["Row", "Column"])
@pytest.mark.parametrize("name", OPS)
def test_arithmetic(name, axis, spelling):
    for shape, given, *placed in PAIRS:
        for in_place in ("", "i"):
            x, y = numbers(shape, 1), numbers(given, 5)
            method = getattr(x, spelling(f"{name}{in_place}{('Row', 'Column')[axis]}Vector"))
            if placed[axis] is None:
                with pytest.raises(ShapeError, match="Vector needs a matrix and a vector"):
                    method(y)
                continue
            wanted = OPS[name](np.array(x), np.array(y).reshape(placed[axis]))
            before = np.array(x)
            found = method(y)
            np.testing.assert_allclose(found, wanted, 1e-6)
            assert found.shape == shape and found.dtype == np.float32 and isinstance(found, INDArray)
            assert (found is x) if in_place else np.array_equal(x, before)


@pytest.mark.parametrize("axis", [0, 1], ids=["Row", "Column"])
def test_into_every_row_or_column(axis):
    for shape, given, *placed in PAIRS:
        x, y = numbers(shape, 1), numbers(given, 5)
        method = (x.putiRowVector, x.putiColumnVector)[axis]
        if placed[axis] is None:
            with pytest.raises(ShapeError):
                method(y)
            continue
        assert method(y) is x
        np.testing.assert_array_equal(x, np.broadcast_to(np.array(y).reshape(placed[axis]), shape))


@pytest.mark.parametrize("values", [np.ones(3), np.ones((1, 3)), np.ones((3, 1)), [1.0, 1.0, 1.0]], ids=["vector", "row", "column", "list"])
def test_rows_and_columns(values):
    x, y = numbers((2, 3), 1), numbers((3, 2), 1)
    assert x.putRow(1, values).tolist() == [1, 1, 1] == x.getRow(1).tolist() and x.getRow(0).tolist() == [2, 3, 4]
    assert y.putColumn(1, values).tolist() == [1, 1, 1] == y.getColumn(1).tolist() and y.getColumn(0).tolist() == [2, 4, 6]
    vector = numbers((3,), 1)
    assert vector.putRow(0, values) is vector and vector.tolist() == [1, 1, 1]
    with pytest.raises(OutOfRangeError):
        vector.putRow(1, values)
    with pytest.raises(ShapeError):
        x.putRow(0, np.ones(2))


def test_the_only_row_or_column():
    row, column = numbers((1, 3), 1), numbers((3, 1), 1)
    assert row.getRow(0).shape == (3,) and row.getRow(0, True).shape == (1, 3)
    assert column.getColumn(0) is column and column.getColumn(0, True).shape == (3, 1) and column.getRow(1).shape == (1,)
    assert row.putRow(0, np.ones(3)) is row and row.tolist() == [[1, 1, 1]]
    assert column.putColumn(0, np.ones(3)) is column and column.tolist() == [[1], [1], [1]]
    assert numbers((1, 1), 1).getColumn(0).shape == (1,) == numbers((1, 1), 1).putRow(0, np.ones(1)).shape


@pytest.mark.parametrize("shape, counts", [((1, 3), (1, 1)), ((3, 1), (1, 3)), ((3,), (1, 1)), ((1, 1), (1, 1)), ((2, 3), (3, 2))])
def test_vectors_along_dimensions(shape, counts):
    assert tuple(numbers(shape, 1).vectorsAlongDimension(d) for d in (0, 1)) == counts


@pytest.mark.parametrize("x, y, shape", [((1, 3), (3,), (1, 1)), ((3,), (3,), (1, 1)), ((1, 1), (1,), (1, 1)), ((2, 3), (3,), (2,)),
                                         ((3, 1), (1,), (3,)), ((3, 1), (1, 1), (3, 1))])
def test_products_with_a_vector(x, y, shape):
    made = numbers(x, 1).mmul(numbers(y, 1))
    assert made.shape == shape and numbers(x, 1).mmul(numbers(y, 1), "f").shape == shape


def test_orders_of_what_is_stretched():
    f = numbers((2, 3), 1).dup("f")
    for name in ("gt", "lt", "gte", "lte", "eq"):
        compare = getattr(f, name)
        assert [compare(y).ordering() for y in (f, 2, numbers((3,), 1), numbers((2, 1), 1))] == ["f", "f", "c", "c"]
    assert f.neq(numbers((3,), 1)).ordering() == "f"
    assert f.repeat(0, 2).ordering() == f.repeat(1, 3).ordering() == "f" and numbers((2, 3), 1).repeat(0, 2).ordering() == "c"


def test_results_of_rank_0():
    result = numbers((), 1)
    assert numbers((2, 3), 1).sum(result) is result and result.tolist() == 27


@pytest.mark.parametrize("shape, places", [((3,), [0]), ((2, 3), [0]), ((), [0])])
def test_slices_that_do_not_fit_are_named(shape, places):
    with pytest.raises(ShapeError, match="put: "):
        numbers(shape, 1).put(INDArray.of(places), np.ones((3, 2)))
