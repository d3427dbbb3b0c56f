"""A barrier of processes that are killed: whoever is left goes on or fails, but never waits."""
from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import threading

import numpy as np
import pytest

from dl4py.networks.parallel.all_reduce import BrokenGroupError
from dl4py.networks.parallel.process_all_reduce import ProcessAllReduce
from dl4py.networks.parallel.process_barrier import ProcessBarrier

fork = multiprocessing.get_context("fork") if hasattr(os, "fork") else None
pytestmark = pytest.mark.skipif(fork is None, reason="processes that start at once")


def exchange(end, *others):
    for other in others:
        other.close()
    total = np.array([1.0])
    with contextlib.suppress(BrokenGroupError):
        while True:
            end.reduce(total, float(end.size))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_a_process_killed_at_any_moment(seed):
    draw = random.Random(seed)
    for _ in range(25):
        first, *others = ProcessAllReduce.group(3, 64, fork)
        processes = []
        for end in others:
            processes.append(fork.Process(target=exchange, args=(end, *[e for e in (first, *others) if e is not end])))
            processes[-1].start()
            end.close()
        killing = threading.Timer(draw.random() * 0.02, draw.choice(processes).kill)
        killing.start()
        exchange(first)
        first.abort()
        for process in processes:
            process.join()
        killing.join()
        first.close()
        assert sorted(p.exitcode for p in processes) == [-9, 0]


@pytest.mark.parametrize("rank", [0, 1])
def test_whoever_waits_is_woken(rank):
    ends = ProcessBarrier.group(2)
    waiting = threading.Timer(0.05, ends[rank].abort)
    waiting.start()
    with pytest.raises(threading.BrokenBarrierError):
        ends[0].wait()
    waiting.join()
    for end in ends:
        with pytest.raises(threading.BrokenBarrierError):
            end.wait()
        end.close()
        with pytest.raises(threading.BrokenBarrierError):
            end.wait()
        end.abort()
