"""A recorder hears of what is computed on its thread, and of nothing else."""
from __future__ import annotations

import threading

import numpy as np
import pytest

from dl4py.samediff import EagerOps, INDArray
from dl4py.samediff.arrays import recording

A = INDArray.of([1.0, 2.0])


class Heard(recording.Recorder):
    """Notes what is called."""

    def __init__(self, computes: bool = False) -> None:
        self.calls: list[str] = []
        self.computes = computes

    def record(self, op, inputs):
        self.calls.append(op.id)
        return "recorded"

    def record_function(self, function, args, kwargs):
        self.calls.append(function.__name__)
        return NotImplemented if self.computes else "recorded"


@pytest.fixture
def heard():
    recorder = Heard()
    assert recording.switch(recorder) is None
    yield recorder
    assert recording.switch(None) is recorder


@pytest.mark.parametrize(("call", "name"), [
    (lambda: EagerOps().math.add(A, A), "add"), (lambda: np.add(A, 1), "add"), (lambda: A + 1, "add"),
    (lambda: np.concatenate([A, A]), "concatenate"), (lambda: np.add.reduce(A), "reduce")])
def test_calls_are_recorded(heard, call, name):
    assert call() == "recorded"
    assert heard.calls == [name]


def test_what_cannot_be_recorded_is_computed(heard):
    heard.computes = True
    assert np.concatenate([A, A]).tolist() == [1, 2, 1, 2] and (A + 1).tolist() == [2, 3]


def test_each_thread_has_its_own(heard):
    found = []
    thread = threading.Thread(target=lambda: found.append((recording.current(), (A + 1).tolist())))
    thread.start()
    thread.join()
    assert found == [(None, [2, 3])] and recording.current() is heard
