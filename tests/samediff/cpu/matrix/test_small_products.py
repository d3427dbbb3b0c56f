"""Own products of small matrices against NumPy, over sizes, shares, strides and element types."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.cpu.compiler.sources import kernel
from dl4py.samediff.cpu.matrix import small_products as sp

FORMS = {"nn": sp.nn, "nt": sp.nt, "tn": sp.tn}
SIZES = [(1, 1, 1), (1, 784, 70), (2, 3, 16), (5, 7, 17), (6, 16, 32), (7, 300, 33), (10, 32, 128), (13, 257, 15), (32, 10, 64), (40, 9, 6),
         (100, 31, 5), (32, 32, 3), (64, 32, 10), (26, 12, 12), (5, 600, 8)]


def operands(form, size, dtype, rng):
    m, k, n = size
    a, b = rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
    wanted = a.astype(float) @ b.astype(float)
    return (np.ascontiguousarray(a.T) if form == "tn" else a), (np.ascontiguousarray(b.T) if form == "nt" else b), wanted


def close(found, wanted, dtype, depth):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=(depth + 9) * (4e-7 if dtype == np.float32 else 1e-15))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", FORMS)
def test_products_and_their_shares(form, size, dtype, rng):
    a, b, wanted = operands(form, size, dtype, rng)
    before = rng.normal(size=wanted.shape).astype(dtype)
    work = np.full((3, sp.WORKSPACE), np.nan, dtype)
    found = {}
    for more in (0, 1):
        for parts in (1, 2, 3):
            c = before.copy() if more else np.full(wanted.shape, np.nan, dtype)
            for part in range(parts):
                FORMS[form](a, b, c, work, more, part, parts)
            found[parts] = c
        close(found[1], wanted + more * before, dtype, size[1])
        np.testing.assert_array_equal(found[2], found[1])
        np.testing.assert_array_equal(found[3], found[1])


@pytest.mark.parametrize("form", FORMS)
def test_nothing_around_the_result_is_touched(form, rng):
    a, b, wanted = operands(form, (7, 20, 21), np.float32, rng)
    room = np.full((9, 40), 7, np.float32)
    wide_a, wide_b = np.full((a.shape[0], 30), np.inf, np.float32), np.full((b.shape[0], 30), np.inf, np.float32)
    wide_a[:, :a.shape[1]], wide_b[:, :b.shape[1]] = a, b
    FORMS[form](wide_a[:, :a.shape[1]], wide_b[:, :b.shape[1]], room[1:8, 3:24], np.zeros((1, sp.WORKSPACE), np.float32), 0, 0, 1)
    close(room[1:8, 3:24], wanted, np.float32, 20)
    room[1:8, 3:24] = 7
    assert (room == 7).all()


@kernel
def by_packing(a, b, transposed, packed, c, spare, more, parts):
    for part in range(parts):
        sp.pack(b, transposed, packed, part, parts)
    sp.times_packed(a, packed, c, spare, more)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", ["nn", "nt"])
def test_packed_matrices_give_the_same(form, size, dtype, rng):
    a, b, wanted = operands(form, size, dtype, rng)
    packed = np.full(sp.packed_size(a, size[1], size[2]), np.nan, dtype)
    spare, c, plain = np.empty(sp.WORKSPACE, dtype), rng.normal(size=wanted.shape).astype(dtype), np.empty(wanted.shape, dtype)
    before = c.copy()
    by_packing(a, b, form == "nt", packed, c, spare, 1, 2)
    close(c, wanted + before, dtype, size[1])
    by_packing(a, b, form == "nt", packed, c, spare, 0, 1)
    FORMS[form](a, b, plain, spare.reshape(1, -1), 0, 0, 1)
    np.testing.assert_array_equal(c, plain)


def test_not_a_number_reaches_only_its_row(rng):
    a, b, wanted = operands("nn", (9, 20, 18), np.float32, rng)
    a[4, 3] = np.nan
    c = np.empty(wanted.shape, np.float32)
    sp.nn(a, b, c, np.zeros((1, sp.WORKSPACE), np.float32), 0, 0, 1)
    assert np.isnan(c[4]).all() and np.isfinite(np.delete(c, 4, 0)).all()
