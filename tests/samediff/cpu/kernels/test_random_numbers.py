"""Uniform numbers against NumPy's own stream: from any place of it, in any number of parts."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.cpu.kernels.random_numbers import step_words, uniform, uniform_single
from dl4py.samediff.ir.run_context import RunContext
from dl4py.samediff.ops.control.control import STRIDE, at_step

STREAM = 0x9ABCDEF0
#: seed, iteration, draw
PLACES = [(0, 0, 0), (-1, 3, 0), (2**62, 2**40, 7), (1234567, 1, 2**33)]


def generator(place):
    seed, iteration, draw = place
    return np.random.Generator(np.random.Philox(key=np.array([seed & (2**64 - 1), STREAM], np.uint64),
                                                counter=np.array([0, 0, iteration, draw], np.uint64)))


def drawn(kernel, place, size, dtype, parts, *begin):
    """What all parts write, and nothing else."""
    room = np.full(size + 16, -1, dtype)
    for part in range(parts):
        before = room.copy()
        kernel(np.array(place, np.int64), room[8:8 + size], STREAM, *begin, part, parts)
        assert (before[room != before] == -1).all()         # no part writes where another has
    assert (room[:8] == -1).all() and (room[8 + size:] == -1).all()
    return room[8:8 + size]


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("begin", [0, 1, 3, 4, 5, 1001])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 23, 100])
def test_doubles(size, begin, parts):
    for place in PLACES:
        np.testing.assert_array_equal(drawn(uniform, place, size, np.float64, parts, begin), generator(place).random(begin + size)[begin:])


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 15, 16, 17, 64, 1001])
def test_floats(size, parts):
    for place in PLACES:
        np.testing.assert_array_equal(drawn(uniform_single, place, size, np.float32, parts), generator(place).random(size, np.float32))


@pytest.mark.parametrize("count", [1, 2, 7])
def test_every_step_of_a_scan_has_words_of_its_own(count):
    found, context = np.zeros((count, 3), np.int64), RunContext(seed=2**63 + 5, iteration=3, draw=2)
    step_words(np.array([5 - 2**63, 3, 2]), found, STRIDE - 2**64)
    assert [int(n) % 2**64 for n in found[:, 0]] == [at_step(context, t).seed for t in range(count)]
    assert (found[:, 1:] == [3, 2]).all()
