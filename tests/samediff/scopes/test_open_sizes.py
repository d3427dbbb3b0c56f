"""Sizes that are not known while a function is compiled with ``open_batch``: numbers, shapes and results."""
import math
import operator
import re
import warnings

import numpy as np
import pytest

from dl4py import DataType, INDArray, Nd4j, compiled
from dl4py.samediff.scopes.program import TracedProgram

WHOLE = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod]
FUNCTIONS = {
    "a quotient": lambda x: x.sum(0) / x.shape[0],
    "a factor": lambda x: x.shape[0] * x,
    "a number of a size": lambda x: (1 / x.shape[0]) * x + (x.shape[0] - 0.5),
    "a power": lambda x: x.shape[0] ** x,
    "functions of NumPy": lambda x: np.sqrt(x.shape[0]) * x + np.maximum(x.shape[0], 3) + np.multiply(1 / x.shape[0], x),
    "the number of elements": lambda x: np.abs(x).sum() / x.size + np.add(x.size, x),
    "the length": lambda x: x.sum() / x.length(),
    "size of a dimension": lambda x: x / (x.size(0) + x.size(1)),
    "arguments of methods": lambda x: x.mul(x.shape[0]).rsub(x.rows()).div(x.shape[0]),
    "an op": lambda x: Nd4j.math.mul(x.shape[0], x),
    "what is square": lambda x: x.isSquare() * x,
    "a comparison": lambda x: x.shape[0] < x,
    "a choice": lambda x: np.where(x > 1, x.shape[0], x),
    "rows made flat": lambda x: x[:, :, None].reshape(x.shape[0], -1) * 2,
    "a shape as a tuple": lambda x: np.reshape(x.reshape((x.shape[0], 3, 1)), (3 * x.shape[0],)),
    "a shape to stretch to": lambda x: np.broadcast_to(x.sum(1, keepdims=True), (x.shape[0], 4)),
    "columns made flat": lambda x: x.reshape("f", 3, x.shape[0]) + x.reshape("c", (3, x.shape[0])),
    "a product along open sizes": lambda x: x.transpose().mmul(x),
    "repeated rows": lambda x: x.repmat(x.shape[0], 2),
    "a copy that is stretched": lambda x: x.broadcast(2, *x.shape) + x.sum(1, keepdims=True).broadcast(x.shape[0], 3),
    "results": lambda x: {"rows": x.shape[0], "twice": (2 * x.shape[0], [x.size]), "half": x.shape[0] / 2},
    "beside whole numbers": lambda x: [f(Nd4j.argMax(x, 1), x.shape[0]) for f in WHOLE],
    "in front of whole numbers": lambda x: [f(x.shape[0], Nd4j.argMax(x, 1) + 1) for f in WHOLE],
    "in methods of whole numbers": lambda x: (Nd4j.argMax(x, 1).add(x.shape[0]), Nd4j.argMax(x, 1).mul(x.shape[0])),
    "whole numbers or sizes": lambda x: (np.where(x > 1, Nd4j.argMax(x, 1).reshape(-1, 1), x.shape[0]),
                                         np.maximum(np.argmax(x, 1), x.shape[0])),
    "an average into both": lambda x: Nd4j.averageAndPropagate([x.mul(2), x.add(1)]),
    "the same elements": lambda x: (np.array_equal(x, x * 1), np.array_equal(x, x + 1), np.array_equal(x, x[:1])),
    "a loop": lambda x: Nd4j.while_loop((0, x), lambda v: v[0] < x.shape[0], lambda v: (v[0] + 1, v[1] * 2))[1],
}


def leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, (tuple, list)) else [np.asarray(value)]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
@pytest.mark.parametrize("what", FUNCTIONS)
def test_sizes_are_numbers(what, dtype):
    call = compiled(FUNCTIONS[what], open_batch=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")          # it is compiled
        for rows in (2, 3):
            x = Nd4j.create_from_array(np.arange(3.0 * rows, dtype=dtype).reshape(rows, 3))
            for found, wanted in zip(leaves(call(x)), leaves(FUNCTIONS[what](x)), strict=True):
                assert found.shape == wanted.shape and (found.dtype == wanted.dtype or not found.shape)
                np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_gradients_of_means():
    def loss(x):
        return (x ** 2).sum() / x.size
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(compiled(loss, open_batch=True).gradient()(x), x / 3)


FACTORIES = {
    "zeros": lambda x: Nd4j.zeros(x.shape[0], 2) + 1,
    "zeros by a list, in columns": lambda x: Nd4j.zeros([x.shape[0], 2], "f") + 1,
    "zeros of a type": lambda x: Nd4j.zeros(DataType.INT, x.shape[0], 2),
    "ones": lambda x: Nd4j.ones(2 * x.shape[0] - 1),
    "create, changed in place": lambda x: Nd4j.create(x.shape[0], 3).addi(x),
    "createUninitialized": lambda x: Nd4j.createUninitialized(DataType.DOUBLE, x.shape[0], 3).assign(x),
    "valueArrayOf": lambda x: Nd4j.valueArrayOf([x.shape[0], 3], 1.5) + Nd4j.valueArrayOf(x.shape[0], 3, 1.5, DataType.DOUBLE),
    "likes": lambda x: Nd4j.zerosLike(x) + Nd4j.onesLike(x),
    "arange": lambda x: Nd4j.arange(x.shape[0]) + Nd4j.arange(1, x.shape[0] + 1) + Nd4j.arange(0, 2 * x.shape[0], 2),
    "eye": lambda x: Nd4j.eye(x.shape[0]) @ x,
    "linspace": lambda x: Nd4j.linspace(0, 1, x.shape[0]) + Nd4j.linspace(1, 2, x.shape[0], DataType.DOUBLE),
    "Nd4j.tile": lambda x: Nd4j.tile(x, 1, x.shape[0]),
    "Nd4j.repeat": lambda x: Nd4j.repeat(x[0], x.shape[0]),
    "np.tile": lambda x: np.tile(x[:1], (x.shape[0], 2)) + np.tile(x, 2),
    "np.tile of all": lambda x: np.tile(x, x.shape[0]),
    "np.repeat": lambda x: np.repeat(x[0], x.shape[0]),
    "np.repeat along an axis": lambda x: np.repeat(x, x.shape[0], axis=-1) + np.repeat(x[:1], x.shape[0], axis=0)[:, :1],
    "np.broadcast_to": lambda x: np.broadcast_to(x[0], (x.shape[0], 3)),
}


@pytest.mark.parametrize("kind", [np.asarray, INDArray.of], ids=["plain", "INDArray"])
@pytest.mark.parametrize("name", FACTORIES)
def test_arrays_of_open_sizes_are_made_in_the_graph(name, kind):
    f, call = compiled(FACTORIES[name], open_batch=True), FACTORIES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (4, 1, 6):
            x = kind(np.linspace(1, 3, 3 * n).reshape(n, 3))
            found, wanted = f(x), call(x)
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert len(f._programs) == 1


BY_SIZE = {
    "np.zeros(": lambda x: x + np.zeros((x.shape[0], 3)), "np.ones(": lambda x: x + np.ones((x.shape[0], 3)),
    "np.full(": lambda x: x * np.full((x.shape[0], 3), 2.0), "np.arange(": lambda x: x[:, 0] * np.arange(x.shape[0]),
    "np.eye(": lambda x: np.eye(x.shape[0]) @ x, "np.linspace(": lambda x: np.linspace(0, 1, x.shape[0]) * x[:, 0],
    "np.broadcast_to(": lambda x: x + np.broadcast_to(np.ones(3), (x.shape[0], 3)), "x[:len(x) // 2]": lambda x: x[:len(x) // 2],
    "range(": lambda x: sum(x[i] for i in range(x.shape[0])), "np.roll(": lambda x: np.roll(x, 1, axis=0),
    "np.percentile(": lambda x: np.percentile(x, 30, axis=0), "max(": lambda x: max(x.shape[0], 2) * x,
    "random.uniform(": lambda x: x + 0 * Nd4j.random.uniform(0.0, 1.0, DataType.DOUBLE, x.shape[0], 3),
}


@pytest.mark.parametrize("code", BY_SIZE)
def test_code_that_needs_a_number_is_traced_for_each_size(code):
    """One warning, with the code at the user's line; each size is compiled once."""
    call, traced = BY_SIZE[code], []

    def counting(x):
        traced.append(len(np.shape(x)))
        return call(x)
    f = compiled(counting, open_batch=True)
    with pytest.warns(UserWarning, match=f"(?s)traced anew for each size.*test_open_sizes.py:.*{re.escape(code)}") as said:
        for n in (4, 2, 4, 2):
            x = np.linspace(1, 3, 3 * n).reshape(n, 3)
            np.testing.assert_allclose(f(x), call(x), rtol=1e-12)
    assert len(said) == 1 and len(traced) == 3 and sum(isinstance(p, TracedProgram) for p in f._programs.values()) == 2
    assert f.graph(x).inputs() == ["x"]


#: How code that asks about sizes goes on; each asks in another way.
ASKED = """
x.shape == y.shape | x.shape != y.shape | x.shape[0] == y.shape[0] | x.shape[0] != y.shape[0] | x.shape[0] < y.shape[0]
y.shape[0] in x.shape | x.shape in [(2, 3), y.shape] | x.shape < y.shape | x.shape == (x * 1).shape | x.shape[0] in {2, 4}
len({x.shape[0], y.shape[0]}) == 1 | {2: 0, 3: 1}.get(y.shape[0], 1) | {(2, 3): 1}.get(tuple(x.shape)) | 1 < x.shape[0] < 4
x.shape[0] == 3.0 | x.shape[0] <= 2.5 | x.shape[0] % 2 == 0 | divmod(x.shape[0], 2)[1] | round(x.shape[0] / 2) == 1 | max(x.shape) > 3
np.array_equal(x.shape, (2, 3)) | x.size == y.size | x.shape[0] - y.shape[0] == 0 | x.equalShapes(y) | int(x.shape[0]) == 2
not x.shape[0] | hash(x.shape[0]) == 2 | sorted(x.shape)[0] == 3 | list(x.shape).count(3) > 1 | x.shape[0].bit_length() == 2
"""
#: The same about what is so for all sizes: it is answered while the function is traced.
SETTLED = """
x.shape == x.shape | x.shape[0] == len(x.shape) - 2 + x.shape[0] | x.size == x.shape[0] * x.shape[1] | x.shape[0] != x.shape[0] + 1
2 * x.shape[0] == x.shape[0] + x.shape[0] | x.shape[0] // 2 * 2 == 2 * (x.shape[0] // 2) | isinstance(x.shape[0], int)
divmod(x.size, 3)[1] == 3 * x.shape[0] % 3 | +x.shape[0] == round(x.shape[0]) == -(-x.shape[0]) | x.shape[0] != None
x.shape[0] is not None | x.size == np.size(x) == math.prod(x.shape) | x.shape[0] == math.floor(x.shape[0]) | x.shape[0] != "2"
"""


def texts(table):
    return [t for line in table.strip().splitlines() for t in line.split(" | ")]


@pytest.mark.parametrize(("text", "settled"), [*((t, False) for t in texts(ASKED)), *((t, True) for t in texts(SETTLED))])
def test_questions_about_sizes_are_never_answered_by_chance(text, settled):
    ask = eval(f"lambda x, y: 2 * x if {text} else -x", {"np": np, "math": math})
    call = compiled(ask, open_batch=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for sizes in ((4, 2), (3, 3), (2, 2), (2, 3)):
            x, y = (INDArray.of(np.ones((n, 3))) for n in sizes)
            assert call(x, y).tolist() == ask(x, y).tolist(), sizes
    assert ["anew for each size" in str(w.message) for w in said] == [True] * (not settled)


def test_an_answer_may_be_a_result():
    call = compiled(lambda x, y: (x.shape[0] == y.shape[0], x.shape[0] != 2, np.where(x.shape[0] > y.shape[0], x, 0)), open_batch=True)
    for m, n in ((4, 2), (3, 3), (2, 3), (4097, 4096)):         # more than the type of the arrays counts
        equal, other, chosen = call(np.ones(m, np.float16), np.ones(n, np.float16))
        assert (bool(equal), bool(other), bool(chosen.any())) == (m == n, m != 2, m > n)


@pytest.mark.parametrize("text", ["np.array_equal(x, y)", "np.array_equiv(x, y)", "np.array_equal(x, y, equal_nan=True)"])
def test_arrays_of_sizes_that_do_not_fit_are_not_equal(text):
    """Nor is that an error, in the graph that is kept either."""
    ask = eval(f"lambda x, y: {text}", {"np": np})
    call = compiled(ask, open_batch=True)
    x = np.array([[1.0, np.nan], [1, np.nan], [2, 3]])
    pairs = [(a, b) for a in (x, x[:2], x[:1], x[2:], x[:, 0]) for b in (x, x[:2], x[:1], x[2:], x[:, 0]) if a.ndim == b.ndim]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for a, b in pairs:
            assert bool(call(a, b)) is ask(a, b)
    graph = call.graph(x, x)
    (name,) = graph.outputs()
    for a, b in pairs[:16]:
        assert bool(graph.output_single({"x": a, "y": b}, name)) is ask(a, b)


def test_code_that_needs_values_is_not_traced_for_each_size():
    traced = []

    def f(x):
        traced.append(1)
        return x * 2 if x.sum() > 0 else -x
    call = compiled(f, open_batch=True)
    with pytest.warns(UserWarning, match="(?s)step by step.*test_open_sizes.py") as said:
        for n in (2, 3, 4, 5):
            assert call(np.ones((n, 2))).shape == (n, 2)
    assert len(said) == 1 and len(traced) == 2 + 4
