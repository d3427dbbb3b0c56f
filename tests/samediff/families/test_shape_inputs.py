"""Shapes that are inputs of ops."""
import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import ShapeError

X = np.ones((2, 3), np.float32)
#: Ops by their ids, and what they take beside a shape.
MAKERS = {
    "create": lambda sd, shape: sd.op("create", shape, data_type=DataType.FLOAT),
    "fill": lambda sd, shape: sd.op("fill", shape, data_type=DataType.FLOAT, value=1.0),
    "reshape": lambda sd, shape: sd.op("reshape", sd.constant(X), shape),
    "broadcast_to": lambda sd, shape: sd.op("broadcast_to", sd.constant(X), shape),
    "random_normal": lambda sd, shape: sd.op("random_normal", shape, mean=0.0, stddev=1.0, data_type=DataType.FLOAT),
    "scatter_nd": lambda sd, shape: sd.op("scatter_nd", sd.constant(np.int32([[0]])), sd.constant(np.float32([1])), shape),
}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", MAKERS)
def test_shapes_are_vectors(name, known):
    sd = SameDiff.create()
    table = np.ones((2, 3), np.int32)
    with pytest.raises(ShapeError, match="vector of sizes"):
        MAKERS[name](sd, sd.constant(table) if known else sd.placeholder("shape", DataType.INT, *table.shape))


def test_a_row_is_a_vector():
    sd = SameDiff.create()
    assert sd.op("reshape", sd.constant(X), sd.constant(np.int32([[3, 2]]))).eval().shape == (3, 2)
