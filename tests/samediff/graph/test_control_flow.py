"""Branches, loops and scans: values, gradients, nesting, and that the graph stays clean."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DataTypeError, GraphError


def differences(sd, name, loss, feeds=None):
    variable = sd.variable(name)
    value = variable.get_arr().copy()
    found = np.zeros_like(value)
    for i in np.ndindex(value.shape):
        ends = []
        for sign in (1, -1):
            changed = value.copy()
            changed[i] += sign * 1e-6
            variable.set_array(changed)
            ends.append(float(sd.output(feeds, loss)[loss]))
        found[i] = (ends[0] - ends[1]) / 2e-6
    variable.set_array(value)
    return found


def check(sd, loss, *names, feeds=None):
    sd.set_loss_variables(loss)
    found = sd.calculate_gradients(feeds or {}, *names)
    for name in names:
        assert np.allclose(found[name], differences(sd, name, loss, feeds or {}), rtol=1e-5, atol=1e-7), name


@pytest.mark.parametrize("executor", ["", "reference"])
@pytest.mark.parametrize("x", [2.0, -2.0])
def test_only_the_chosen_branch_counts(monkeypatch, executor, x):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    v, w = sd.var("v", np.array([x, x])), sd.var("w", np.array(3.0))
    y = sd.if_cond("y", "branch", lambda sd: v.sum() > 0, lambda sd: (v * w).sum(), lambda sd: sd.math.exp(v).sum())
    assert np.isclose(y.eval(), 6 * x if x > 0 else 2 * np.exp(x))
    check(sd, "y", "v", "w")


def test_functions_leave_nothing_behind():
    sd = SameDiff.create()
    v = sd.var("v", np.array(1.0))
    before = set(sd.variable_names())
    sd.if_cond("y", None, lambda sd: v > 0, lambda sd: v * 2 + 1, lambda sd: v - 1)
    assert len(sd.ops()) == 2                                        # the comparison and the branch
    with pytest.raises(ZeroDivisionError):
        sd.while_loop([v], lambda sd, s: s[0] < 3, lambda sd, s: [s[0] + 1 / 0])
    assert len(sd.ops()) == 2
    assert before < set(sd.variable_names())


@pytest.mark.parametrize("turns", [0, 1, 4])
def test_loop_with_a_branch_inside(turns):
    sd = SameDiff.create()
    a, w = sd.var("a", np.array([0.5, 1.5])), sd.var("w", np.array(1.1))
    n, zero = sd.placeholder("n", DataType.INT), sd.constant(np.int32(0))

    def body(sd, s):
        return [s[0] + 1, s[1] * w + sd.if_cond(lambda sd: s[1].sum() > 3, lambda sd: s[1] * 0.1, lambda sd: s[1] * w)]
    _, last = sd.while_loop(["i", "last"], "loop", [zero, a], lambda sd, s: s[0] < n, body)
    (last * last).sum("loss")
    feeds = {"n": np.int32(turns)}
    assert sd.output(feeds, "i")["i"] == turns
    check(sd, "loss", "a", "w", feeds=feeds)


def test_loop_variables_may_grow():
    sd = SameDiff.create()
    (grown,) = sd.while_loop([sd.constant(np.ones(1))], lambda sd, s: s[0].sum() < 10, lambda sd, s: [sd.concat(0, s[0], s[0])])
    assert grown.get_shape() == (-1,)
    assert grown.eval().shape == (16,)


@pytest.mark.parametrize("executor", ["", "reference"])
def test_scan_and_its_gradients_to_second_order(monkeypatch, executor):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    rng = np.random.default_rng(0)
    x, h, w = sd.var("x", rng.normal(size=(4, 1, 2))), sd.var("h", rng.normal(size=(1, 2))), sd.var("w", rng.normal(size=(2, 2)))

    def body(sd, carry, element):
        new = sd.math.tanh(carry[0].mmul(w) + element[0])
        return [new], [carry[0] * element[0]]
    (last,), (rows,) = sd.scan(body, [h], [x])
    assert rows.get_shape() == (4, 1, 2)
    first = (rows * rows).sum("first") + (last * last).sum()
    check(sd, first.name(), "x", "h", "w")
    (slope,) = sd.gradients(first, [w])
    (slope * slope).sum("second")
    check(sd, "second", "x", "h", "w")


def test_wrong_uses_are_told():
    sd = SameDiff.create()
    v = sd.var("v", np.array(1.0))
    with pytest.raises(DataTypeError, match="BOOL"):
        sd.if_cond(lambda sd: v, lambda sd: v, lambda sd: v)
    with pytest.raises(GraphError, match="as many values"):
        sd.while_loop([v], lambda sd, s: s[0] < 1, lambda sd, s: [s[0], s[0]])
    with pytest.raises(DataTypeError, match="one type"):
        sd.if_cond(lambda sd: v > 0, lambda sd: v, lambda sd: v.cast_to(DataType.INT))
    with pytest.raises(GraphError, match="arguments"):
        sd.if_cond(v)
