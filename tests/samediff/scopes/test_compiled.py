"""Compiled functions: traced once for each form, replayed, differentiated, or run step by step with a word."""
from __future__ import annotations

import asyncio
import dataclasses
import functools
import random
import threading
import warnings
from collections import namedtuple

import numpy as np
import pytest

from dl4py import CompiledGraphFunction, DataType, EagerOps, INDArray, Nd4j, SameDiff, compiled
from dl4py.samediff.device import devices
from dl4py.samediff.errors import DataTypeError, GradientError, GraphError

ops = EagerOps()
X, W = np.arange(6, dtype=np.float64).reshape(2, 3) / 5, np.arange(12, dtype=np.float64).reshape(3, 4) / 7 - 0.5


def counting(function, **options):
    """The function compiled, and a list that grows with each tracing."""
    traced = []

    def call(*args, **kwargs):
        traced.append(1)
        return function(*args, **kwargs)
    return compiled(call, **options), traced


def test_it_is_traced_once_for_a_form():
    f, traced = counting(lambda x, w: np.tanh(x @ w).sum(axis=0))
    for k in (1, 2, 3):
        np.testing.assert_allclose(f(X * k, W), np.tanh(X * k @ W).sum(axis=0), rtol=1e-12)
    assert len(traced) == 1
    f(X.astype(np.float32), W.astype(np.float32)), f(X[:1], W)
    assert len(traced) == 3


def test_an_open_batch_is_traced_once():
    f, traced = counting(lambda x: ops.nn.softmax(x).sum(axis=1), open_batch=True)
    for n in (1, 2, 7, 0):
        np.testing.assert_allclose(f(np.ones((n, 3))), np.ones(n))
    assert len(traced) == 1


@dataclasses.dataclass
class Pair:
    first: object
    second: object


@pytest.mark.parametrize("value", [(X, W), [X, [W]], {"a": X, "b": (W, X)}, Pair(X, {"w": W})], ids=["tuple", "list", "dict", "dataclass"])
def test_trees_go_in_and_come_out(value):
    def twice(tree):
        if isinstance(tree, dict):
            return {k: twice(v) for k, v in tree.items()}
        if isinstance(tree, (tuple, list)):
            return type(tree)(twice(v) for v in tree)
        if isinstance(tree, Pair):
            return Pair(twice(tree.first), twice(tree.second))
        return tree * 2
    found, wanted = compiled(twice)(value), twice(value)
    assert type(found) is type(wanted)

    def leaves(tree):
        if isinstance(tree, Pair):
            return [*leaves(tree.first), *leaves(tree.second)]
        if isinstance(tree, dict):
            return [x for v in tree.values() for x in leaves(v)]
        return [x for v in tree for x in leaves(v)] if isinstance(tree, (tuple, list)) else [tree]
    for a, b in zip(leaves(found), leaves(wanted)):
        np.testing.assert_array_equal(a, b)


def test_other_arguments_are_static():
    f, traced = counting(lambda x, *, power, name="a": x ** power if name == "a" else -x)
    assert f(np.float64(3), power=2) == 9 and f(np.float64(4), power=2) == 16 and len(traced) == 1
    assert f(np.float64(3), power=3) == 27 and f(np.float64(3), power=3, name="b") == -3 and len(traced) == 3


def test_numbers_from_outside_are_read_anew():
    scale = INDArray.of(np.array([2.0]))
    f = compiled(lambda x: x * scale)
    assert f(np.ones(2)).tolist() == [2, 2]
    scale.assign(5)
    assert f(np.ones(2)).tolist() == [5, 5]


def central(function, x, h=1e-6):
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += h
        down[i] -= h
        found[i] = (float(function(up)) - float(function(down))) / (2 * h)
    return found


@pytest.mark.sampled(6)
@pytest.mark.parametrize("function", [
    lambda x: np.sum(np.tanh(x @ W) ** 2), lambda x: ops.nn.softmax(x)[:, 0].sum(), lambda x: np.where(x > 0.5, x ** 3, np.sin(x)).sum(),
    lambda x: np.linalg.norm(x), lambda x: np.log1p(np.exp(x)).mean(), lambda x: (np.cumsum(x, axis=1) * x).sum()])
