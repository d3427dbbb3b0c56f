"""Statistics of columns: the same from all types and layouts, and exact far from zero."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.data.sets.column_statistics import DistributionStats, MinMaxStats


def columns(x):
    return np.moveaxis(x, 1, -1).reshape(-1, x.shape[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
@pytest.mark.parametrize("shape", [(1, 9), (5, 9), (1000, 9), (1000, 1), (1, 3, 7), (50, 3, 7, 5)])
def test_statistics_of_columns(dtype, shape, rng):
    x = (rng.uniform(0, 200, shape) + (1e6 if dtype == np.float64 else 0)).astype(dtype)
    rows, precision = columns(x).astype(np.float64), 1e-9 if dtype == np.float64 else 1e-6
    for given in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
        found, ends = DistributionStats.collect([(given, None)], "features"), MinMaxStats.collect([(given, None)], "features")
        np.testing.assert_allclose(found.first[0], rows.mean(axis=0), rtol=precision)
        np.testing.assert_allclose(found.second[0], np.maximum(rows.std(axis=0), 1e-5), rtol=precision)
        np.testing.assert_array_equal(ends.first[0], rows.min(axis=0).astype(ends.first.dtype))


@pytest.mark.parametrize("shape", [(100000, 2), (1000, 2, 100)])
def test_deviations_far_from_zero(shape, rng):
    x = 1e9 + rng.standard_normal(shape)
    x[0] = -1e9                     # and the first row far from all others
    exact = columns(x).astype(np.longdouble)
    found = DistributionStats.collect([(x, None)], "features").second[0]
    np.testing.assert_allclose(found, exact.std(axis=0).astype(np.float64), rtol=1e-12)
    y = 1e9 + rng.standard_normal(shape)
    found = DistributionStats.collect([(y, None)], "features").second[0]
    np.testing.assert_allclose(found, columns(y).astype(np.longdouble).std(axis=0).astype(np.float64), rtol=1e-9)
