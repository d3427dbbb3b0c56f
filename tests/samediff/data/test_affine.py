"""One pass over arrays: the same values for all types and layouts, and nothing else changed."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.data.sets.affine import affine, along_axis_1

SHAPES = [(300, 7), (3, 7), (0, 7), (20, 7, 11), (6, 7, 9, 9), (2, 7, 3, 4, 5)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, np.float16, np.int64, np.bool_, ">f4"])
@pytest.mark.parametrize("shape", SHAPES)
def test_as_numpy(dtype, shape, rng):
    x = (rng.standard_normal(shape) * 50).astype(dtype)
    scale, shift = rng.standard_normal(7), rng.standard_normal(7)
    kind = x.dtype if x.dtype.kind == "f" else np.float32
    expected = (x * along_axis_1(scale, x.ndim) + along_axis_1(shift, x.ndim)).astype(kind)
    frozen, shifted = x.copy(), np.empty(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(shape)
    frozen.flags.writeable = False
    shifted[...] = x
    wide = np.repeat(x, 2, axis=0)[::2]
    for given in (x, frozen, shifted, wide, np.asfortranarray(x)):
        before = given.copy()
        got = affine(given, scale, shift)
        assert got.dtype == kind
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(given, before)
        assert not np.shares_memory(got, given)


def test_large_arrays_are_shared_by_threads(rng):
    x = rng.standard_normal((40001, 30)).astype(np.float32)
    scale, shift = rng.standard_normal(30), rng.standard_normal(30)
    np.testing.assert_array_equal(affine(x, scale, shift), (x * scale + shift).astype(np.float32))


def test_nan_and_infinity_stay(rng):
    x = np.full((200, 3), np.nan, np.float32)
    x[:, 1] = np.inf
    x[:, 2] = -np.inf
    np.testing.assert_array_equal(affine(x, np.array([2.0, -1.0, 1.0]), np.zeros(3))[5], np.float32([np.nan, -np.inf, -np.inf]))
