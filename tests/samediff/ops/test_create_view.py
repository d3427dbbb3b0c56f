"""Views by index descriptors: what DL4J's descriptors select."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import ShapeError

X = np.arange(24.0).reshape(2, 3, 4)
ALL, NEW = [2, 0, 1, 1], [3, 1, 10, 1]


def point(i):
    return [0, 1, 1, i, 1]


def interval(begin, end, stride=1, inclusive=0):
    return [1, 2, 1, begin, end, stride, inclusive]


@pytest.mark.parametrize(("descriptors", "expected"), [
    ([point(1), ALL, interval(0, 2)], X[1, :, 0:2]), ([point(-1)], X[-1]), ([ALL, NEW, point(2)], X[:, None, 2]),
    ([NEW], X[None]), ([ALL, interval(0, 1, 1, 1), interval(0, 4, 2)], X[:, 0:2, 0:4:2]), ([ALL, ALL, interval(1, -1, 1, 1)], X[..., 1:]),
    ([], X)])
def test_values(descriptors, expected):
    sd = SameDiff.create()
    made = sd.create_view(sd.constant(X), *(sd.constant(np.array(d, np.int64)) for d in descriptors))
    assert made.get_shape() == expected.shape
    np.testing.assert_array_equal(made.eval(), expected)


def test_descriptors_may_be_computed():
    sd = SameDiff.create()
    x, where = sd.var("x", X), sd.placeholder("where", DataType.INT, 5)
    made = sd.create_view(x, where)
    (slope,) = sd.gradients((made * made).sum(), [x])
    found = sd.output({"where": np.array(point(1), np.int32)}, made.name(), slope.name())
    np.testing.assert_array_equal(found[made.name()], X[1])
    np.testing.assert_array_equal(found[slope.name()], np.stack([0 * X[0], 2 * X[1]]))


@pytest.mark.parametrize(("descriptor", "message"), [([0, 1], "none of"), ([7, 0, 1, 1], "none of"), (point(2), "out of range")])
def test_wrong_descriptors_are_told(descriptor, message):
    sd = SameDiff.create()
    with pytest.raises(ShapeError, match=message):
        sd.create_view(sd.constant(X), sd.constant(np.array(descriptor, np.int64)))
