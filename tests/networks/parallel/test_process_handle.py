"""One process and what is handed over to it."""
from __future__ import annotations

import multiprocessing
import threading

import pytest

from dl4py.networks.parallel import process_handle
from dl4py.networks.parallel.process_all_reduce import ProcessAllReduce
from dl4py.networks.parallel.process_handle import ProcessHandle
from dl4py.networks.parallel.settings import WrapperSettings
from dl4py.networks.parallel.workers import NoWorkerError


@pytest.fixture
def handle():
    context = multiprocessing.get_context("spawn")
    ends = ProcessAllReduce.group(2, 64, context)
    handle = ProcessHandle(ends[1], WrapperSettings(), context)
    yield handle
    handle.close(10)
    for end in ends:
        end.close()
    assert not multiprocessing.active_children()
    assert not [t for t in threading.enumerate() if t.name.startswith("dl4py-training")]


def test_nobody_waits_for_room_at_a_process_that_is_killed(handle):
    """Neither in the queue nor in the channel: it reads nothing while it starts."""
    ended = threading.Event()
    handle.start(ended.set)
    killing = threading.Timer(0.1, handle.process.kill)
    killing.start()
    count = 0
    while handle.put(bytes(1_000_000)):
        count += 1
    assert ended.wait(60) and handle.exit_code(60) == -9 and count >= 1
    with pytest.raises(OSError):
        handle.channel.receive()
    killing.join()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("given", [0, 1])
def test_a_process_that_cannot_be_watched_is_ended(handle, given, monkeypatch):
    begun, left = process_handle.started, [True] * given
    monkeypatch.setattr(process_handle, "started", lambda *args, name: begun(*args, name=name) if left and left.pop() else None)
    with pytest.raises(NoWorkerError, match="no thread can be started for the process of worker 1"):
        handle.start(lambda: None)
