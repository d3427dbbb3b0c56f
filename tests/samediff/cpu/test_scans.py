"""Scans as one native call: values and gradients to second order equal those of the reference executor, whatever the body is."""
from __future__ import annotations

import os
import threading
from unittest import mock

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.cpu.kernel_table import KERNELS
from dl4py.samediff.executor.inline import inlined
from dl4py.samediff.families.subgraph import SubGraph
from dl4py.samediff.ir.kernel_table import KernelTable
from dl4py.samediff.ops.control.control import Scan
from dl4py.samediff.ops.recurrent.lstm_sequence import LstmSequence

N, T, K = 3, 5, 4
TYPES = {"FLOAT": (np.float32, 2e-5), "DOUBLE": (np.float64, 1e-11)}


def weights(sd, kind, *shapes):
    rng = np.random.default_rng(4)
    return [sd.var(f"w{k}", rng.normal(0, 0.4, s).astype(kind)) for k, s in enumerate(shapes)]


def cell(sd, c, e, w, r, b):
    h = sd.nn.tanh(e[0].mmul(w) + c[0].mmul(r) + b)
    return [h], [h]


def gated(sd, c, e, w, r, b):
    (h, m), x = c, e[0]
    z = sd.nn.sigmoid(x.mmul(w) + h.mmul(r) + b)
    m = z * m + (1.0 - z) * x.mmul(w)
    return [sd.math.tanh(m), m], [m * z, z.sum(1), x]


def turned(sd, c, e, w, r, b):
    h = c[0].mmul(r, False, True) + e[0].mmul(w.mmul(r), False, True)
    return [h * 0.5], [e[0].mmul(r), h.mmul(w), sd.nn.relu(h, 0.0).mmul(w)]


def through(sd, c, e, w, r, b):
    return [c[0], c[1] + e[0].sum()], [e[0], c[0], w, sd.constant(np.ones(2, np.float32))]


def summed(sd, c, e, w, r, b):
    total = c[0] + e[0].mmul(w) * b + w.sum(0) + r.mmul(w).mean()
    return [total], [total.reshape(-1), total.permute(1, 0), total]


def nested(sd, c, e, w, r, b):
    (last,), (all_,) = sd.scan(lambda sd, c, e: ([c[0] * 0.5 + e[0].mmul(r)], [c[0].sum()]), [c[0]], [e[0].reshape(1, N, K)])
    return [sd.math.sin(last)], [all_, last.mmul(w)]


def vector(sd, c, e, w, r, b):
    return [c[0] * b + e[0].sum(0)], [(c[0] * b).sum()]


BODIES = {"cell": (cell, [(N, K)]), "gated": (gated, [(N, K), (N, K)]), "turned": (turned, [(N, K)]), "through": (through, [(N, K), ()]),
          "summed": (summed, [(N, K)]), "nested": (nested, [(N, K)]), "vector": (vector, [(K,)])}


def graph(body, starts, kind, declared, loss=True):
    sd = SameDiff.create()
    dtype = DataType[kind]
    x = sd.placeholder("x", dtype, *((T, N, K) if declared else (-1, -1, K)))
    w = weights(sd, TYPES[kind][0], (K, K), (K, K), (K,))
    start = [sd.var(f"start{k}", np.random.default_rng(k).normal(size=s).astype(TYPES[kind][0])) for k, s in enumerate(starts)]
    carry, results = sd.scan(lambda sd, c, e: body(sd, c, e, *w), start, [x])
    outs = [*carry, *results]
    if loss:
        total = sum((v * v).sum() for v in w)
        for k, o in enumerate(outs):
            total = total + sd.math.sin(o.cast_to(dtype)).sum() * (k + 1.0)
        total.rename("loss").mark_as_loss()
    return sd, [o.name() for o in outs], [v.name() for v in (*w, *start)]


def by_both(make):
    found = make()
    with mock.patch.dict(os.environ, {"DL4PY_EXECUTOR": "reference"}):
        return found, make()


def data(kind, steps=T, batch=N):
    return np.random.default_rng(9).normal(size=(steps, batch, K)).astype(TYPES[kind][0])


@pytest.mark.sampled(36)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("declared", [True, False], ids=["sizes", "open"])
@pytest.mark.parametrize("name", BODIES)
def test_values_and_gradients(name, declared, kind):
    body, starts = BODIES[name]
    sd, outs, wanted = graph(body, starts, kind, declared)
    x, tolerance = data(kind), TYPES[kind][1]
    for found, expected in (by_both(lambda: sd.output({"x": x}, outs)),
                            by_both(lambda: sd.calculate_gradients({"x": x}, [*wanted, "x"]))):
        assert found.keys() == expected.keys()
        for key in found:
            np.testing.assert_allclose(found[key], expected[key], rtol=tolerance, atol=tolerance, err_msg=key)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["cell", "gated", "turned", "summed"])
