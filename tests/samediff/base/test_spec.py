"""Shapes and axes."""
import numpy as np
import pytest

from dl4py import Nd4j
from dl4py.samediff.base.spec import normalize_axis
from dl4py.samediff.errors import AxisError


@pytest.mark.parametrize("axis, rank, found", [(-1, 2, 1), (1, 2, 1), (-2, 2, 0), (0, 0, 0), (-1, 0, 0)])
def test_axes_are_counted_from_the_front(axis, rank, found):
    assert normalize_axis(axis, rank) == found


@pytest.mark.parametrize("axis, rank, text", [(2, 2, "-2 to 1"), (-3, 2, "-2 to 1"), (1, 0, "-1 to 0"), (-2, 0, "-1 to 0")])
def test_axes_that_are_out_of_range(axis, rank, text):
    with pytest.raises(AxisError, match=f"rank {rank}; allowed are {text}"):
        normalize_axis(axis, rank)


@pytest.mark.parametrize("op, value", [("log_softmax", 0.0), ("softmax", 1.0)])
def test_a_single_number_is_a_vector_of_one(op, value):
    assert np.asarray(getattr(Nd4j.nn, op)(Nd4j.scalar(2.0))).tolist() == value
