"""Uniform numbers against NumPy's own stream, from any place of it, in any number of parts; normal numbers; arrays of ``sd.random``."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.cpu.kernels.random_numbers import normal, normal_single, step_words, uniform, uniform_single
from dl4py.samediff.cpu.routines.normal_strips import normal_strips
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


@pytest.mark.parametrize(("kernel", "dtype"), [(normal, "float64"), (normal_single, "float32")])
def test_normal_numbers(kernel, dtype):
    """A hundred thousand, a few dozen of them in the tail; and no other place is written."""
    for place, size in zip(PLACES, (1, 5, 1000, 100_000)):
        room = np.full(size + 2, 9, dtype)
        kernel(np.array(place, np.int64), room[1:-1], *normal_strips(dtype), STREAM)
        np.testing.assert_array_equal(room, [9, *generator(place).standard_normal(size, dtype), 9])


def test_another_version_of_numba_has_no_strips(monkeypatch):
    monkeypatch.setattr("dl4py.samediff.cpu.routines.normal_strips._PLACE", "np/random/moved.py")
    assert normal_strips.__wrapped__("float32") is None


ARRAYS = {"uniform": (-2.0, 3.0), "normal": (1.0, 2.0), "log_normal": (0.0, 0.5), "bernoulli": (0.3,), "exponential": (2.0,)}


@pytest.mark.parametrize("kind", [DataType.FLOAT, DataType.DOUBLE])
def test_random_arrays_of_graphs_are_nodes_that_draw_the_same(kind, monkeypatch):
    found = {}
    for executor in ("reference", "plan"):
        monkeypatch.setenv("DL4PY_EXECUTOR", executor)
        sd = SameDiff.create()
        sd.set_seed(7)
        made = [getattr(sd.random, name)(*numbers, kind, 20, 30) for name, numbers in ARRAYS.items()]
        names = [(v * 2.0).name() for v in made]
        found[executor] = [sd.output({}, *names) for _ in range(2)]
    for ours, theirs in zip(found["plan"], found["reference"]):
        for name in names:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=0, atol=1e-5 if kind is DataType.FLOAT else 1e-13)
    assert [s.op for s in sd.profile({}, *names).steps if s.way.value == "python"] == ["random_exponential"]


@pytest.mark.parametrize("count", [1, 2, 7])
def test_every_step_of_a_scan_has_words_of_its_own(count):
    found, context = np.zeros((count, 3), np.int64), RunContext(seed=2**63 + 5, iteration=3, draw=2)
    step_words(np.array([5 - 2**63, 3, 2]), found, STRIDE - 2**64)
    assert [int(n) % 2**64 for n in found[:, 0]] == [at_step(context, t).seed for t in range(count)]
    assert (found[:, 1:] == [3, 2]).all()