def test_gradients_to_the_second_order(function):
    f = compiled(function)
    np.testing.assert_allclose(f.gradient()(X), central(f, X), rtol=1e-5, atol=1e-7)
    value, gradient = f.value_and_gradient()(X)
    np.testing.assert_allclose(value, function(INDArray.of(X)), rtol=1e-12)
    np.testing.assert_allclose(gradient, f.gradient()(X), rtol=1e-12)
    second = compiled(lambda x: (f.gradient()(x) ** 2).sum())
    np.testing.assert_allclose(second.gradient()(X), central(second, X), rtol=1e-4, atol=1e-6)


def test_gradients_by_several_arguments_have_their_forms():
    f = compiled(lambda p, x: ((x @ p["w"] + p["b"]) ** 2).sum())
    p = {"w": W, "b": np.zeros(4)}
    by_p, by_x = f.gradient((0, "x"))(p, X)
    assert set(by_p) == {"w", "b"} and by_x.shape == X.shape
    np.testing.assert_allclose(by_p["b"], 2 * (X @ W).sum(axis=0))
    for wrong in ((2,), "y"):
        with pytest.raises(GradientError, match="was not given"):
            f.gradient(wrong)(p, X)
    with pytest.raises(GradientError, match="floating"):
        compiled(lambda n: n * 2).gradient()(np.arange(3))
    with pytest.raises(GradientError, match="one floating array"):
        compiled(lambda x: (x, x)).gradient()(X)


def test_what_cannot_be_compiled_runs_step_by_step_with_one_warning():
    f = compiled(lambda x: x * 2 if x.sum() > 0 else -x)
    with pytest.warns(UserWarning, match=r"step by step.*test_compiled.py:\d+"):
        assert f(np.ones(2)).tolist() == [2, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(-np.ones(2)).tolist() == [1, 1] and f(np.ones(3)).tolist() == [2, 2, 2]
    with pytest.raises(GradientError, match="no compiled gradient"):
        f.gradient()(np.ones(2))


def test_errors_of_the_function_are_its_own():
    f = compiled(lambda x: ops.mmul(x, x))
    with pytest.raises(Exception, match="mmul|matmul|shape"):
        f(X)


def test_control_flow_is_compiled():
    def steps(x):
        doubled = Nd4j.while_loop(x, lambda v: v.sum() < 100, lambda v: v * 2)
        chosen = Nd4j.if_cond(x.sum() > 0, lambda: x + 1, lambda: x - 1)
        last, sums = Nd4j.scan(lambda total, row: (total + row, total), np.zeros(3), x)
        return doubled, chosen, last, sums
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f = compiled(steps)
        for x in (X, -X + 3, X * 9):
            for a, b in zip(f(x), steps(INDArray.of(x))):
                np.testing.assert_allclose(a, b, rtol=1e-12)


def test_the_form_of_dl4j():
    fn = Nd4j.compile(2, lambda inputs: [Nd4j.nn.gelu(Nd4j.layerNorm(Nd4j.matmul(inputs[0], inputs[1]), None, None, True, 1))])
    assert isinstance(fn, CompiledGraphFunction)
    (first,), (second,) = fn.execute(X, W), fn.execute(X, W)
    np.testing.assert_array_equal(first, second)
    rows = X @ W
    normal = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)
    assert np.abs(np.asarray(first) - ops.nn.gelu(normal)).max() < 1e-3
    with pytest.raises(GraphError, match="for 2 arrays; got 1"):
        fn.execute(X)
    fn.close()
    with pytest.raises(GraphError, match="was closed"):
        fn.execute(X, W)
    with Nd4j.compile(1, lambda inputs: inputs[0] * 2) as double:
        assert double.execute(X)[0].tolist() == (X * 2).tolist()
    with pytest.raises(GraphError, match="number of arrays first"):
        Nd4j.compile(lambda inputs: inputs, 2)


def test_the_graph_is_at_hand(tmp_path):
    f = compiled(lambda x, w: np.tanh(x @ w))
    sd = f.graph(X, W)
    assert isinstance(sd, SameDiff) and sd.inputs() == ["x", "w"]
    sd.save(tmp_path / "f.sdz")
    (name,) = sd.outputs()
    loaded = SameDiff.load(tmp_path / "f.sdz")
    np.testing.assert_allclose(loaded.output({"x": X, "w": W}, name)[name], f(X, W), rtol=1e-12)
    assert "matmul" in sd.explain({"x": X, "w": W}, name)


def test_random_numbers_follow_the_seed():
    def noisy(x):
        return x + ops.random.normal(0.0, 1.0, "DOUBLE", 3)
    f, g = (compiled(noisy, seed=7) for _ in range(2))
    first, second = f(np.zeros(3)), f(np.zeros(3))
    assert first.tolist() != second.tolist()
    assert [g(np.zeros(3)).tolist(), g(np.zeros(3)).tolist()] == [first.tolist(), second.tolist()]


