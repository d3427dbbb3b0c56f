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
