"""Gradients of reductions that choose an element: the first of equal ones has it all, as recorded from DL4J."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff

TIED = [[1.0, 3, 3], [2, 2, 1]]
SIGNS = [[1.0, -3, 3], [2, 2, 1]]
CALLS = {
    "max": (TIED, lambda sd, x: sd.max(x, 1), [[0, 1, 0], [1, 0, 0]]),
    "max of all": (TIED, lambda sd, x: sd.max(x), [[0, 1, 0], [0, 0, 0]]),
    "max over both": (TIED, lambda sd, x: sd.max(x, 1, 0), [[0, 1, 0], [0, 0, 0]]),
    "max of columns": ([[1.0, 3, 3], [1, 3, 1]], lambda sd, x: sd.max(x, 0), [[1, 1, 1], [0, 0, 0]]),
    "min": ([[1.0, 1, 3], [2, 2, 1]], lambda sd, x: sd.min(x, 1), [[1, 0, 0], [0, 0, 1]]),
    "amax": (SIGNS, lambda sd, x: sd.math.reduce_amax(x, 1), [[0, -1, 0], [1, 0, 0]]),
    "normmax": (SIGNS, lambda sd, x: sd.normmax(x, 1), [[0, -1, 0], [1, 0, 0]]),
    "amin": ([[1.0, -1, 3], [2, 2, 1]], lambda sd, x: sd.math.reduce_amin(x, 1), [[1, 0, 0], [0, 0, 1]]),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("rows", [2, -1])
def test_the_first_of_equal_elements_has_the_gradient(name, rows):
    values, call, wanted = CALLS[name]
    sd = SameDiff.create()
    x = sd.var("x", np.array(values)) if rows > 0 else sd.place_holder("x", "DOUBLE", rows, 3)
    loss = call(sd, x).sum("loss")
    (slope,) = sd.gradients(loss, [x])
    found = sd.output({} if rows > 0 else {"x": np.array(values)}, slope.name())[slope.name()]
    assert found.tolist() == wanted


@pytest.mark.parametrize("executor", ["plan", "reference"])
def test_axes_that_are_known_when_run(executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    x, axes = sd.var("x", np.array(TIED)), sd.place_holder("axes", "INT", 1)
    (slope,) = sd.gradients(sd.max(x, axes, False).sum("loss"), [x])
    for over, wanted in ((1, [[0, 1, 0], [1, 0, 0]]), (0, [[0, 1, 1], [1, 0, 0]])):
        assert sd.output({"axes": np.array([over], np.int32)}, slope.name())[slope.name()].tolist() == wanted


@pytest.mark.parametrize("executor", ["plan", "reference"])
@pytest.mark.parametrize("rows", [4, -1])
@pytest.mark.parametrize(("how", "values", "wanted"), [
    ("max", [[1.0, 3], [1, 3], [1, 2], [0, 2]], [[1, 1], [0, 0], [1, 1], [0, 0]]),
    ("min", [[1.0, 3], [1, 3], [1, 2], [0, 2]], [[1, 1], [0, 0], [0, 1], [1, 0]]),
    ("prod", [[0.0, 0], [2, 0], [0, 3], [5, 4]], [[2, 0], [0, 0], [5, 4], [0, 3]])])
def test_segments_with_ties_and_zeros(how, values, wanted, rows, executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    for ids, call in (([0, 0, 1, 1], "segment"), ([1, 1, 0, 0], "unsorted_segment")):
        sd = SameDiff.create()
        x, i = sd.place_holder("x", "DOUBLE", rows, 2), sd.place_holder("i", "INT", rows)
        made = getattr(sd, f"{call}_{how}")(x, i, *([3] if call != "segment" else []))
        (slope,) = sd.gradients(made.sum("loss"), [x])
        found = sd.output({"x": np.array(values), "i": np.array(ids, np.int32)}, slope.name())[slope.name()]
        assert found.tolist() == wanted, call
