"""Branches and loops of TensorFlow 2, whose graphs are functions; lists; calls in frozen graphs."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import FileFormatError, GraphError, LimitError, MissingOpError, ValueNeededError
from tests.samediff.tensorflow.graphs import called, const, function, graph, library, node, placeholder, runs

X = np.random.default_rng(10).standard_normal((4, 3)).astype(np.float32)
W = np.random.default_rng(11).standard_normal((3, 3)).astype(np.float32)
I32 = np.int32


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


def number(name, value, dtype=I32):
    return node(name, "Const", value=np.asarray(value, dtype))


def times(name, factor):
    """x times a number; the number comes second."""
    return function(name, ["x"], ["y", "k"], [number("c", factor, np.float32), node("m", "Mul", "x", "c:output:0")],
                    {"y": "m:z:0", "k": "c:output:0"})


def numbered(which, operator, **functions):
    names = [n for v in functions.values() for n in ([v] if isinstance(v, str) else v)]
    return graph(placeholder("x"), placeholder("c", (), which), runs("made", operator, "c", "x", **functions),
                 node("y", "Identity", "made"), node("k", "Identity", "made:1")) + library(*(times(n, int(n[1:])) for n in names))


@pytest.mark.parametrize("operator, which, functions, expected", [
    ("If", np.bool_, {"then_branch": "f2", "else_branch": "f3"}, {True: 2, False: 3}),
    ("StatelessIf", I32, {"then_branch": "f2", "else_branch": "f3"}, {5: 2, 0: 3}),
    ("Case", I32, {"branches": ["f1", "f2", "f3"]}, {0: 1, 1: 2, 2: 3, 9: 3, -1: 3}),
    ("StatelessCase", I32, {"branches": ["f4"]}, {0: 4})])
def test_branches(operator, which, functions, expected):
    """As many are computed as the condition says, known or not."""
    data = numbered(which, operator, **functions)
    open_one = SameDiff.import_frozen_tf(data)
    for value, factor in expected.items():
        found = open_one.output({"x": X, "c": which(value)}, ["y", "k"])
        np.testing.assert_allclose(found["y"], X * factor, 1e-6)
        assert found["k"] == factor
        known = SameDiff.import_frozen_tf(data, {"c": which(value)})
        np.testing.assert_allclose(known.output_single({"x": X}, "y"), X * factor, 1e-6)


LESS = function("less", ["i", "v", "n", "w"], ["o"], [node("m", "Less", "i", "n")], {"o": "m:z:0"})
STEP = function("step", ["i", "v", "n", "w"], ["i2", "v2", "n2", "w2"], [
    number("one", 1), node("more", "AddV2", "i", "one:output:0"), called("p", "product", "v", "w"), node("same", "Identity", "n")],
    {"i2": "more:z:0", "v2": "p:output:0", "n2": "same:output:0", "w2": "w"})
PRODUCT = function("product", ["a", "b"], ["c"], [node("m", "MatMul", "a", "b", transpose_a=False, transpose_b=False)],
                   {"c": "m:product:0"})


def powers(count, operator="While"):
    return graph(placeholder("x"), const("w", W), const("zero", I32(0)), count,
                 runs("loop", operator, "zero", "x", "n", "w", cond="less", body="step"), node("y", "Identity", "loop:1"),
                 node("steps", "Identity", "loop")) + library(LESS, STEP, PRODUCT)


@pytest.mark.parametrize("operator", ["While", "StatelessWhile"])
def test_loops_of_a_known_number_of_steps(operator):
    sd = SameDiff.import_frozen_tf(powers(const("n", I32(3)), operator))
    np.testing.assert_allclose(sd.output_single({"x": X}, "y"), X @ W @ W @ W, 1e-4, 1e-5)
    assert sd.get_variable("steps").eval() == 3 and "while" not in {o.op.id for o in sd.nodes()}


def test_loops_whose_end_is_open():
    """They are trained, too; the steps that a run takes are those that it is told."""
    sd = SameDiff.import_frozen_tf(powers(placeholder("n", (), I32)))
    for n in (0, 1, 3):
        found = sd.output({"x": X, "n": I32(n)}, ["y", "steps"])
        np.testing.assert_allclose(found["y"], X @ np.linalg.matrix_power(W, n), 1e-4, 1e-5)
        assert found["steps"] == n
    sd.convert_to_variables(["w"])
    sd.get_variable("y").sum().mark_as_loss()
    ones = np.ones((4, 3), np.float32)
    np.testing.assert_allclose(sd.calculate_gradients({"x": X, "n": I32(2)}, "w")["w"], X.T @ ones @ W.T + (X @ W).T @ ones, 1e-4, 1e-4)


def test_a_loop_that_ends_by_what_it_computes():
    """The condition is known at first, and not from the first step on."""
    test = function("test", ["going", "v"], ["o"], [node("same", "Identity", "going")], {"o": "same:output:0"})
    step = function("step", ["going", "v"], ["g", "w"], [
        node("d", "AddV2", "v", "v"), number("axes", [0]), number("limit", 100, np.float32),
        node("s", "Sum", "d:z:0", "axes:output:0", keep_dims=False), node("l", "Less", "s:output:0", "limit:output:0")],
        {"g": "l:z:0", "w": "d:z:0"})
    data = graph(placeholder("x", (2,)), const("yes", np.bool_(True)), runs("loop", "While", "yes", "x", cond="test", body="step"),
                 node("y", "Identity", "loop:1")) + library(test, step)
    sd = SameDiff.import_frozen_tf(data)
    for start, end in (([1, 2], [64, 128]), ([90, 20], [180, 40])):
        assert sd.output_single({"x": np.float32(start)}, "y").tolist() == end


def test_lists():
    """As recurrent networks of TensorFlow 2 are written: rows of an array in, a list of sums out."""
    names = ["i", "s", "out", "rows"]
    test = function("test", names, ["o"], [number("n", 4), node("m", "Less", "i", "n:output:0")], {"o": "m:z:0"})
    step = function("step", names, [f"{n}2" for n in names], [
        number("one", 1), node("more", "AddV2", "i", "one:output:0"), number("size", [3]),
        node("row", "TensorListGetItem", "rows", "i", "size:output:0", element_dtype=np.float32), node("sum", "AddV2", "s", "row:item:0"),
        node("put", "TensorListSetItem", "out", "i", "sum:z:0", element_dtype=np.float32)],
        {"i2": "more:z:0", "s2": "sum:z:0", "out2": "put:output_handle:0", "rows2": "rows"})
    data = graph(placeholder("x", (4, 3)), const("zero", I32(0)), const("n", I32(5)), const("size", I32([3])),
                 const("none", np.zeros(3, np.float32)), node("rows", "TensorListFromTensor", "x", "size", element_dtype=np.float32),
                 node("out", "TensorListReserve", "size", "n", element_dtype=np.float32),
                 runs("loop", "While", "zero", "none", "out", "rows", cond="test", body="step"),
                 node("y", "TensorListStack", "loop:2", "size", element_dtype=np.float32), node("k", "TensorListLength", "loop:2"))
    sd = SameDiff.import_frozen_tf(data + library(test, step))
    np.testing.assert_allclose(sd.output_single({"x": X}, "y"), np.concatenate([np.cumsum(X, 0), np.zeros((1, 3))]), 1e-5, 1e-6)
    assert sd.get_variable("k").eval() == 5


F32 = np.float32
LISTS = {
    "pushed and popped": ([node("a", "EmptyTensorList", "s", "n", element_dtype=F32), node("b", "TensorListPushBack", "a", "x"),
                           node("c", "TensorListPushBack", "b", "z"), node("p", "TensorListPopBack", "c", "s", element_dtype=F32),
                           node("q", "TensorListStack", "p", "s", element_dtype=F32), node("r", "Sub", "q", "p:1"),
                           node("y", "Neg", "r")], -2 * X[None]),
    "scattered and gathered": ([const("i", I32([2, 0, 1, 3])), const("j", I32([0, 2])), const("u", I32([3])),
                                node("a", "TensorListScatterV2", "x", "i", "u", "n", element_dtype=F32),
                                node("b", "TensorListScatterIntoExistingList", "a", "z", "i"),
                                node("c", "TensorListGather", "a", "j", "u", element_dtype=F32),
                                node("d", "TensorListGather", "b", "j", "u", element_dtype=F32), node("y", "AddV2", "c", "d")],
                               np.zeros((2, 3), F32)),
    "split and joined": ([const("l", np.int64([1, 3])), node("a", "TensorListSplit", "x", "s", "l", element_dtype=F32),
                          const("m", I32(1)), node("b", "TensorListResize", "a", "m"),
                          node("c", "TensorListConcatV2", "a", "s", "l", element_dtype=F32),
                          node("d", "TensorListConcatV2", "b", "s", "l", element_dtype=F32), node("y", "AddV2", "c", "d")], X + X[:1]),
}


@pytest.mark.parametrize("name", LISTS)
def test_operators_of_lists(name):
    nodes, expected = LISTS[name]
    given = placeholder("x", (4, 3)), const("s", I32([4, 3])), const("n", I32(4)), node("z", "Neg", "x")
    sd = SameDiff.import_frozen_tf(graph(*given, *nodes))
    np.testing.assert_allclose(sd.output_single({"x": X}, "y"), expected, 1e-6, 1e-6)


def test_calls_in_frozen_graphs():
    data = graph(placeholder("x"), const("w", W), called("p", "product", "x", "w"), node("y", "Neg", "p"), node("other", "Abs", "x"))
    sd = SameDiff.import_frozen_tf(data + library(PRODUCT))
    assert sd.outputs() == ["y", "other"]
    np.testing.assert_allclose(sd.output_single({"x": X}, "y"), -X @ W, 1e-5, 1e-6)


def test_what_is_refused():
    loop = graph(placeholder("x"), runs("loop", "While", "x", cond="less", body="step"))
    with pytest.raises(MissingOpError, match="the function 'less' in node 'loop', which it does not have"):
        SameDiff.import_frozen_tf(loop)
    with pytest.raises(FileFormatError, match="'less' of the TensorFlow graph takes 4 arguments; node 'loop' gives 1"):
        SameDiff.import_frozen_tf(loop + library(LESS, STEP, PRODUCT))
    endless = function("f", ["x"], ["y"], [called("again", "f", "x")], {"y": "again:output:0"})
    with pytest.raises(LimitError, match="call each other"):
        SameDiff.import_frozen_tf(graph(placeholder("x"), called("y", "f", "x")) + library(endless))
    branch = function("b", ["x"], ["y"], [runs("again", "If", "x", "x", then_branch="b", else_branch="b")], {"y": "again:output:0"})
    with pytest.raises(LimitError, match="call each other"):
        SameDiff.import_frozen_tf(graph(placeholder("x"), runs("y", "If", "x", "x", then_branch="b", else_branch="b")) + library(branch))
    size = [const("s", I32([3]))]
    with pytest.raises(GraphError, match="where its length is known"):
        SameDiff.import_frozen_tf(graph(placeholder("x"), *size, node("y", "TensorListFromTensor", "x", "s", element_dtype=F32)))
    push = function("push", ["l", "n"], ["k", "m"], [node("p", "TensorListPushBack", "l", "n")], {"k": "p:output_handle:0", "m": "n"})
    open_end = function("test", ["l", "n"], ["o"], [number("z", 0), node("c", "Less", "z:output:0", "n")], {"o": "c:z:0"})
    with pytest.raises(ValueNeededError, match="the TensorFlow loop 'loop' takes a step 0 must be known.*carries lists"):
        SameDiff.import_frozen_tf(graph(placeholder("n", (), I32), *size, node("l", "EmptyTensorList", "s", "s", element_dtype=F32),
                                        runs("loop", "While", "l", "n", cond="test", body="push")) + library(push, open_end))
