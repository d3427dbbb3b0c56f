"""Messages between processes, also where the other end is gone."""
from __future__ import annotations

import threading

import numpy as np
import pytest

from dl4py.networks.parallel.channel import ProcessChannel


@pytest.fixture
def ends():
    ends = ProcessChannel.pair()
    yield ends
    for end in ends:
        end.close()


def test_messages_of_any_size_in_both_directions(ends):
    here, there = ends
    given = [None, "finish", np.arange(3_000_000), b""]

    def answer():
        for _ in given:
            there.send(there.receive())

    other = threading.Thread(target=answer)
    other.start()
    for message in given:
        here.send(message)
        np.testing.assert_array_equal(here.receive(), message)
    other.join()


def test_what_was_sent_comes_before_the_end(ends):
    here, there = ends
    here.send("unread")
    there.send("last words")
    there.close()
    assert here.receive() == "last words"
    for call in (here.receive, lambda: here.send("too late")):
        with pytest.raises(OSError):
            call()


@pytest.mark.parametrize("wait", [ProcessChannel.receive, lambda end: end.send(bytes(10_000_000))], ids=["receive", "send"])
@pytest.mark.parametrize("by", [0, 1])
def test_whoever_waits_is_woken(ends, wait, by):
    """By either end, also while a copy of the other one is open, as in a forked process."""
    ending = threading.Timer(0.05, ends[by].end)
    ending.start()
    with pytest.raises(OSError):
        wait(ends[0])
    ending.join()
    ends[by].end()