def test_threads_share_it():
    f, wrong = compiled(lambda x: (x * 2).sum(axis=1)), []

    def work(k):
        for n in range(1, 30):
            x = np.full((n % 5 + 1, 4), k, np.float64)
            if f(x).tolist() != [8.0 * k] * len(x):
                wrong.append((k, n))
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_many_forms_stay_bounded():
    f, _ = counting(lambda x: x + 1)
    for n in range(1, 1200):
        f(np.ones(n % 600 + 1, np.float32))
    assert len(f._programs) <= 1024 and len(f._replays) <= 1024


def test_methods_and_decorators():
    class Model:
        scale = 3

        @compiled(open_batch=True)
        def run(self, x):
            return x * self.scale
    assert Model().run(np.ones(2)).tolist() == [3, 3]
    with pytest.raises(GraphError, match="a function is compiled"):
        compiled(3)


@pytest.mark.parametrize("draw", [
    lambda: Nd4j.rand(DataType.DOUBLE, 2, 3), lambda: Nd4j.randn(2, 3), lambda: Nd4j.getRandom().nextDouble(),
    lambda: Nd4j.randomBernoulli(0.5, 2, 3), lambda: Nd4j.choice(INDArray.of([1.0, 2.0]), INDArray.of([0.5, 0.5]), 3)])
def test_numbers_of_the_generator_are_drawn_in_each_call(draw):
    f = compiled(lambda x: x + draw())
    Nd4j.getRandom().setSeed(3)
    with pytest.warns(UserWarning, match="step by step.*Nd4j.random") as said:
        found = [np.asarray(f(X)) for _ in range(8)]
    Nd4j.getRandom().setSeed(3)
    np.testing.assert_array_equal(found, [X + np.asarray(draw()) for _ in range(8)])
    assert len(said) == 1 and np.ptp(found, axis=0).any()


def test_ops_of_random_are_compiled():
    f = compiled(lambda x: x + Nd4j.random.uniform(0.0, 1.0, DataType.DOUBLE, 2, 3), seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (np.asarray(f(X)) != np.asarray(f(X))).any()


def test_an_open_batch_counts_positions_from_its_end():
    last = compiled(lambda x: x[np.array([-1, 0])] * 2, open_batch=True)
    for n in (2, 5):
        x = np.arange(3.0 * n).reshape(n, 3)
        assert last(x).tolist() == (x[[-1, 0]] * 2).tolist()
        assert compiled(lambda a: (a * 1).fill(3) or (a * 2).assign(4) + a, open_batch=True)(x).tolist() == (x + 4).tolist()
        assert compiled(lambda a: INDArray.of(a).getRow(0), open_batch=True)(x).tolist() == x[0].tolist()
        assert compiled(lambda a: INDArray.of(a).getRow(-1, True), open_batch=True)(x).tolist() == x[-1:].tolist()
        assert compiled(lambda a: INDArray.of(a).T.getColumn(-1, True), open_batch=True)(x).tolist() == x.T[:, -1:].tolist()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("choose", ["np.max", "np.min", "Nd4j.normmax", "np.ptp", "Nd4j.max", "abs_max"])
def test_the_largest_element_counts_once_where_it_stands_twice(choose):
    function = {"abs_max": lambda x: x.amax()}.get(choose) or eval(choose)
    slope = compiled(lambda x: function(np.concatenate([x, x, 3 * x[:1] if choose == "np.ptp" else x]))).gradient()
    assert float(slope(np.array([2.0])).sum()) == {"np.ptp": 2.0}.get(choose, 1.0)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float16, np.float32, np.int64])
def test_positions_in_an_open_batch_are_exact_in_any_type(dtype):
    x = (np.arange(6000).reshape(3000, 2) % 7).astype(dtype)
    for call in (lambda a: a[np.array([-1, 0, -2999])], lambda a: np.take(a, np.array([-1, 3, 9999]), axis=0, mode="clip"),
                 lambda a: np.take(a, np.array([-1, 3, 9999]), axis=0, mode="wrap"), lambda a: a[0] * 0 + a.shape[0] % 100):
        found = compiled(call, open_batch=True)(x)
        np.testing.assert_array_equal(found, call(x))


def test_open_sizes_are_not_said_to_differ():
    same = compiled(lambda a: INDArray.of(a).equalShapes(INDArray.of(a + 1)), open_batch=True)
    with pytest.warns(UserWarning, match="anew for each size"):
        assert same(X)


