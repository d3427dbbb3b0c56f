"""The exchange between ranks: sums, bits, types, failures; threads and processes alike."""
from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dl4py.networks.parallel.all_reduce import BrokenGroupError, ThreadAllReduce
from dl4py.networks.parallel.process_all_reduce import ProcessAllReduce
from dl4py.samediff import DataType
from dl4py.samediff.errors import GraphError


def groups(size, region=4096):
    """Both kinds, each run by threads of this process: what a rank sees is the same."""
    yield ThreadAllReduce.group(size)
    yield ProcessAllReduce.group(size, region, multiprocessing.get_context("spawn"))


def on_all(group, work):
    with ThreadPoolExecutor(len(group)) as pool:
        return [f.result() for f in [pool.submit(work, end) for end in group]]


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("dtype", ["FLOAT", "DOUBLE", "HALF", "BFLOAT16", "INT64"])
def test_sum_and_broadcast(size, dtype, rng):
    kind = DataType[dtype].numpy
    given = [rng.integers(-50, 50, 101).astype(kind) for _ in range(size)]
    wanted = np.sum([g.astype(np.float64) for g in given], 0)
    for group in groups(size):
        arrays = [g.copy() for g in given]
        on_all(group, lambda end, arrays=arrays: end.reduce(arrays[end.rank]))
        for array in arrays:
            np.testing.assert_array_equal(array.astype(np.float64), wanted.astype(kind).astype(np.float64))
        on_all(group, lambda end, arrays=arrays: end.broadcast(arrays[end.rank]))
        shared = [g.copy() for g in given]
        on_all(group, lambda end, shared=shared: end.broadcast(shared[end.rank]))
        assert all(s.tobytes() == given[0].tobytes() for s in shared)
        for end in reversed(group):
            end.close()


def test_means_have_the_same_bits_everywhere(rng):
    given = [rng.normal(size=1000).astype(np.float32) for _ in range(3)]
    for group in groups(3):
        arrays = [g.copy() for g in given]
        on_all(group, lambda end, arrays=arrays: end.reduce(arrays[end.rank], 3.0))
        assert arrays[0].tobytes() == arrays[1].tobytes() == arrays[2].tobytes()
        np.testing.assert_allclose(arrays[0], np.mean(given, 0), atol=1e-6)
        for end in reversed(group):
            end.close()


def test_half_means_do_not_overflow():
    group, arrays = ThreadAllReduce.group(4), [np.full(8, 40000, np.float16) for _ in range(4)]
    on_all(group, lambda end: end.reduce(arrays[end.rank], 4.0))
    np.testing.assert_array_equal(arrays[3], np.float16(40000))


def test_one_rank_keeps_its_array():
    (alone,), array = ThreadAllReduce.group(1), np.array([1.0, -0.0, 3.0], np.float32)
    alone.reduce(array)
    alone.broadcast(array)
    assert array.tobytes() == np.array([1.0, -0.0, 3.0], np.float32).tobytes()
    alone.reduce(array, 2.0)
    np.testing.assert_array_equal(array, [0.5, 0.0, 1.5])


def test_many_exchanges_in_a_row():
    for group in groups(3):
        def work(end):
            total = np.array([float(end.rank)])
            for _ in range(200):
                end.reduce(total, 3.0)
            return total[0]
        assert on_all(group, work) == [1.0, 1.0, 1.0]
        for end in reversed(group):
            end.close()


def test_nobody_waits_for_a_rank_that_has_ended():
    for group in groups(2):
        waiting = threading.Timer(0.05, group[1].abort)
        waiting.start()
        with pytest.raises(BrokenGroupError, match="another worker than 0 ended"):
            group[0].reduce(np.zeros(3))
        for end in reversed(group):
            end.close()


def test_arrays_that_do_not_fit():
    group = ThreadAllReduce.group(2)
    with pytest.raises(GraphError, match="one size and type; got float64 3, float64 4"):
        on_all(group, lambda end: end.reduce(np.zeros(3 + end.rank)))
    ends = ProcessAllReduce.group(2, 64, multiprocessing.get_context("spawn"))
    with pytest.raises(GraphError, match="at most 64 bytes, got 72"):
        ends[0].reduce(np.zeros(9))
    for end in ends:
        end.close()
