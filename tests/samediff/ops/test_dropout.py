"""Dropout in plans: one mask for a node and its gradient, the one that the reference executor draws."""
from __future__ import annotations

import io

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.cpu import threads
from dl4py.samediff.executor.plan_cache import plan_for
from dl4py.samediff.executor.session import request_for, run
from dl4py.samediff.families.gradient import gradients
from dl4py.samediff.ir.run_context import RunContext

pytestmark = pytest.mark.plans

SHAPES = [(7,), (6, 5), (3, 4, 5), (2, 3, 4, 5), (1, 9)]


def graph(method, shape, dtype=DataType.FLOAT, p=0.7):
    sd = SameDiff.create()
    x = sd.placeholder("x", dtype, -1, *shape[1:])
    y = getattr(sd.nn, method)("y", sd.nn.tanh(x), p)
    loss = (y * y).sum()
    return sd, ["y", gradients(sd, [loss], [x])["x"].name()]


def values(shape, dtype=np.float32):
    return np.random.default_rng(1).standard_normal(shape).astype(dtype)


def plan_of(sd, x, names):
    request = request_for(sd, names, True)
    return plan_for(sd, {"x": x}, request)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [DataType.FLOAT, DataType.DOUBLE, DataType.HALF])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", ["dropout", "dropout_inverted"])
def test_plans_agree_with_the_reference(method, shape, dtype, monkeypatch):
    sd, names = graph(method, shape, dtype)
    x = values(shape, dtype.numpy)
    for iteration in (0, 5):
        found = run(sd, {"x": x}, names, RunContext(True, 11, iteration))
        with monkeypatch.context() as setting:
            setting.setenv("DL4PY_EXECUTOR", "reference")
            want = run(sd, {"x": x}, names, RunContext(True, 11, iteration))
        for n in names:
            np.testing.assert_array_equal(found[n] == 0, want[n] == 0)
            np.testing.assert_allclose(found[n], want[n], rtol=2e-3 if dtype is DataType.HALF else 2e-6, atol=1e-6)


@pytest.mark.parametrize("method", ["dropout", "dropout_inverted"])
def test_one_mask_and_no_python(method):
    sd, names = graph(method, (6, 5))
    plan = plan_of(sd, values((6, 5)), names)
    assert [s.label for s in plan.steps].count("kept") == 1
    assert plan.needs_rng and not plan.peek().calls and len(plan.peek().segments) == 1
    assert not request_plan_outside_training(sd).needs_rng


def request_plan_outside_training(sd):
    return plan_for(sd, {"x": values((6, 5))}, request_for(sd, ["y"], False))


def test_two_nodes_have_masks_of_their_own():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, 200)
    a, b = sd.nn.dropout("a", x, 0.5), sd.nn.dropout("b", x, 0.5)
    found = run(sd, {"x": np.ones(200, np.float32)}, [a.name(), b.name()], RunContext(True, 3, 0))
    assert (found["a"] != found["b"]).any()


def test_dropped_values_are_zero_whatever_they_were():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, 100)
    sd.nn.dropout_inverted("y", x, 0.5)
    y = run(sd, {"x": np.full(100, np.nan, np.float32)}, ["y"], RunContext(True, 3, 0))["y"]
    assert 20 < (y == 0).sum() < 80 and np.isnan(y[y != 0]).all()


def test_every_iteration_and_draw_has_another_mask_and_equal_ones_the_same():
    sd, names = graph("dropout", (40, 5))
    x = np.ones((40, 5), np.float32)
    contexts = [RunContext(True, 1, 0), RunContext(True, 1, 1), RunContext(True, 1, 0, draw=1), RunContext(True, 2, 0)]
    masks = [run(sd, {"x": x}, names, c)["y"] != 0 for c in contexts]
    assert len({m.tobytes() for m in masks}) == 4
    np.testing.assert_array_equal(run(sd, {"x": x}, names, contexts[0])["y"] != 0, masks[0])


def test_threads_do_not_matter(monkeypatch):
    shape, found = (300, 400), []
    for parts in (1, 2):
        monkeypatch.setattr(threads, "thread_count", lambda parts=parts: parts)
        sd, names = graph("dropout_inverted", shape)
        found.append(run(sd, {"x": values(shape)}, names, RunContext(True, 9, 4)))
    for n in names:
        np.testing.assert_array_equal(found[0][n], found[1][n])


@pytest.mark.parametrize("name", ["~", "~~", "~x"])
def test_variables_may_be_called_as_plans_call_things(name, monkeypatch):
    sd = SameDiff.create()
    x = sd.placeholder(name, DataType.FLOAT, -1, 5)
    y = sd.nn.dropout(x, 0.5)
    names = [y.name(), gradients(sd, [(y * y).sum()], [x])[name].name()]
    found = run(sd, {name: values((6, 5))}, names, RunContext(True, 1, 1))
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    want = run(sd, {name: values((6, 5))}, names, RunContext(True, 1, 1))
    for n in names:
        np.testing.assert_array_equal(found[n], want[n])


def test_inside_of_a_loop(monkeypatch):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, 50)
    last = sd.while_loop([sd.constant(np.int32(0)), x], lambda s, v: v[0].lt(3), lambda s, v: [v[0].add(1), s.nn.dropout(v[1], 0.8)])[1]
    names = [last.name(), gradients(sd, [last.sum()], [x])["x"].name()]
    given = {"x": np.ones(50, np.float32)}
    found = run(sd, given, names, RunContext(True, 4, 2))
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    want = run(sd, given, names, RunContext(True, 4, 2))
    for n in names:
        np.testing.assert_array_equal(found[n], want[n])
        assert 10 < (found[n] == 0).sum() < 40


def test_saved_graphs_hold_the_dropout_itself():
    sd, _ = graph("dropout_inverted", (6, 5))
    kept = io.BytesIO()
    sd.save(kept, True)
    kept.seek(0)
    again = SameDiff.load(kept, True)
    assert "kept" not in [n.op.id for n in again.nodes()]
    given = {"x": values((6, 5))}
    np.testing.assert_array_equal(run(again, given, ["y"], RunContext(True, 7, 1))["y"], run(sd, given, ["y"], RunContext(True, 7, 1))["y"])
