"""Large results are given in the memory of earlier ones that nobody holds any more."""
from __future__ import annotations

import weakref

import numpy as np
import pytest

from dl4py import INDArray, SameDiff, compiled
from dl4py.samediff import DataType
from dl4py.samediff.plans import plan_data, plan_source

LEAST = 1 << 12
X = np.arange(2048, dtype=np.float32).reshape(32, 64)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for module in (plan_source, plan_data):
        monkeypatch.setattr(module, "LARGE", LEAST)


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("hold", [
    lambda r: r, lambda r: r[1:3], lambda r: r.T, memoryview, lambda r: r.reshape(-1).view(np.int32), lambda r: iter(r), INDArray.of,
    lambda r: r.ctypes, lambda r: r.__dlpack__()])
def test_what_is_held_keeps_its_memory(hold):
    f = compiled(lambda x: (x + 1, x * 2))
    f(X), f(X)
    first = f(X)[1]
    place, held = address(first), hold(first)
    del first
    assert all(address(f(X * k)[1]) != place for k in (2, 3))
    last = address(f(X)[1])
    assert {address(f(X)[1]) for _ in range(3)} == {last}
    del held


def test_results_do_not_change_afterwards():
    f = compiled(lambda x: np.tanh(x * 0.1) + x)
    kept = [f(X + k) for k in range(6)]
    for k, result in enumerate(kept):
        np.testing.assert_allclose(result, np.tanh((X + k) * np.float32(0.1)) + X + k, rtol=1e-6)


def test_the_array_itself_may_be_changed():
    f = compiled(lambda x: x + 1)
    f(X)
    for change in (lambda r: r.setflags(write=False), lambda r: setattr(r, "shape", (64, 32)), lambda r: r.fill(7)):
        change(f(X))
        again = f(X)
        assert again.flags.writeable and again.shape == X.shape
        np.testing.assert_array_equal(again, X + 1)


def test_graphs_and_forgotten_plans():
    sd = SameDiff()
    sd.placeholder("x", DataType.FLOAT, -1, 64).add(1.0, name="y")
    sd.output({"x": X}, "y")
    plan = next(iter(sd.tables.plans.known.values()))
    frame = plan.peek()
    assert plan.memory >= X.nbytes > LEAST
    y = sd.output({"x": X}, "y")["y"]
    gone = weakref.ref(frame)
    del frame, plan
    sd.variable("y").mul(2.0, name="z")
    sd.output({"x": X}, "z")
    assert gone() is None
    np.testing.assert_array_equal(y, X + 1)
