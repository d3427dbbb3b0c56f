"""The queue of requests."""
from __future__ import annotations

import threading
import time

import numpy as np

from dl4py.networks.parallel.requests import InferenceRequest, RequestQueue


def test_every_caller_for_whom_there_is_room_is_woken():
    queue = RequestQueue(3)
    for _ in range(3):
        queue.put(InferenceRequest([np.zeros((1, 2))], []))
    callers = [threading.Thread(target=queue.put, args=(InferenceRequest([np.zeros((1, 2))], []),), daemon=True) for _ in range(3)]
    for caller in callers:
        caller.start()
    end = time.monotonic() + 60
    while len(queue._room._waiters) < 3 and time.monotonic() < end:
        time.sleep(0.001)
    assert len(queue.take(32)) == 3
    for caller in callers:
        caller.join(60)
    assert not any(caller.is_alive() for caller in callers)
    assert len(queue.take(32)) == 3
