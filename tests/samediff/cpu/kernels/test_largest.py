"""The largest elements of rows, and elements moved along the last axis, against ``compute``."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import OutOfRangeError
from dl4py.samediff.ops.reduce.top_k import PutAlongLast, TakeAlongLast, TopK
from tests.samediff.cpu.kernels.agreement import agree


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_largest_of_rows(rng, dtype, order):
    for shape, k in (((5, 40), 6), ((3, 7), 7), ((2, 3, 9), 1), ((4,), 2), ((6, 300), 32)):
        x = rng.integers(-9, 9, shape).astype(dtype)                # with ties
        for sorted_ in (True, False):
            agree(TopK(k, sorted_), [x], order)


def test_what_is_not_a_number_comes_first():
    nan, inf = np.nan, np.inf
    x = np.array([[1, nan, 3, nan, inf], [-inf, -inf, -1, -inf, -inf], [nan] * 5, [0.0, -0.0, 0.0, -0.0, -1]])
    for k in (1, 3, 5):
        agree(TopK(k), [x])
        agree(TopK(k, False), [x])


@pytest.mark.parametrize("order", ["C", "F"])
def test_elements_at_indices_of_their_own(rng, order):
    x = rng.standard_normal((4, 3, 9)).astype(np.float32)
    places = np.argsort(x, axis=-1)[..., :5].astype(np.int32)
    for given in (x, np.asfortranarray(x)):
        taken = agree(TakeAlongLast(), [given, places, x[..., :5]], order)[0]
        agree(PutAlongLast(), [taken, places.astype(np.int64), given], order)


def test_indices_out_of_range_are_refused():
    x = np.zeros((2, 3), np.float32)
    for op, given, like in ((TakeAlongLast(), x, x[:, :1]), (PutAlongLast(), x[:, :1], x)):
        sd = SameDiff.create()
        feeds = {"x": given, "places": np.full((2, 1), 7, np.int32), "like": like}
        made = sd.add_op(op, [sd.placeholder(n, DataType.of(a.dtype), *a.shape) for n, a in feeds.items()])
        with pytest.raises(OutOfRangeError, match="index 7"):
            sd.output(feeds, made.name())
