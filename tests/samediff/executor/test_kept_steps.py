"""Scans that go back read what the scans before them have computed: the same gradients to second order, with less work."""
from __future__ import annotations

import os
from unittest import mock

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.executor import kept_steps
from dl4py.samediff.graph.gradient_check import check_gradient
from dl4py.samediff.ops.control.control import Scan

N, T, K = 2, 4, 3
RNG = np.random.default_rng(3)
X, W, R, B = RNG.normal(size=(T, N, K)), *(RNG.normal(0, 0.5, (2, K, K))), RNG.normal(size=K)
START = RNG.normal(size=(N, K))
MASK = np.array([[1.0, 1], [1, 0], [0, 1], [1, 1]])[:, :, None]


def masked(sd, c, e, w, r, b):
    (h,), (x, m) = c, e
    h = m * sd.nn.tanh(x.mmul(w) + (h * h).mmul(r) + b) + (1.0 - m) * h
    return [h], [h * m]


def gates(sd, c, e, w, r, b):
    (h, s), (x, _) = c, e
    z = sd.nn.sigmoid(x.mmul(w) + h.mmul(r))
    s = z * s + (1.0 - z) * sd.nn.swish(x + b)
    return [sd.math.tanh(s) * z, s], [sd.nn.softmax(s, 1), sd.math.exp(h)]


def parts(sd, c, e, w, r, b):
    (h,), (x, _) = c, e
    left, right = sd.split(sd.concat(1, x.mmul(w), h.mmul(r)), 2, 1)
    h = sd.math.sin(left) * sd.nn.relu(right, 0.0) + sd.math.max(h, b)
    return [h], [h.reshape(-1), (x * w.mmul(r).sum()).norm2(1)]


def inside(sd, c, e, w, r, b):
    (h,), (x, _) = c, e
    (last,), (rows,) = sd.scan(lambda sd, c, e: ([sd.nn.tanh(c[0] * 0.5 + e[0].mmul(r))], [c[0].sum()]), [h], [x.reshape(1, N, K)])
    return [sd.math.sin(last) + b], [rows, last.mmul(w)]


BODIES = {"masked": (masked, 1), "gates": (gates, 2), "parts": (parts, 1), "inside": (inside, 1)}


def build(name, x, w, r, b, start, backwards):
    body, states = BODIES[name]
    sd = x.sd
    rows = [x, sd.constant(MASK.astype(x.dtype.numpy))]
    rows = [v.reverse(0) for v in rows] if backwards else rows
    last, found = sd.scan(lambda sd, c, e: body(sd, c, e, w, r, b), [start * (k + 1.0) for k in range(states)], rows)
    return [*last, *found]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("name", BODIES)
def test_gradients_are_differences(name, backwards):
    check_gradient(lambda sd, v: build(name, *v, backwards), [X, W, R, B, START], 2, 1e-5, 0)


def graph(name):
    sd = SameDiff.create()
    given = [sd.var(n, a.astype(np.float32)) for n, a in (("x", X), ("w", W), ("r", R), ("b", B), ("start", START))]
    sum((v * v).sum() * (k + 1.0) for k, v in enumerate(build(name, *given, False))).rename("loss").mark_as_loss()
    return sd


def scans(sd, wrt="x w r b start"):
    names = [g.name() for g in sd.gradients(sd.variable("loss"), [sd.variable(n) for n in wrt.split()])]
    return [n for step in sd.plan_in({}, names).steps for n in step.nodes if isinstance(n.op, Scan)]


@pytest.mark.parametrize(("name", "gone"), [
    ("masked", {"tanh", "matmul"}), ("gates", {"softmax", "exp", "matmul"}), ("parts", {"split", "reduce_norm2"})])
def test_nothing_costly_is_computed_again(name, gone):
    there, back = scans(graph(name))
    costly = {n.name for n in there.op.body.sd.nodes() if n.op.id in gone}
    assert len(costly) == len(gone) and not costly & {n.name for n in back.op.body.sd.nodes()}


def test_where_memory_is_short_it_is_computed_again():
    with mock.patch.object(kept_steps, "MAX_KEPT", 8):
        there, back = scans(graph("gates"))
    assert "softmax" in {n.op.id for n in back.op.body.sd.nodes()}
    assert len(there.op.body.outputs) < len(scans(graph("gates"))[0].op.body.outputs)


def test_only_what_is_read_is_kept():
    """The square of the state, by which the gradient of r is multiplied."""
    assert len(scans(graph("masked"), "b")[0].op.body.outputs) < len(scans(graph("masked"), "r")[0].op.body.outputs)


def by_both(make):
    found = make()
    with mock.patch.dict(os.environ, {"DL4PY_EXECUTOR": "reference"}):
        return found, make()


def slope(body):
    sd = SameDiff.create()
    x = sd.var("x", np.arange(24.0).reshape(4, 6) - 3)
    (last,), _ = sd.scan(body, [sd.constant(np.zeros(6))], [x])
    last.sum().mark_as_loss()
    return sd.calculate_gradients({}, "x")["x"]


def test_shapes_that_depend_on_values_are_not_stacked():
    def body(sd, c, e):
        count = (e[0] > 0).cast_to("INT").sum()
        some = sd.math.exp(sd.gather(e[0], sd.range(0, count, 1, "INT"), 0) * 0.1)
        return [c[0] + (some * some).sum()], []
    found, expected = by_both(lambda: slope(body))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_numbers_that_a_step_draws_are_those_of_its_gradient():
    def body(sd, c, e):
        return [sd.nn.tanh(sd.nn.dropout(e[0] * 0.1 + c[0], 0.5))], []
    found, expected = by_both(lambda: slope(body))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_other_readers_of_a_value_find_it_where_it_is():
    """The stacked state is a result of the graph, and what the way back reads."""
    sd = graph("masked")
    rows = next(n for n in sd.nodes() if isinstance(n.op, Scan)).outputs[1]
    names = [g.name() for g in sd.gradients(sd.variable("loss"), [sd.variable(n) for n in "wr"])]
    found = sd.output({}, [rows, *names])
    with mock.patch.dict(os.environ, {"DL4PY_EXECUTOR": "reference"}):
        for name, value in sd.output({}, [rows, *names]).items():
            np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-5)