def test_assigning_does_not_add_axes():
    """Axes of size 1 in front are left out; whether an open one is 1 nobody knows."""
    def assign(a, b):
        made = INDArray.of(a * 1)
        made[...] = b
        return made
    a, b = INDArray.of(np.zeros((2, 3))), INDArray.of(np.ones((1, 2, 3)))
    assert compiled(assign)(a, b).tolist() == b[0].tolist()
    with pytest.warns(UserWarning, match="anew for each size"):
        assert compiled(assign, open_batch=True)(a, b).tolist() == b[0].tolist()


def test_code_of_ops_sees_arrays_of_numpy():
    """Methods of sub-classes do other things, and refuse others."""
    x, w = INDArray.of(np.ones((3, 3))), INDArray.of(np.ones(3))
    loss = compiled(lambda x, w: ops.loss.softmax_cross_entropy(x, x, w))
    assert [float(loss(x, w)) for _ in range(3)] == [float(loss(np.asarray(x), np.asarray(w)))] * 3


@pytest.mark.plans
def test_containers_of_arrays_are_replayed(monkeypatch):
    """From the second call on nothing but the plan runs, for each form and each value of what is no array."""
    monkeypatch.setattr(devices, "active", False)           # which other tests of this process may have chosen
    f = compiled(lambda p, *, twice: p["a"] @ p["b"] * (2 if twice else 1))
    p = {"a": np.ones((2, 3)), "b": np.full((3, 1), 2.0)}
    wanted = {t: f(p, twice=t).tolist() for t in (False, True)}
    monkeypatch.setattr(f, "_program", None)
    assert {t: f(p, twice=t).tolist() for t in wanted} == wanted == {False: [[6], [6]], True: [[12], [12]]}
    assert f({"a": 2 * p["a"], "b": p["b"]}, twice=False).tolist() == [[12], [12]]


@pytest.mark.parametrize("call", [
    lambda x: x.shape[0] + x, lambda x: x - x.shape[0], lambda x: x.shape[0] / x, lambda x: x.shape[0] ** x, lambda x: x.shape[0] > x,
    lambda x: x.shape[0] == x, lambda x: (2 * x.shape[0] + 1) * x, lambda x: np.shape(x)[0] % x, lambda x: np.maximum(x.shape[0], x)])
def test_open_sizes_are_numbers_beside_arrays(call):
    f = compiled(call, open_batch=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (2, 3):
            x = INDArray.of(np.linspace(1, 4, 2 * n).reshape(n, 2))
            found, wanted = f(x), call(x)
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted)


def test_forms_that_look_alike_are_told_apart():
    traced = []

    @compiled
    def f(*args, **kwargs):
        traced.append((args, kwargs))
        parts = [a.values() if isinstance(a, dict) else a if isinstance(a, (list, tuple)) else [a] for a in (*args, *kwargs.values())]
        leaves = [v for part in parts for v in part]
        return {"sum": sum(v * (k + 1) for k, v in enumerate(leaves)), "count": [len(args), len(kwargs)]}
    calls = [((X, X), {}), (([X, X],), {}), (((X, X),), {}), (({"a": X, "b": X},), {}), ((), {"a": X, "b": X}), (({"b": X, "a": X},), {}),
             ((X,), {"a": X}), ((X, 1), {}), ((X, 1.0), {}), ((X, True), {}), ((X, 0.0), {}), ((X, -0.0), {}), ((X,), {"a": 1}),
             ((INDArray.of(X), X), {}), ((X.astype(np.float32), X), {})]
    for _ in range(3):
        for args, kwargs in calls:
            found, wanted = f(*args, **kwargs), f.__wrapped__(*args, **kwargs)
            np.testing.assert_array_equal(found["sum"], wanted["sum"])
            assert [int(n) for n in found["count"]] == wanted["count"] and type(found["sum"]) is INDArray
    made = len(traced) - 3 * len(calls)
    assert made == len(calls)                    # an INDArray has DL4J's methods, and makes another form


@pytest.mark.parametrize("kind", [np.asarray, INDArray.of], ids=["NumPy's", "DL4J's"])
@pytest.mark.parametrize("text", ["x.std(0)", "x.var()", "x.std(axis=1)", "x.mean()", "(np.tanh(x) * 2 + 1).std(0)", "x[0].std()",
                                  "x.T.var(1)", "x.reshape(3, 2).std(1)", "Nd4j.math.tanh(x).std(0)", "(x - x.mean(0)) / x.std(0)"])
