"""Plans in words, and the time, bytes and operations of their steps."""
from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import GraphError
from dl4py.samediff.executor.cost_model import flops_of, sizes_of
from dl4py.samediff.executor.plan_cache import plan_for
from dl4py.samediff.executor.session import checked_feeds, request_for
from dl4py.samediff.executor.stepwise import _timed, profiled
from dl4py.samediff.ir.run_context import RunContext
from dl4py.samediff.plans.backend import Backend, backend_of

F = DataType.FLOAT


@pytest.fixture
def graph():
    sd = SameDiff.create()
    x = sd.placeholder("x", F, -1, 4)
    with sd.with_name_scope("one"):
        h = sd.nn.tanh(x.mmul(sd.var("w", np.full((4, 8), 0.1, "f4"))) + 1.0)
    with sd.with_name_scope("two"):
        sd.nn.softmax(h.mmul(sd.var("v", np.full((8, 3), 0.2, "f4")))).rename("y")
    return sd


def planned(sd, feeds, *outputs):
    feeds = checked_feeds(sd, feeds)
    return plan_for(sd, feeds, request_for(sd, outputs, False)), feeds


def test_operations_and_bytes_of_a_known_graph(graph):
    found = graph.profile({"x": np.ones((5, 4), "f4")}, "y", steps=2)
    products = [s for s in found.steps if s.op == "matmul"]
    assert [s.flops for s in products] == [2 * 5 * 4 * 8, 2 * 5 * 8 * 3]
    assert [s.bytes for s in products] == [4 * (5 * 4 + 4 * 8 + 5 * 8), 4 * (5 * 8 + 8 * 3 + 5 * 3)]
    fused, = (s for s in found.steps if s.op == "add_scalar+tanh")
    assert fused.flops == 2 * 5 * 8 and len(fused.members) == 2
    assert {s.layer for s in found.steps} == {"one", "two"} and {s.phase for s in found.steps} == {"forward"}
    assert all(s.way == "native" and s.seconds > 0 and not s.why for s in found.steps)
    assert found.flops == sum(s.flops for s in found.steps) and found.seconds == pytest.approx(sum(s.seconds for s in found.steps))


def test_groups_cover_all_steps(graph):
    found = graph.profile({"x": np.ones((5, 4), "f4")}, "y", steps=1)
    for groups in (found.by_layer(), found.by_op(), found.by_way(), found.by_phase()):
        assert sum(p.seconds for p in groups.values()) == pytest.approx(found.seconds)
        assert sum(len(p.steps) for p in groups.values()) == len(found.steps)
    times = [p.seconds for p in found.by_op().values()]
    assert times == sorted(times, reverse=True)
    document = json.loads(found.to_json())
    assert document["layers"]["one"]["flops"] == found.by_layer()["one"].flops and document["runs"]["plan"] > 0
    text = str(found)
    assert "GFLOP/s" in text and "matmul" in text and "add_scalar+tanh" in text


def test_gradients_belong_to_what_they_are_gradients_of(graph):
    graph.set_loss_variables(graph.variable("y").norm2("loss"))
    losses = [graph.variable(n) for n in graph.get_loss_variables()]
    (w, v) = graph.gradients(losses, [graph.variable("w"), graph.variable("v")])
    found = graph.profile({"x": np.ones((5, 4), "f4")}, w, v, steps=1)
    assert {s.layer for s in found.steps if s.phase == "backward"} >= {"one", "two"}
    back = [s.flops for s in found.steps if s.op == "matmul" and s.phase == "backward"]
    assert sorted(back) == [2 * 5 * 8 * 3, 2 * 5 * 8 * 3, 2 * 5 * 4 * 8]


def test_steps_give_what_the_plan_gives(rng):
    """Timing runs every step on the values of this very run: Python steps see them, and so do views and native calls after them."""
    sd = SameDiff.create()
    x = sd.placeholder("x", F, -1, 6)
    rows = sd.math.exp(x.reshape(-1, 2, 3).permute(1, 0, 2).reshape(-1))
    (sd.math.diag(rows).permute(1, 0) * 2.0 + rows).rename("y")
    value = rng.normal(size=(4, 6)).astype("f4")
    plan, feeds = planned(sd, {"x": value}, "y")
    seconds, values = _timed(plan, plan.new_frame(), feeds, RunContext(), 2)
    assert {s.kind.value for s in plan.steps} >= {"view", "python", "fused"} and len(seconds) == len(plan.steps)
    np.testing.assert_array_equal(values[plan.sources[0]], sd.output({"x": value}, "y")["y"])


