"""What plans promise: simplification, lifetimes, owned results, threads, caches."""
from __future__ import annotations

import threading

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff, device
from dl4py.samediff.base import call_cache
from dl4py.samediff.executor.plan_cache import plan_for
from dl4py.samediff.executor.session import checked_feeds, request_for
from dl4py.samediff.families.broadcasting import BroadcastReduced
from dl4py.samediff.ir.graph_plans import GraphPlans
from dl4py.samediff.plans.backend import backend_of
from dl4py.samediff.plans.memory import ALIGNMENT, Buffer, assign
from dl4py.samediff.plans.plan_data import ShapeSource, Workspace
from dl4py.udf import user_op
from tests.helpers.randomgraphs import agree, same

F = DataType.FLOAT


def plan_of(sd, feeds, *names, training=False):
    return plan_for(sd, checked_feeds(sd, feeds), request_for(sd, names, training))


def array(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.fixture
def small():
    """x (-1, 3) -> h = tanh(x w) -> y = softmax(h), with a variable w."""
    sd = SameDiff.create()
    x, w = sd.placeholder("x", F, -1, 3), sd.var("w", array(3, 4))
    sd.nn.softmax("y", sd.math.tanh("h", x.mmul("m", w)))
    return sd


# Simplification

def test_constants_are_computed_once():
    sd = SameDiff.create()
    x = sd.placeholder("x", F, -1, 3)
    c = sd.math.exp(sd.constant("c", array(3)) * 2.0)
    (x + c.sum()).rename("y")
    plan = plan_of(sd, {"x": array(2, 3)}, "y")
    assert len(plan.steps) == 1 and plan.steps[0].label == "add"
    agree(sd, {"x": array(2, 3)}, "y")


def test_equal_expressions_are_computed_once():
    sd = SameDiff.create()
    x = sd.placeholder("x", F, -1, 3)
    w = sd.var("w", array(3, 3))
    a, b = x.mmul("a", w), x.mmul("b", w)
    (a + b).rename("y")
    assert sum(s.label == a.sd.producer("a").op.id for s in plan_of(sd, {"x": array(2, 3)}, "y").steps) == 1
    found = agree(sd, {"x": array(2, 3)}, "a", "b", "y")
    assert found["a"] is not found["b"] and not np.shares_memory(found["a"], found["b"])


def test_gradients_run_as_soon_as_they_can():
    """What they read is forgotten then, and every process runs the same plan."""
    sd = SameDiff.create()
    h = sd.placeholder("x", F, -1, 3)
    for k in range(4):
        h = sd.math.tanh(h.mmul(sd.var(f"w{k}", array(3, 3, seed=k))))
    h.mark_as_loss()
    names = [f"w{k}" for k in range(4)]
    graph, found = sd.create_grad_function(*names), sd.tables.gradients.found
    feeds, wanted = {"x": array(2, 3)}, [found[n].name() for n in names]
    plan = plan_of(graph, feeds, *wanted, training=True)
    position = {n: i for i, s in enumerate(plan.steps) for n in s.outputs}
    places = [position[n] for n in plan.sources]
    assert list(found) == names and places == sorted(places, reverse=True)
    for at in places:
        assert max(position.get(n, 0) for n in plan.steps[at].inputs) == at - 1
    agree(graph, feeds, *wanted)


def test_only_the_shape_counts_beside_an_unknown_size():
    """What is not computed, as only its shape counts, is not asked for either, whatever else is known late."""
    sd = SameDiff.create()
    x, n = sd.placeholder("x", F, -1, 3), sd.placeholder("n", DataType.INT, 1)
    h, axes = sd.math.tanh(x) * 2.0, sd.var("axes", np.array([1], np.int32))
    late = sd.fill(n, F, 2.5)
    sd.add_op(BroadcastReduced((1,)), [late, h, axes]).rename("y")
    agree(sd, {"x": array(2, 3), "n": np.array([2], np.int32)}, "y")


def test_a_rectifier_keeps_its_result_alone():
    sd = SameDiff.create()
    b = sd.var("b", array(4))
    inner = sd.placeholder("x", F, -1, 4) + b
    sd.nn.relu(inner, 0.5).mmul(sd.var("w", array(4, 4))).mark_as_loss()
    graph, found = sd.create_grad_function("b", "w"), sd.tables.gradients.found
    plan = plan_of(graph, {"x": array(8, 4)}, found["b"].name(), found["w"].name(), training=True)
    assert inner.name() not in {n for s in plan.steps for n in s.outputs}


def test_the_gradient_of_a_rectifier_at_its_cutoff():
    sd = SameDiff.create()
    x = sd.var("x", np.array([-1, 0.25, np.nextafter(np.float32(0.25), 1, dtype=np.float32), 3, np.nan], np.float32))
    sd.nn.relu(x, 0.25).sum().mark_as_loss()
    np.testing.assert_array_equal(sd.calculate_gradients({}, "x")["x"], [0, 0, 1, 1, 1])


@pytest.mark.parametrize("axes", [(0, 2, 1, 3), (2, 0, 1, 3), (0, 1, 3, 2), (0, 3, 1, 2), (3, 2, 1, 0), ()], ids=str)
def test_products_lie_as_they_are_read(axes):
    """Only where that costs nothing: one of the axes of the matrices stays the last one in memory."""
    sd = SameDiff.create()
    x, y = sd.placeholder("x", F, -1, 2, 5, 3), sd.placeholder("y", F, -1, 2, 3, 6)
    z = sd.linalg.matmul(x, y).permute(*axes)
    sd.math.tanh("t", z.reshape(-1, 6))
    feeds = {"x": array(4, 2, 5, 3), "y": array(4, 2, 3, 6)}
    plan = plan_of(sd, feeds, "t")
    frame = plan.peek()
    assert frame.layouts[z.name()].flags.c_contiguous == (axes[-1:] in ((3,), (2,)))
    assert not frame.calls and not frame.copies
    agree(sd, feeds, "t")


@pytest.mark.parametrize("first, then, whole", [
    ((0, 1, 3, 2), (0, 2, 1, 3), True), ((0, 2, 1, 3), (0, 1, 3, 2), False), ((0, 2, 1, 3), (0, 2, 1, 3), True),
    ((1, 0, 2, 3), (0, 2, 1, 3), True)],
    ids=str)
def test_products_lie_as_the_last_permutation_reads_them(first, then, whole):
    sd = SameDiff.create()
    x, y = sd.placeholder("x", F, -1, 2, 5, 3), sd.placeholder("y", F, -1, 2, 3, 6)
    z = sd.linalg.matmul(x, y).permute(*first).permute(*then)
    sd.math.tanh("t", z.reshape(-1))
    feeds = {"x": array(4, 2, 5, 3), "y": array(4, 2, 3, 6)}
    frame = plan_of(sd, feeds, "t").peek()
    assert frame.layouts[z.name()].flags.c_contiguous == whole
    assert not frame.calls and not frame.copies
    agree(sd, feeds, "t")


def test_products_that_others_read_keep_their_order():
    sd = SameDiff.create()
    x = sd.placeholder("x", F, -1, 2, 5, 5)
    z = sd.linalg.matmul("z", x, x)
    sd.math.tanh("t", z.permute(0, 2, 1, 3).reshape(-1, 10))
    sd.math.exp("e", z)
    agree(sd, {"x": array(4, 2, 5, 5)}, "t", "e")
    agree(sd, {"x": array(4, 2, 5, 5)}, "t", "z")
    assert not plan_of(sd, {"x": array(4, 2, 5, 5)}, "t", "e").orders and not plan_of(sd, {"x": array(4, 2, 5, 5)}, "t", "z").orders


def test_random_ops_are_no_equal_expressions():
    sd = SameDiff.create()
    a, b = sd.random.uniform("a", 0.0, 1.0, F, 50), sd.random.uniform("b", 0.0, 1.0, F, 50)
    values = sd.output({}, "a", "b")
    assert not np.array_equal(values["a"], values["b"]) and a is not b


def test_what_nobody_asks_for_is_left_out(small):
    small.math.log("unused", small.variable("x").mmul(small.variable("w")))
    labels = {n for s in plan_of(small, {"x": array(2, 3)}, "m").steps for n in s.outputs}
    assert labels == {"m"}
    assert "x" not in request_for(small, ["w"], False).placeholders
    same(small.output({}, "w")["w"], small.variable("w").get_arr())


def test_dropout_is_gone_at_inference():
    sd = SameDiff.create()
    x = sd.placeholder("x", F, -1, 50)
    sd.nn.dropout_inverted("d", x, 0.5)
    ones = np.ones((4, 50), np.float32)
    assert not plan_of(sd, {"x": ones}, "d").steps
    assert np.array_equal(sd.output({"x": ones}, "d")["d"], ones)
    assert any(s.stateful for s in plan_of(sd, {"x": ones}, "d", training=True).steps)


# Outputs

def test_results_belong_to_the_caller(small):
    sd = small
    x = sd.variable("x")
    sd.constant("c", array(2, 2))
    x.permute(1, 0).rename("turned")
    sd.variable("w").reshape(4, 3).rename("seen")
    x.reshape(-1).rename("flat")
    names = ["y", "h", "m", "turned", "seen", "flat", "w", "c", "x", "y"]
    feeds = {"x": array(5, 3, seed=1)}
    wanted = agree(sd, feeds, *dict.fromkeys(names))
    kept = {n: a.copy() for n, a in wanted.items()}
    for a in wanted.values():
        assert a.flags.writeable and a.flags.c_contiguous
        a[...] = 77
    again = sd.output(feeds, *names)
    for name, value in kept.items():
        same(again[name], value, 0.0)
    third = sd.output({"x": array(5, 3, seed=2)}, *names)
    for name, value in kept.items():
        same(again[name], value, 0.0)
        assert name in ("w", "c", "seen") or not np.array_equal(third[name], value)
        assert not np.shares_memory(again[name], third[name])


def test_one_result_twice(small):
    plan = plan_of(small, {"x": array(2, 3)}, "y", "y", "h", "y")
    from dl4py.samediff.ir.run_context import RunContext
    results = plan.run([array(2, 3)], RunContext())
    assert len({id(r) for r in results}) == 4
    same(results[0], results[1], 0.0)
    assert not any(np.shares_memory(a, b) for i, a in enumerate(results) for b in results[:i])


# Memory

@pytest.mark.parametrize("seed", range(20))
def test_buffers_alive_together_do_not_overlap(seed):
    rng = np.random.default_rng(seed)
    buffers = {}
    for i in range(60):
        first = int(rng.integers(0, 40))
        buffers[f"b{i}"] = Buffer(int(rng.integers(0, 3000)), first, first + int(rng.integers(0, 12)))
    offsets, total = assign(buffers)
    assert set(offsets) == set(buffers) and all(o % ALIGNMENT == 0 for o in offsets.values())
    assert all(offsets[n] + b.size <= total for n, b in buffers.items())
    for n, a in buffers.items():
        for m, b in buffers.items():
            if n < m and a.first <= b.last and b.first <= a.last and a.size and b.size:
                assert offsets[n] + a.size <= offsets[m] or offsets[m] + b.size <= offsets[n]
    busiest = max(sum(-(-b.size // ALIGNMENT) * ALIGNMENT for b in buffers.values() if b.first <= t <= b.last) for t in range(60))
    assert busiest <= total <= 2 * busiest


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(4))
def test_long_chains_with_skip_connections(seed):
    rng = np.random.default_rng(seed)
    sd = SameDiff.create()
    w = sd.var("w", array(6, 6, seed=seed) / 2)
    made = [sd.placeholder("x", F, -1, 6)]
    for _ in range(60):
        x = made[-1]
        kind = rng.integers(4)
        if kind == 0:
            x = x.mmul(w)
        elif kind == 1:
            x = sd.nn.softmax(x)
        elif kind == 2:
            x = sd.math.tanh(x.permute(1, 0)).permute(1, 0)
        skip = made[rng.integers(len(made))]
        made.append(sd.math.tanh(x + skip))
    names = [v.name() for v in made[1:]]
    plan = plan_of(sd, {"x": array(3, 6)}, names[-1])
    assert plan.arena < 8 * 3 * 64 * 60
    agree(sd, {"x": array(3, 6)}, names[-1])
    agree(sd, {"x": array(3, 6)}, *names[::7])


# Failures

def test_a_failing_run_leaves_the_plan_usable(small):
    class Refusal(Exception):
        pass

    @user_op("test.plans.refuses")
    def refuses(xp, x):
        if float(x.max()) > 50:
            raise Refusal("too large")
        return x * 2

    try:
        sd = SameDiff.create()
        x = sd.placeholder("x", F, -1, 3)
        sd.op("test.plans.refuses", "z", sd.math.tanh(x) + x).add("y", 1.0)
        feeds = {"x": array(4, 3)}
        wanted = agree(sd, feeds, "y")["y"]
        for _ in range(3):
            with pytest.raises(Refusal) as error:
                sd.output({"x": array(4, 3) + 100}, "y")
            assert "test.plans.refuses" in str(error.value.__notes__) and "test_plan_cache.py" in str(error.value.__notes__)
            same(sd.output(feeds, "y")["y"], wanted, 0.0)
    finally:
        from dl4py.samediff.ir.op import OPS
        OPS.remove("test.plans.refuses")


# Threads, caches

def test_many_threads_on_one_graph(small):
    feeds = [{"x": array(n, 3, seed=n)} for n in range(1, 9)]
    wanted = [small.output(f, "y", "h") for f in feeds]
    wrong = []
    start = threading.Barrier(32)

    def work(k):
        start.wait()
        for i in range(60):
            j = (i * 7 + k) % len(feeds)
            found = small.output(feeds[j], "y", "h")
            if not all(np.array_equal(found[n], wanted[j][n]) for n in found):
                wrong.append(j)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(32)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_old_plans_make_room(small, monkeypatch):
    monkeypatch.setattr(call_cache, "MAX_ENTRIES", 4)
    small.tables.plans = GraphPlans()
    for n in (*range(1, 12), 1, 5):
        agree(small, {"x": array(n, 3)}, "y")
        assert len(small.tables.plans.built) <= 4 and len(small.tables.plans.known) <= 4


def test_new_values_are_seen_by_the_next_run(small):
    feeds = {"x": array(2, 3)}
    small.constant("c", array(4))
    (small.variable("y") + small.variable("c") * 2.0).rename("z")
    before = agree(small, feeds, "y", "z")
    small.set_array("w", array(3, 4, seed=9))
    middle = agree(small, feeds, "y", "z")
    small.set_array("c", array(4, seed=9))
    after = agree(small, feeds, "y", "z")
    assert not np.array_equal(before["y"], middle["y"]) and np.array_equal(middle["y"], after["y"])
    assert not np.array_equal(middle["z"], after["z"])
    small.variable("w").get_arr()[...] = 0
    same(small.output(feeds, "m")["m"], np.zeros((2, 4), np.float32))


def test_a_changed_graph_gets_new_plans(small):
    feeds = {"x": array(2, 3)}
    first = agree(small, feeds, "y")["y"]
    small.variable("y").add("more", 1.0)
    same(agree(small, feeds, "more")["more"], first + 1)
    small.variable("more").rename("other")
    same(agree(small, feeds, "other")["other"], first + 1)
    small.variable("w").convert_to_constant()
    same(agree(small, feeds, "y")["y"], first)


def test_plans_of_older_versions_are_not_remembered(small):
    """A run that ends after the graph was changed must not leave its plan behind."""
    feeds = {"x": array(2, 3)}
    small.output(feeds, "y")
    old, cache = dict(small.tables.plans.known), small.tables.plans
    small.variable("w").convert_to_constant()
    small.output(feeds, "y")
    (key, plan), = old.items()
    cache.remember(small.version - 1, key, plan)
    assert cache.known[key] is not plan


def test_explain_names_what_runs(small):
    plan = plan_of(small, {"x": array(2, 3)}, "y")
    text = backend_of(plan.where).explain(plan)
    assert "arena" in text and "softmax" in text and "tanh" in text


@pytest.mark.parametrize("shape", [(1, 3), (0, 3)])
def test_smallest_batches(small, shape):
    found = agree(small, {"x": array(*shape)}, "y", "h", "m")
    assert found["y"].shape == (shape[0], 4)


def test_inputs_that_share_memory_with_results_of_earlier_runs(small):
    sd = SameDiff.create()
    x = sd.placeholder("x", F, -1)
    (x * 2.0).add("y", 1.0)
    value = np.ones(4, np.float32)
    for _ in range(5):
        wanted = value * 2 + 1
        value = sd.output({"x": value}, "y")["y"]
        same(value, wanted)


def trained(steps=4):
    from dl4py.samediff import Adam, DataSet, L2Regularization, TrainingConfig
    sd = SameDiff.create()
    x, y = sd.placeholder("x", F, -1, 3), sd.placeholder("y", F, -1, 2)
    h = sd.nn.dropout_inverted(sd.math.tanh(x.mmul(sd.var("w", array(3, 5))) + sd.var("b", array(5))), 0.8)
    sd.loss.softmax_cross_entropy("loss", y, h.mmul(sd.var("v", array(5, 2))), None)
    sd.set_training_config(TrainingConfig(Adam(0.05), [L2Regularization(0.01)], data_set_feature_mapping="x", data_set_label_mapping="y"))
    for k in range(steps):
        n = 4 + k % 2
        sd.fit(DataSet(array(n, 3, seed=k), np.eye(2, dtype=np.float32)[np.arange(n) % 2]))
    return {name: sd.variable(name).get_arr() for name in ("w", "b", "v")}


def test_training_by_the_reference_executor(monkeypatch):
    found = trained()
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    for name, value in trained().items():
        same(found[name], value)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["network", "graph"])
def test_networks_by_the_reference_executor(monkeypatch, kind):
    from dl4py.layers import (
        LSTM,
        BatchNormalization,
        ConvolutionLayer,
        DenseLayer,
        InputType,
        OutputLayer,
        RnnOutputLayer,
        SubsamplingLayer,
    )
    from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
    from dl4py.samediff import Nesterovs

    def run():
        builder = NeuralNetConfiguration.Builder().seed(3).updater(Nesterovs(0.05)).l2(0.01).activation("tanh")
        if kind == "network":
            made = builder.list(ConvolutionLayer(kernel_size=3, n_out=2), BatchNormalization(), SubsamplingLayer(kernel_size=2, stride=2),
                                DenseLayer(n_out=4), OutputLayer(n_out=2)).set_input_type(InputType.convolutional(8, 8, 1)).build()
            x, y = array(6, 1, 8, 8), np.eye(2, dtype=np.float32)[[0, 1] * 3]
        else:
            made = builder.list(LSTM(n_in=3, n_out=4), RnnOutputLayer(n_in=4, n_out=2)).build()
            x, y = array(6, 3, 5), np.eye(2, dtype=np.float32)[np.arange(30) % 2].reshape(6, 5, 2).transpose(0, 2, 1)
        net = MultiLayerNetwork(made).init()
        for _ in range(3):
            net.fit(x, y)
        return net.params(), net.output(x), np.float32(net.score())

    found = run()
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    for a, b in zip(found, run()):
        same(a, b, 2e-5)


@pytest.mark.parametrize("name", ["~x", "shape of x", "0:work0", "~", "random state of the run"])
@pytest.mark.parametrize("where", ["cpu", "numpy only"])
def test_no_name_of_a_variable_means_anything_to_a_plan(name, where):
    sd = SameDiff.create()
    x, y, w = sd.placeholder("x", F, 3, 4), sd.placeholder("y", F, 12), sd.var(name, array(2, 2))
    like = sd.reshape_like(sd.math.exp(y), x)           # of x only the shape is looked at
    sd.nn.softmax("rows", like.mmul(sd.math.tanh(like.permute(1, 0))))
    w.mmul("square", w)
    feeds = {"x": array(3, 4), "y": array(12)}
    if where == "cpu":
        agree(sd, feeds, "rows", "square")
    else:
        import tests.samediff.plans.toy  # noqa: F401 - makes the device known
        with device("toy"):
            agree(sd, feeds, "rows", "square")


def test_a_plan_says_what_it_is_made_of():
    sd = SameDiff.create()
    x, y = sd.placeholder("x", F, 3, 4), sd.placeholder("y", F, 12)
    sd.nn.softmax("rows", sd.reshape_like(y * y, x))
    plan = plan_of(sd, {"x": array(3, 4), "y": array(12)}, "rows")
    used = {n for s in plan.steps for n in s.inputs}
    assert ShapeSource("x") in used and "x" not in used and plan.given == plan.feeds
    assert {n for n, spec in plan.specs.items() if isinstance(n, str)} >= {n for s in plan.steps for n in s.outputs}
    assert sorted(plan.workspaces) == [Workspace(i, k) for i, s in enumerate(plan.steps) for k in range(len(s.workspace))]
