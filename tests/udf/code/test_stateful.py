"""Ops with random numbers, as functions and classes, in graphs and on arrays."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import GradientError, RegistrationError
from dl4py.udf import UserOp, user_op
from dl4py.udf.code.run_code import StatefulCode


@user_op("test_stateful.jitter", stateful=True)
def jitter(xp, x, *, context, scale: float = 1.0):
    return x + (scale * context.random().normal(size=np.shape(x))).astype(x.dtype)


@user_op("test_stateful.noise")
class Noise(UserOp):
    stateful = True

    def compute(self, xp, x, *, context):
        return x + context.random().normal(size=np.shape(x)) if context.training else x * 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_on_arrays_each_call_draws_and_none_is_training(dtype):
    x = np.zeros((2, 3), dtype)
    first, second = jitter(x, scale=2.0), jitter(x, scale=2.0)
    assert first.shape == (2, 3) and first.dtype == dtype and not np.array_equal(first, second)
    np.testing.assert_array_equal(Noise()(x), x)


def test_in_graphs_each_run_draws_and_seeds_repeat():
    def values():
        sd = SameDiff.create()
        sd.seed = 3
        jitter("y", sd.placeholder("x", DataType.FLOAT, -1), scale=0.5)
        return [sd.output_single({"x": np.zeros(4)}, "y") for _ in range(2)]
    (a, b), (c, d) = values(), values()
    assert not np.array_equal(a, b)
    np.testing.assert_array_equal([a, b], [c, d])


def test_context_and_stateful_go_together():
    with pytest.raises(RegistrationError, match=r"test_stateful.a.*keyword.*context"):
        user_op("test_stateful.a", stateful=True)(lambda xp, x: x)
    with pytest.raises(RegistrationError, match=r"test_stateful.b.*stateful=True"):
        user_op("test_stateful.b")(lambda xp, x, *, context: x)
    with pytest.raises(RegistrationError, match=r"test_stateful.c.*context"):
        @user_op("test_stateful.c", stateful=True)
        class Wrong(UserOp):
            def compute(self, xp, x):
                return x


def test_the_decorator_makes_a_class_stateful():
    @user_op("test_stateful.d", stateful=True)
    class Drawn(UserOp):
        def compute(self, xp, x, *, context):
            return x + context.random().normal()
    assert Drawn.stateful and Drawn()(np.zeros(2)).shape == (2,)


@user_op("test_stateful.dropped", stateful=True)
def dropped(xp, x, *, context, p: float = 0.5):
    if not context.training:
        return x
    return xp.where(context.random().random(x.shape) < p, x / p, 0.0)


@user_op("test_stateful.drawn_twice", stateful=True)
def drawn_twice(xp, x, w, *, context):
    rng = context.random()
    first = rng.random(x.shape).astype(x.dtype) * (x @ w)
    return first, (rng.uniform(-1, 1, x.shape) + rng.normal(2.0, 0.5, size=x.shape)).astype(x.dtype) * x


@user_op("test_stateful.single", stateful=True)
def single(xp, x, *, context):
    return x * context.random().random(x.shape, np.float32)


@user_op("test_stateful.running", stateful=True)
def running(xp, x, mean, *, context):
    m = x.mean(0, keepdims=True) if context.training else mean
    return xp.tanh(x - m), m


def loss_graph(op, count, dtype=np.float32, open_sizes=False):
    rows = 1 if op is running else 4
    rng = np.random.default_rng(1)
    sd = SameDiff.create()
    sd.seed = 5
    shape = (4, 4) if not open_sizes else (-1, -1)
    a = rng.normal(size=(4, 4)).astype(dtype)
    given = [sd.placeholder("x", DataType.of(np.dtype(dtype)), *shape), *(sd.var(f"v{i}", a[:rows] + i) for i in range(1, count))]
    made = op(*given)
    made = made if isinstance(made, list) else [made]
    total = made[0].mul(made[0]).sum()
    for v in made[1:]:
        total = total + v.mul(v).sum()
    total.mark_as_loss()
    return sd, {"x": a}, [v.name() for v in made]


OPS = [(dropped, 1), (drawn_twice, 2), (single, 1), (running, 2)]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("open_sizes", [False, True])
@pytest.mark.parametrize(("op", "count"), OPS)
def test_array_code_runs_as_nodes_with_the_numbers_of_the_reference(op, count, open_sizes, monkeypatch):
    found = []
    for executor in ("", "reference"):
        monkeypatch.setenv("DL4PY_EXECUTOR", executor)
        sd, feeds, names = loss_graph(op, count, open_sizes=open_sizes)
        found.append([sd.output(feeds, *names), sd.compute(feeds, names, training=True), sd.calculate_gradients(feeds, "x")])
        if not executor:
            assert "stateful_code" not in sd.explain(feeds, *names, training=True) and op.id not in [
                line.split()[2] for line in sd.explain(feeds, *names, training=True).splitlines() if " python " in line]
    for fast, slow in zip(*found):
        for name in fast:
            np.testing.assert_allclose(fast[name], slow[name], rtol=1e-5, atol=1e-6)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("op", "count"), OPS)
def test_gradients_of_array_code_are_central_differences_of_the_same_draws(op, count):
    sd, feeds, _ = loss_graph(op, count, np.float64)
    (loss,) = sd.get_loss_variables()
    gradient = sd.calculate_gradients(feeds, "x")["x"]
    direction, h = np.random.default_rng(2).normal(size=(4, 4)), 1e-6

    def value(step):
        again, _, _ = loss_graph(op, count, np.float64)
        return again.calculate_gradients_and_outputs({"x": feeds["x"] + step * direction}, [loss], ["x"])[0][loss]
    np.testing.assert_allclose(np.vdot(gradient, direction), (value(h) - value(-h)) / (2 * h), rtol=1e-5)


def test_training_and_inference_are_two_forms():
    sd, feeds, (name, _) = loss_graph(running, 2)
    x = feeds["x"]
    np.testing.assert_allclose(sd.output(feeds, name)[name], np.tanh(x - (x[:1] + 1)), rtol=1e-6)
    np.testing.assert_allclose(sd.compute(feeds, [name], training=True)[name], np.tanh(x - x.mean(0)), rtol=1e-5)


def test_code_that_cannot_be_followed_needs_a_gradient():
    @user_op("test_stateful.by_iteration", stateful=True)
    def by_iteration(xp, x, *, context):
        return x * float(context.iteration)
    sd, feeds, names = loss_graph(by_iteration, 1)
    assert not sd.output(feeds, *names)[names[0]].any()
    with pytest.raises(GradientError, match=r"by_iteration.*context.iteration.*Write one"):
        sd.calculate_gradients(feeds, "x")


def test_a_noise_of_a_users_layer_runs_as_nodes():
    from dl4py.layers.ops.noise_ops import AddNoise

    class Own:
        def draw(self, rng, shape, dtype, iteration, epoch):
            return (rng.random(shape) < 0.5) / 0.5, None

    class ByIteration(Own):
        def draw(self, rng, shape, dtype, iteration, epoch):
            return rng.random(shape) * float(iteration + 1), None
    for noise, steps in ((Own(), 0), (ByIteration(), 1)):
        sd = SameDiff.create()
        sd.seed = 7
        y = sd.add_op(AddNoise(noise), [sd.placeholder("x", DataType.FLOAT, -1, 5)])
        x = np.ones((3, 5), np.float32)
        lines = sd.explain({"x": x}, y.name(), training=True).splitlines()
        assert sum(" python " in line for line in lines) == steps
        found = sd.compute({"x": x}, [y.name()], training=True)[y.name()]
        assert set(np.unique(found)) == {0.0, 2.0} if noise.__class__ is Own else (found <= 1).all()


def test_code_in_a_plan_keeps_the_node_that_it_is_of():
    code = StatefulCode(Noise())
    assert code.plan_rewrite("here").of == "here" and code.plan_rewrite("here").plan_rewrite("there").of == "here"


def test_code_that_a_class_inherits_is_told_whether_it_trains():
    class Base(UserOp):
        def compute(self, xp, x, *, training):
            return x + (1 if training else 0)
    first = user_op("test_stateful.first")(type("First", (Base,), {"compute": Base.compute}))
    second = user_op("test_stateful.second")(type("Second", (first,), {}))
    x = np.zeros(2)
    for op in (first, second):
        assert op.stateful and [op()(x, training=t).tolist() for t in (True, False)] == [[1, 1], [0, 0]]