def test_methods_are_those_of_the_class_of_the_arguments(text, kind):
    """Deviations divide by n for NumPy's arrays, by n - 1 for DL4J's."""
    function = eval(f"lambda x: {text}", {"np": np, "Nd4j": Nd4j})
    x = kind(np.arange(6.0).reshape(2, 3) ** 2)
    np.testing.assert_allclose(np.asarray(compiled(function)(x)), np.asarray(function(x)), rtol=1e-12)
    with pytest.warns(UserWarning, match="step by step"):
        stepwise = compiled(lambda a: function(a) * float(1 + 0 * a.sum()))(x)
    np.testing.assert_allclose(np.asarray(stepwise), np.asarray(function(x)), rtol=1e-12)


def test_results_of_all_forms_are_replayed():
    Point = namedtuple("Point", "x y")
    forms = [lambda x: x, lambda x: [x], lambda x: {"a": (x, [x + 1])}, lambda x: Point(x, {"b": x}), lambda x: Pair(x, [2, None, "t"]),
             lambda x: (x, 3, None), lambda x: ()]
    for form in forms:
        f = compiled(lambda x, form=form: form(x * 2))
        first = f(X)
        for _ in range(2):
            again = f(X)
            assert type(again) is type(first) and repr(again) == repr(first)


def test_arrays_are_of_the_classes_of_those_in_their_place():
    """Code that asks goes the same way as without the decorator."""
    @functools.singledispatch
    def kind(a):
        return "object"

    @kind.register
    def _(a: np.ndarray):
        return "array"

    def asked(a):
        return isinstance(a, np.ndarray), isinstance(a, INDArray), isinstance(a, (list, np.ndarray)), isinstance(a * 2, np.ndarray), \
            isinstance(a, list), kind(a), a.__class__, a.nbytes, a.itemsize
    for a in (X, INDArray.of(X)):
        for options in ({}, {"open_batch": True}):
            assert compiled(asked, **options)(a) == asked(a) == (True, a is not X, True, True, False, "array", type(a), 48, 8)


def test_code_that_runs_after_the_function_runs_step_by_step():
    def rows(a):
        for row in a:
            yield row * 2

    async def later(a):
        return a * 2
    with pytest.warns(UserWarning, match="gives a generator, whose code runs after it.*test_compiled.py"):
        np.testing.assert_array_equal(list(compiled(rows)(X)), X * 2)
    with pytest.warns(UserWarning, match="gives a coroutine"):
        np.testing.assert_array_equal(asyncio.run(compiled(later)(X)), X * 2)
    with pytest.warns(UserWarning, match="gives a map"):
        np.testing.assert_array_equal(list(compiled(lambda a: map(np.negative, a))(X)), -X)


@pytest.mark.parametrize("options", [{}, {"open_batch": True}], ids=["sizes", "open"])
def test_code_may_look_out_for_shapes_that_do_not_fit(options):
    def product(a):
        try:
            return a @ a
        except ValueError:
            return a @ a.T
    f = compiled(product, **options)
    for a in (X, X[:, :2], X):
        np.testing.assert_allclose(f(a), product(a))


def test_functions_of_some_elements():
    f = compiled(lambda a: np.add(a, 1, where=a > 0.5, out=a * 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(f(X), np.where(X > 0.5, X + 1, X * 2))


def test_a_result_that_depends_on_nothing_has_gradients_of_zeros():
    for constant in (lambda x: np.float64(3), lambda x: np.ones(3).sum(), lambda x: INDArray.of(W)):
        value, slope = compiled(constant).value_and_gradient()(X)
        assert slope.tolist() == (X * 0).tolist() and np.asarray(value).tolist() == np.asarray(constant(X)).tolist()
    for wrong in (None, 1.5, ()):
        with pytest.raises(GradientError, match="positions or names"):
            compiled(lambda x: x).gradient(wrong)


@pytest.mark.parametrize("seed", ["x", 1.5, True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(DataTypeError, match="a seed is a whole number"):
        compiled(lambda x: x, seed=seed)


@pytest.mark.parametrize("draw", [lambda: np.random.rand(), lambda: np.random.normal(size=3), random.random])
def test_numbers_that_all_code_shares_are_drawn_in_each_call(draw):
    f = compiled(lambda x: x + draw())
    with pytest.warns(UserWarning, match="draws numbers of np.random or random.*Nd4j.random.*test_compiled.py"):
        first = f(X)
    assert (first != f(X)).any()