def test_second_order(name):
    body, starts = BODIES[name]
    sd, _, wanted = graph(body, starts, "DOUBLE", True)
    first = sd.gradients(sd.variable("loss"), [sd.variable(n) for n in wanted])
    slope = sum(((g * g).sum() for g in first[1:]), (first[0] * first[0]).sum())
    second = [g.name() for g in sd.gradients(slope, [sd.variable(n) for n in wanted])]
    found, expected = by_both(lambda: sd.output({"x": data("DOUBLE")}, second))
    for key in found:
        np.testing.assert_allclose(found[key], expected[key], rtol=1e-9, atol=1e-9, err_msg=key)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", BODIES)
def test_no_step_is_called_from_python(name):
    body, starts = BODIES[name]
    sd, *_ = graph(body, starts, "FLOAT", True)
    sd.calculate_gradients({"x": data("FLOAT")}, ["w0"])
    assert "steps called from Python: 0" in sd.explain({"x": data("FLOAT")}, "loss")


def steps_of(sd, names):
    """Operations of the plan, by name: (inputs, outputs)."""
    plan = sd.plan_in({"x": sd.variable("x").spec}, names)
    return [(type(node.op).__name__, node) for step in plan.steps for node in step.nodes]


@pytest.mark.parametrize(("wrt", "products"), [(["w0", "w1", "w2"], 3), (["w0", "w1", "w2", "x"], 4), (["w2"], 1)])
def test_products_of_all_steps_are_made_once_and_only_where_somebody_reads_them(wrt, products):
    """x w is made on the way there; gradients by w and r are one product each, that by x if asked."""
    sd, *_ = graph(cell, [(N, K)], "FLOAT", True)
    found = sd.gradients(sd.variable("loss"), [sd.variable(n) for n in wrt])
    nodes = steps_of(sd, [g.name() for g in found])
    assert sum(kind == "Matmul" for kind, _ in nodes) == products
    assert sum(kind == "Scan" for kind, _ in nodes) == 2


def test_what_a_body_gives_several_times_is_kept_once():
    def body(sd, c, e, w, r, b):
        h = sd.nn.tanh(e[0] + c[0])
        return [h], [h, h, h.mmul(w), e[0].mmul(w), e[0]]
    sd, outs, _ = graph(body, [(N, K)], "FLOAT", True, loss=False)
    (scan,) = [node for kind, node in steps_of(sd, outs) if kind == "Scan"]
    assert (len(scan.op.body.outputs), scan.op.sequences) == (2, 1)        # the carry and what is stacked of it
    found, expected = by_both(lambda: sd.output({"x": data("FLOAT")}, outs))
    for key in found:
        np.testing.assert_allclose(found[key], expected[key], rtol=2e-5, atol=2e-5, err_msg=key)


@pytest.mark.parametrize(("steps", "batch"), [(1, 3), (2, 1), (7, 3), (0, 3), (5, 0)])
@pytest.mark.parametrize("name", ["cell", "summed"])
def test_sizes(name, steps, batch):
    if batch != N and name == "summed":
        pytest.skip("its start has three rows")
    sd = SameDiff.create()
    x, h = sd.placeholder("x", DataType.FLOAT, -1, -1, K), sd.placeholder("h", DataType.FLOAT, -1, K)
    w = weights(sd, np.float32, (K, K), (K, K), (K,))
    (last,), results = sd.scan(lambda sd, c, e: BODIES[name][0](sd, c, e, *w), [h], [x])
    (last.sum() + results[0].sum()).mark_as_loss()
    given = {"x": data("FLOAT", steps, batch), "h": np.ones((batch, K), np.float32)}
    found, expected = by_both(lambda: sd.calculate_gradients(given, ["w0", "w1", "w2", "x", "h"]))
    for key in found:
        np.testing.assert_allclose(found[key], expected[key], rtol=2e-5, atol=2e-5, err_msg=key)


def views(sd, x):
    return {"permuted": x.permute(2, 0, 1), "every other": x[:, :, ::2].permute(2, 0, 1), "one row for all": x[:1].permute(2, 0, 1),
            "backwards": x.reverse(2).permute(2, 1, 0)}


@pytest.mark.parametrize("how", ["permuted", "every other", "one row for all", "backwards"])
def test_sequences_that_are_views(how):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, 4, 4, 6)
    w = weights(sd, np.float32, (4, 4), (4, 4), (4,))
    rows = views(sd, x)[how]
    batch = 1 if how == "one row for all" else 4
    (last,), (states,) = sd.scan(lambda sd, c, e: cell(sd, c, e, *w), [sd.zero("h", DataType.FLOAT, batch, 4)], [rows])
    ((states * states).sum() + last.sum()).mark_as_loss()
    given = {"x": np.random.default_rng(1).normal(size=(4, 4, 6)).astype(np.float32)}
    found, expected = by_both(lambda: sd.calculate_gradients(given, ["x", "w0", "w1", "w2"]))
    for key in found:
        np.testing.assert_allclose(found[key], expected[key], rtol=2e-5, atol=2e-5, err_msg=key)


