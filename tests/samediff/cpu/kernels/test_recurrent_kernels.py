"""Kernels of gated and simple recurrent sequences against ``compute``: sizes, memory orders, shares, with and without a library."""
from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from dl4py.samediff.cpu import threads
from dl4py.samediff.cpu.blas import blas
from dl4py.samediff.cpu.kernels.time_loops import SMALL, copy_series
from dl4py.samediff.cpu.ops.recurrent import gru_sequence, rnn_sequence
from dl4py.samediff.ops.recurrent.gru_sequence import GruSequence, GruSequenceGrad
from dl4py.samediff.ops.recurrent.rnn_sequence import RnnSequence, RnnSequenceGrad
from tests.samediff.cpu.kernels.agreement import agree

#: Times, examples, inputs and units.
SIZES = [(1, 1, 1, 1), (4, 17, 3, 5), (3, 2, 9, 16)]
LARGE = (40, 33, 7, 230)
LAYOUTS = {"C": np.ascontiguousarray, "F": np.asfortranarray}


def both_ways(op, gradient, given, units, order, rng):
    """The op and its gradient by a kernel; optional inputs may be None."""
    lay = LAYOUTS[order]
    given = [None if a is None else lay(a) for a in given]
    saved = agree(op, given)
    count, batch = given[0].shape[:2]
    upstream = rng.normal(size=(batch, units, count)).astype(given[0].dtype).transpose(2, 0, 1)
    unused = [k for k, a in enumerate(given) if a is None]              # nothing comes back for them
    agree(gradient, [*given, *saved, upstream], order, unused)


def gated(size, dtype, order, rng):
    count, batch, inputs, units = size
    given = [(rng.normal(size=s) / units**0.5).astype(dtype)
             for s in ((count, batch, inputs), (batch, units), (inputs, 3 * units), (units, 3 * units), (3 * units,))]
    both_ways(GruSequence(), GruSequenceGrad(), given, units, order, rng)


def simple(size, dtype, order, rng, activation, optional):
    count, batch, inputs, units = size
    x, w, rw, b, h0 = ((rng.normal(size=s) / units**0.5).astype(dtype)
                       for s in ((count, batch, inputs), (inputs, units), (units, units), (units,), (batch, units)))
    mask = (rng.random((count, batch)) < 0.6).astype(dtype)
    given = [x, w, rw, *(a if o else None for a, o in zip((b, h0, mask), optional))]
    op = RnnSequence(activation)
    both_ways(op, RnnSequenceGrad(activation), given, units, order, rng)


@pytest.fixture(params=[1, 2])
def parts(request, monkeypatch):
    """Work for one thread, or shared by two."""
    monkeypatch.setattr(threads, "WORTH_PARTS", 0 if request.param == 2 else 1 << 60)
    monkeypatch.setattr(threads, "thread_count", lambda: 2)


@pytest.mark.slow
@pytest.mark.parametrize("order", LAYOUTS)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gated_units(dtype, size, order, parts, rng):
    gated(size, dtype, order, rng)


@pytest.mark.sampled(55)
@pytest.mark.parametrize("optional", [(True, True, True), (False, False, False), (True, False, True), (False, True, False)], ids=str)
@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "relu", "identity"])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_simple_units(dtype, size, activation, optional, parts, rng):
    for order in LAYOUTS:
        simple(size, dtype, order, rng, activation, optional)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("has_library", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_products_with_and_without_a_library(dtype, has_library, rng, monkeypatch):
    if has_library and not blas.available():
        pytest.skip("NumPy uses another library")
    if not has_library:
        for module in (rnn_sequence, gru_sequence):
            monkeypatch.setattr(module, "library", lambda like: 0)
    count, batch, _, units = LARGE
    assert count * batch * units * units > 2 * SMALL            # of each share, too
    gated(LARGE, dtype, "C", rng)
    simple(LARGE, dtype, "C", rng, "tanh", (True, True, True))


@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_copies_of_series(dtype, order, step, rng):
    """Of any memory order, with gaps and backwards, around the sizes of blocks."""
    for shape in ((3, 5, 4), (2, 33, 17), (1, 16, 32), (2, 8, 1), (3, 1, 40)):
        room = rng.normal(size=[2 * shape[k] for k in order]).astype(dtype)
        x = room.transpose(np.argsort(order))[(slice(None, None, step),) * 3][tuple(map(slice, shape))]
        for parts in (1, 2):
            out = np.full(shape, np.nan, dtype)
            for part in range(parts):
                copy_series(x, out, part, parts)
            np.testing.assert_array_equal(out, x)
