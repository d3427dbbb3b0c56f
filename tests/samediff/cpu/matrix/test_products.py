"""Matrix products of native programs against NumPy's, for every layout."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.samediff.cpu.matrix import matrix_product
from dl4py.samediff.cpu.matrix.matrix_product import product, sums_of_products
from dl4py.samediff.cpu.native import program
from dl4py.samediff.cpu.native.program import Program
from dl4py.samediff.cpu.native.thresholds import ALWAYS, NEVER

SIZES = [(1, 1, 1), (1, 7, 5), (2, 300, 30), (3, 3, 3), (5, 1, 9), (17, 50, 1), (32, 78, 25), (33, 65, 130), (70, 300, 90)]


@pytest.mark.parametrize("from_", [0, 128, 1 << 30], ids=["BLAS", "chosen", "tiles"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_layout(monkeypatch, rng, dtype, from_):
    monkeypatch.setattr(matrix_product, "BLAS_FROM", from_)
    monkeypatch.setattr(program, "LEAST", ALWAYS)
    monkeypatch.setattr(program, "thresholds", lambda: ALWAYS)
    for (m, k, n), orders in itertools.product(SIZES, itertools.product("cf", repeat=3)):
        a, b = (np.asarray(rng.standard_normal(s), dtype, order=o) for s, o in zip([(m, k), (k, n)], orders))
        c = np.full((m, n), np.nan, dtype, order=orders[2])
        Program([product(a, b, c)])()
        exact = a.astype(float) @ b.astype(float)
        np.testing.assert_allclose(c, exact, rtol=0, atol=np.abs(a).sum(1).max() * np.abs(b).max() * np.finfo(dtype).eps * 4)


@pytest.mark.parametrize("batch", [(6,), (2, 3), (2, 2, 3)])
def test_stacks_of_matrices(rng, batch):
    a, b = rng.standard_normal((*batch, 5, 4)), rng.standard_normal((*batch, 4, 7))
    transposed = np.ascontiguousarray(b.swapaxes(-1, -2)).swapaxes(-1, -2)
    heads = np.ascontiguousarray(np.moveaxis(a, -2, 0))
    for x, y in ((a, b), (a, transposed), (np.moveaxis(heads, 0, -2), b)):
        c = np.empty((*batch, 5, 7))
        made = product(x, y, c)
        assert made is not None or len(batch) > 2       # three axes may not be seen as two
        if made is not None:
            Program([made])()
            np.testing.assert_allclose(c, a @ b, rtol=1e-13)


@pytest.mark.parametrize("shapes", [((6, 5, 4), (1, 4, 7)), ((5, 4), (6, 4, 7)), ((6, 5, 4), (4, 7))])
def test_matrices_that_are_repeated(rng, shapes):
    a, b = map(rng.standard_normal, shapes)
    c = np.empty((6, 5, 7))
    Program([product(a, b, c)])()
    np.testing.assert_allclose(c, a @ b, rtol=1e-13)


def test_what_no_kernel_takes():
    a, b, c = np.zeros((4, 6))[:, ::2], np.zeros((3, 5)), np.zeros((4, 5))
    assert product(a, b, c) is None                      # neither rows nor columns in one run
    assert product(np.zeros((4, 0)), np.zeros((0, 5)), c) is None
    assert product(np.zeros((4, 3), np.float16), np.zeros((3, 5), np.float16), c.astype(np.float16)) is None


@pytest.mark.parametrize("from_", [0, 1 << 30], ids=["BLAS", "tiles"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_of_products(monkeypatch, rng, dtype, from_):
    """Every share of the pairs adds to a total of its own, also where there are fewer pairs than shares, in any number of parts."""
    monkeypatch.setattr(matrix_product, "BLAS_FROM", from_)
    for pairs, shares in ((5, 2), (1, 2), (6, 1), (7, 3)):
        a, b = rng.standard_normal((pairs, 33, 20)).astype(dtype), rng.standard_normal((pairs, 40, 20)).astype(dtype)
        begin = rng.standard_normal((shares, 33, 40)).astype(dtype)
        found = []
        for worth in (ALWAYS, NEVER):
            totals = begin.copy()
            Program([sums_of_products(a, b.swapaxes(1, 2), totals)], worth=worth)()
            found.append(totals)
        np.testing.assert_array_equal(*found)
        exact = begin.sum(0, dtype=float) + np.einsum("prk,pck->rc", a.astype(float), b.astype(float))
        np.testing.assert_allclose(totals.sum(0), exact, rtol=0, atol=2000 * np.finfo(dtype).eps)