def test_arrays_that_a_plan_writes_into_are_restored(graph):
    feeds = checked_feeds(graph, {"x": np.ones((5, 4), "f4")})
    target = np.full((5, 3), 7, np.float32)
    plan = plan_for(graph, feeds, request_for(graph, ("y",), False), {"y": target})
    profiled(plan, feeds, RunContext(), 1)
    assert (target == 7).all()
    plan.run(list(feeds.values()), RunContext())
    assert (target != 7).all()


def test_profiling_draws_no_random_numbers_of_the_graph():
    def numbers(profile):
        sd = SameDiff.create()
        sd.seed = 3
        sd.random.exponential("u", 1.0, F, 4)
        if profile:
            found = sd.profile(None, "u", steps=1)
            assert [s.why for s in found.steps] == ["draws random numbers"] and "draws random numbers" in str(found)
        return sd.output(None, "u")["u"]
    np.testing.assert_array_equal(numbers(True), numbers(False))


def test_convolutions_and_pools():
    sd = SameDiff.create()
    x = sd.placeholder("x", F, 2, 3, 8, 8)
    w = sd.var("w", np.ones((3, 3, 3, 5), "f4"))
    from dl4py.samediff import Conv2DConfig, Pooling2DConfig
    y = sd.cnn.conv2d(x, w, Conv2DConfig.builder().k_h(3).k_w(3).s_h(1).s_w(1).build())
    sd.cnn.max_pooling2d("p", y, Pooling2DConfig.builder().k_h(2).k_w(2).s_h(2).s_w(2).build())
    plan, _ = planned(sd, {"x": np.ones((2, 3, 8, 8), "f4")}, "p")
    counts = {s.nodes[0].op.id: flops_of(s.nodes[0], plan.specs) for s in plan.steps}
    assert counts["conv2d"] == 2 * (2 * 5 * 6 * 6) * (3 * 3 * 3)
    assert counts["maxpool2d"] == 2 * 5 * 3 * 3 * 4


def test_unknown_work_is_none():
    sd = SameDiff.create()
    x = sd.placeholder("x", F, 3, 3)
    sd.linalg.matrix_inverse(x).rename("y")
    plan, _ = planned(sd, {"x": np.eye(3, dtype="f4")}, "y")
    assert flops_of(plan.steps[0].nodes[0], plan.specs) is None


def test_repeated_memory_counts_once():
    assert sizes_of(np.broadcast_to(np.ones((3, 1), "f4"), (3, 100))) == 12
    assert sizes_of(np.ones((3, 4), "f8")) == 96
    assert sizes_of(np.float32(1)[...]) == 4


def test_explain_says_what_is_fused_where_and_why(graph):
    text = graph.explain({"x": np.ones((5, 4), "f4")}, "y")
    assert text.splitlines()[0] == "steps: 4, instructions: 4, native calls: 1, steps called from Python: 0"
    assert "native call of 4 instructions, by one thread:" in text
    assert "fused: one/add_scalar, one/tanh" in text and "arena of" in text and "@0" in text


@pytest.mark.parametrize(("make", "reason"), [
    (lambda sd, x: sd.math.list_diff(x, x)[0], "sizes that only a run can tell"),
    (lambda sd, x: sd.math.diag(x), "diag has no kernel"),
    (lambda sd, x: sd.nn.relu(x.cast(DataType.BFLOAT16), 0.0) + 1, "no compiled loop for relu+add_scalar of BFLOAT16"),
    (lambda sd, x: sd.random.exponential(1.0, F, 3) + x, "draws random numbers"),
])
def test_explain_says_why_a_step_runs_as_python(make, reason):
    sd = SameDiff.create()
    make(sd, sd.placeholder("x", F, 3)).rename("y")
    assert reason in sd.explain({"x": np.ones(3, "f4")}, "y")


def test_missing_placeholders_are_named(graph):
    with pytest.raises(GraphError, match="placeholder 'x'"):
        graph.explain({}, "y")


def test_traces_are_ordered(graph, tmp_path):
    graph.profile({"x": np.ones((5, 4), "f4")}, "y", steps=1).write_trace(tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    assert spans[0]["name"] == "matmul" and len(spans) == 4
    for one, two in pairwise(spans):
        assert two["ts"] == pytest.approx(one["ts"] + one["dur"], abs=0.01)
    assert {e["args"]["name"] for e in events if e["name"] == "thread_name"} == {"forward", "backward", "update"}


@pytest.mark.parametrize("backend", [backend_of(), Backend()], ids=lambda b: b.name)
def test_limits_are_measured_once(backend):
    first = backend.peak(np.dtype(np.float32))
    assert first.flops > 1e8 and first.bytes > 1e8 and backend.peak(np.dtype(np.float32)) is first