def test_whole_numbers_count():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.LONG, -1, 2)
    (last,), (sums, flags) = sd.scan(lambda sd, c, e: ([c[0] + e[0]], [c[0] + e[0], e[0] > 1]), [sd.zero("n", DataType.LONG, 2)], [x])
    rows = np.arange(8).reshape(4, 2)
    found = sd.output({"x": rows}, [last.name(), sums.name(), flags.name()])
    np.testing.assert_array_equal(found[last.name()], rows.sum(0))
    np.testing.assert_array_equal(found[sums.name()], rows.cumsum(0))
    np.testing.assert_array_equal(found[flags.name()], rows > 1)


def test_every_step_draws_numbers_of_its_own():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 3)
    _, (rows,) = sd.scan(lambda sd, c, e: ([c[0] + 1.0], [e[0] + sd.random.uniform(0.0, 1.0, DataType.FLOAT, 3)]),
                         [sd.zero("h", DataType.FLOAT, 3)], [x])
    found = sd.output_single({"x": np.ones((50, 3), np.float32)}, rows.name())
    assert len(np.unique(found)) == found.size and found.min() >= 1 and found.max() < 2


def dropped(sd, c, e, w, r, b):
    h = sd.nn.tanh(sd.nn.dropout(c[0].mmul(r) + e[0], 0.5) + b)
    (last,), _ = sd.scan(lambda sd, c, e: ([sd.nn.dropout(c[0] + e[0], 0.7)], []), [h], [e[0].reshape(1, N, K)])
    return [last.mmul(w)], [h]


@pytest.mark.parametrize("training", [True, False])
def test_steps_that_draw_and_scans_inside(training):
    """The numbers of the reference executor, in one native call; where nothing is dropped nothing is drawn."""
    def make():
        sd, outs, wanted = graph(dropped, [(N, K)], "FLOAT", True)
        found = {**sd.compute({"x": data("FLOAT")}, outs, training), **sd.calculate_gradients({"x": data("FLOAT")}, wanted)}
        plan, _ = sd._planned({"x": data("FLOAT")}, outs, training)
        return found, (plan.needs_rng, plan.peek().calls)
    (found, state), (expected, _) = by_both(make)
    assert state == (training, {})
    for key in found:
        np.testing.assert_allclose(found[key], expected[key], rtol=2e-5, atol=2e-5, err_msg=key)


def test_many_threads_have_states_of_their_own():
    sd, outs, _ = graph(*BODIES["cell"], "FLOAT", False, loss=False)
    given = [np.random.default_rng(k).normal(size=(T + k, N, K)).astype(np.float32) for k in range(8)]
    alone = [sd.output({"x": x}, outs) for x in given]
    wrong = []

    def work(k):
        for _ in range(200):
            found = sd.output({"x": given[k]}, outs)
            wrong.extend(n for n in outs if not np.array_equal(found[n], alone[k][n]))
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_long_bodies_share_their_work_among_threads():
    sd = SameDiff.create()
    x, r = sd.placeholder("x", DataType.FLOAT, 2, 512, 512), sd.var("r", np.eye(512, dtype=np.float32))
    (last,), _ = sd.scan(lambda sd, c, e: ([c[0].mmul(r) + e[0]], []), [sd.zero("h", DataType.FLOAT, 512, 512)], [x])
    given = {"x": np.ones((2, 512, 512), np.float32)}
    assert (sd.output_single(given, last.name()) == 2).all()
    assert "steps called from Python: 1" in sd.explain(given, last.name())


@pytest.mark.parametrize(("kernels", "is_scan"), [(KERNELS, True), (KernelTable("none"), False)], ids=["cpu", "no kernels"])
def test_a_cell_becomes_a_scan_where_scans_have_a_kernel(kernels, is_scan):
    sd = SameDiff.create()
    x, w, rw = (sd.placeholder(n, DataType.FLOAT, *s) for n, s in (("x", (T, N, K)), ("w", (K, 8)), ("rw", (2, 8))))
    made = sd.add_op(LstmSequence(activation="sigmoid"), [x, w, rw])
    node = sd.producer(made[0].name())
    given = [None if n is None else sd.variable(n).spec for n in node.inputs]
    found = inlined(node, given, [sd.variable(n).spec for n in node.outputs], kernels)
    assert (found is not None and any(n.op.id == "scan" for n in found.nodes)) is is_scan


@pytest.mark.parametrize("given", [np.float32, np.float16], ids=["FLOAT", "HALF"])
def test_a_body_that_was_made_for_another_type(given, rng):
    body = SameDiff.create()
    carry, x = (body.placeholder(n, DataType.DOUBLE, 3) for n in "cx")
    outputs = [carry * x, carry + x]
    op = Scan(SubGraph(body, ("c", "x"), tuple(o.name() for o in outputs)), 1, 1)
    start, rows = rng.random(3).astype(given), rng.random((4, 3)).astype(given)
    sd = SameDiff.create()
    made = sd.add_op(op, [sd.constant("start", start), sd.var("rows", rows)])
    names = [m.name() for m in made]
    found = sd.output({}, *names)
    with mock.patch.dict(os.environ, {"DL4PY_EXECUTOR": "reference"}):
        for name, expected in sd.output({}, *names).items():
            assert found[name].dtype == expected.dtype
            np.testing.assert_array_equal(found[name], expected)
