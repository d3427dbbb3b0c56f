"""Parts of one kernel call on several threads."""
from __future__ import annotations

import threading
import time

import pytest

from dl4py.samediff.cpu import threads


def test_threads_that_start_together_share_one_crew(monkeypatch):
    made = []

    class Slow(threads._Crew):
        def __init__(self):
            time.sleep(0.02)
            made.append(self)
            self.size = 0

    threads._crew.cache_clear()
    monkeypatch.setattr(threads, "_Crew", Slow)
    try:
        callers = [threading.Thread(target=threads.run_parts, args=(lambda *part: None, [(0, 1), (1, 2)])) for _ in range(8)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    finally:
        threads._crew.cache_clear()
    assert len(made) == 1


def test_nobody_writes_after_an_error():
    finished = []

    def call(part, low, high):
        if part == 0:
            raise ValueError("the first part")
        time.sleep(0.05)
        finished.append(part)

    with pytest.raises(ValueError, match="the first part"):
        threads.run_parts(call, [(0, 1), (1, 2), (2, 3)])
    assert sorted(finished) == [1, 2]
