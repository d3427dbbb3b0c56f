"""A process that forks: the child goes on, whatever other threads were doing."""
from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from dl4py.samediff.base import locks
from dl4py.samediff.base.locks import LockRank, rlock
from dl4py.samediff.cpu import threads
from dl4py.samediff.cpu.native import thread_pool

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")

COMPILING = """
import os, signal, threading, time
import numpy as np
from dl4py.samediff import DataType, SameDiff

def work(k, dtype):
    sd = SameDiff.create()
    x = sd.placeholder("x", dtype, -1, 3)
    y = (sd.math.tanh(x * (k + 0.37)) + float(k)).mean("y")
    assert np.isfinite(sd.output_single({"x": np.ones((4, 3), dtype.numpy)}, "y"))

done = False
def go():
    k = 0
    while not done:
        work(k, DataType.DOUBLE)
        k += 1

other = threading.Thread(target=go)
other.start()
for i in range(5):
    time.sleep(0.2)
    child = os.fork()
    if not child:
        signal.alarm(300)
        work(1000 + i, DataType.DOUBLE if i % 2 else DataType.FLOAT)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, i
done = True
other.join()
"""


@pytest.mark.slow
def test_children_compile_while_the_parent_does(tmp_path):
    subprocess.run([sys.executable, "-W", "ignore", "-c", COMPILING], check=True, timeout=600,
                   env={**os.environ, "DL4PY_CACHE_DIR": str(tmp_path)})


def _forked(child):
    pid = os.fork()
    if not pid:
        os._exit(0 if child() else 1)
    return os.waitpid(pid, 0)[1] == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_locks_of_other_threads_are_free_and_own_ones_are_held():
    theirs, mine, held, over = rlock(), rlock(), threading.Event(), threading.Event()

    def hold():
        with theirs:
            held.set()
            over.wait()
    other = threading.Thread(target=hold)
    other.start()
    held.wait()
    with mine:
        assert _forked(lambda: theirs.acquire(blocking=False) and mine._is_owned())
    over.set()
    other.join()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_waits_for_a_step():
    lock, held, changed = rlock(LockRank.STEPS), threading.Event(), []

    def step():
        with lock:
            held.set()
            threading.Event().wait(0.2)
            changed.append(1)
    other = threading.Thread(target=step)
    other.start()
    held.wait()
    assert _forked(lambda: changed == [1])
    other.join()


def _none(*args, **options):
    raise RuntimeError("can't start new thread")


def test_without_further_threads_one_does_all_parts(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", _none)
    assert thread_pool.ThreadPool(3).helpers == 0
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    crew = threads._ThreadGroup()
    monkeypatch.setattr(threads, "_thread_group", lambda process: crew)
    done = []
    threads.run_parts(lambda *part: done.append(part), [(0, 2), (2, 5)])
    assert done == [(0, 0, 2), (1, 2, 5)]


def test_an_error_in_a_part_is_raised():
    def fail(part, low, high):
        if part:
            raise ValueError(part)
    with pytest.raises(ValueError, match="1"):
        threads.run_parts(fail, [(0, 1), (1, 2)])


def test_systems_without_unnamed_semaphores_have_no_helpers(monkeypatch):
    class Library:
        def __getattr__(self, name):
            return lambda *args: -1
    monkeypatch.setattr(thread_pool.ctypes, "CDLL", lambda name: Library())
    assert thread_pool.ThreadPool(3).helpers == 0


@pytest.mark.slow
def test_threads_that_fork_at_the_same_time_release_what_they_took(monkeypatch):
    """Also when they have waited long enough for each other."""
    monkeypatch.setattr(locks, "PATIENCE", 0.01)
    found, end = [], threading.Event()
    monkeypatch.setattr(sys, "unraisablehook", lambda what: found.append(what.exc_value))
    kept, held = [rlock(LockRank.STEPS) for _ in range(20)], rlock(LockRank.STEPS)

    def hold():
        with held:
            end.wait(60)

    def fork():
        for _ in range(5):
            assert _forked(lambda: True)
    workers = [threading.Thread(target=hold), *(threading.Thread(target=fork) for _ in range(6))]
    for thread in workers:
        thread.start()
    for thread in workers[1:]:
        thread.join()
    end.set()
    workers[0].join()
    assert not found
    assert all(lock.acquire(blocking=False) for lock in [*kept, held])
