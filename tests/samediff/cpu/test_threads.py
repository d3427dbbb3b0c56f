"""Parts of one kernel call on several threads."""
from __future__ import annotations

import threading
import time

import pytest

from dl4py.samediff.cpu import threads


def test_threads_that_start_together_share_one_crew(monkeypatch):
    made = []

    class Slow(threads._ThreadGroup):
        def __init__(self):
            time.sleep(0.02)
            made.append(self)
            self.size = 0

    threads._thread_group.cache_clear()
    monkeypatch.setattr(threads, "_ThreadGroup", Slow)
    try:
        callers = [threading.Thread(target=threads.run_parts, args=(lambda *part: None, [(0, 1), (1, 2)])) for _ in range(8)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    finally:
        threads._thread_group.cache_clear()
    assert len(made) == 1


@pytest.fixture
def crew(monkeypatch):
    """Threads for three parts, whatever the machine has."""
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    threads._thread_group.cache_clear()
    yield
    threads._thread_group.cache_clear()


@pytest.mark.parametrize("processors", [1, 2, 64])
def test_work_is_cut_by_its_size_and_the_processors(processors, monkeypatch):
    monkeypatch.setattr(threads, "thread_count", lambda: processors)
    most = min(processors, threads.MOST_PARTS)
    assert threads.parts() == most
    assert [threads.parts_for(n * threads.LEAST) for n in (0, 0.5, 1, 2.5, 1000)] == [1, 1, 1, min(most, 2), most]
    assert len(threads.parts_of_rows(1000, threads.WORTH_PARTS)) == most
    assert threads.parts_of_rows(1000, threads.WORTH_PARTS - 1) == [(0, 1000)]
    assert threads.parts_of_rows(threads.ROWS + 1, threads.WORTH_PARTS) == [(0, threads.ROWS + 1)]


@pytest.mark.parametrize("size, count", [(0, 3), (7, 3), (3, 7), (5, 0)])
def test_ranges_cover_everything_once(size, count):
    found = threads.ranges(size, count)
    assert [k for low, high in found for k in range(low, high)] == list(range(size)) and len(found) == max(1, count)
    lengths = [high - low for low, high in found]
    assert max(lengths) - min(lengths) <= 1


def test_nobody_writes_after_an_error(crew):
    finished = []

    def call(part, low, high):
        if part == 0:
            raise ValueError("the first part")
        time.sleep(0.05)
        finished.append(part)

    with pytest.raises(ValueError, match="the first part"):
        threads.run_parts(call, [(0, 1), (1, 2), (2, 3)])
    assert sorted(finished) == [1, 2]
