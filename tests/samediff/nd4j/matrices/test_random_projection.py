"""Random projections: numbers of components, and distances that stay."""
from __future__ import annotations

import math

import numpy as np
import pytest

from dl4py import Nd4j, RandomProjection
from dl4py.samediff.errors import GraphError, ShapeError
from dl4py.samediff.nd4j import Random


def test_numbers_of_components():
    """The first row is DL4J's answer."""
    assert RandomProjection.johnsonLindenstraussMinDim([100, 1000, 1], 0.5, 0.1) == [221, 331, 0, 3947, 5920, 0]
    assert RandomProjection.johnsonLindenStraussMinDim(100, 0.5) == [int(4 * math.log(100) / (0.125 - 0.125 / 3))] == [221]
    assert RandomProjection.targetShape(Nd4j.zeros(10, 600), 0.5) == (600, 110)
    assert RandomProjection.targetShape(Nd4j.zeros(10, 600), 3) == (600, 3)


@pytest.mark.parametrize("dtype", ["DOUBLE", "FLOAT"])
def test_distances_stay_near(dtype, rng):
    x = Nd4j.create(rng.normal(size=(20, 2000))).castTo(dtype)
    projected = RandomProjection(0.4, Random(3)).project(x)
    assert projected.dataType() is x.dataType() and projected.shape() == (20, 204)

    def distances(a):
        a = np.asarray(a, np.float64)
        return ((a[:, None] - a[None]) ** 2).sum(-1)[np.triu_indices(20, 1)]

    # Numbers are from N(0, 1 / features), as in DL4J, not from N(0, 1 / components).
    ratios = distances(projected) / distances(x) * 2000 / 204
    assert ratios.min() > 0.6 and ratios.max() < 1.4


def test_a_matrix_is_kept():
    x = Nd4j.rand(5, 30)
    Nd4j.getRandom().setSeed(7)
    one = RandomProjection(4)
    first = one.project(x)
    np.testing.assert_array_equal(one.project(x), first)
    Nd4j.getRandom().setSeed(7)
    np.testing.assert_array_equal(RandomProjection(4).project(x), first)
    out = Nd4j.zeros(5, 4)
    one.project(x, out)
    np.testing.assert_array_equal(out, first)
    square = RandomProjection(30)
    wanted = square.project(x)
    np.testing.assert_array_equal(square.projecti(x), wanted)
    np.testing.assert_array_equal(x, wanted)
    assert one.project(Nd4j.rand(5, 40)).shape() == (5, 4) and one.project(Nd4j.rand(5, 3)).shape() == (5, 4)


@pytest.mark.parametrize("call, error, says", [
    (lambda: RandomProjection(1.5), GraphError, "between 0 and 1; got 1.5"),
    (lambda: RandomProjection(0), GraphError, "at least 1 component is asked for; got 0"),
    (lambda: RandomProjection(0.1).project(Nd4j.zeros(2, 4)), GraphError, "eps=0.1 asks for 594 components, and there are 4 features"),
    (lambda: RandomProjection(2).project(Nd4j.zeros(4)), ShapeError, r"rows of a matrix.*FLOAT\(4,\)"),
    (lambda: RandomProjection(2).project(Nd4j.zeros(2, 4), Nd4j.zeros(2, 3)), ShapeError, r"shape \(2, 2\); an array \(2, 3\)"),
    (lambda: RandomProjection.johnsonLindenStraussMinDim(0, 0.5), GraphError, "at least 1; got 0"),
])
def test_what_is_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()
