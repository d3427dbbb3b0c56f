"""Functions and ops over one more axis: on arrays, in graphs, compiled, differentiated, saved."""
from __future__ import annotations

import functools

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff, compiled
from dl4py.samediff.errors import GraphError, RegistrationError, ShapeError
from dl4py.udf import UserOp, check_op, user_op, vectorized
from dl4py.udf.ops.batching import batching_rule


@user_op("test_vectorized.affine")
def affine(xp, x, y, *, beta: float = 1.0):
    return x * y + beta


@user_op("test_vectorized.outer")
def outer(xp, x, y):
    return x[:, None] * y[None, :]


@user_op("test_vectorized.dot", batching="leading")
def dot(xp, x, y, *, scale: float = 1.0):
    return (x * y).sum(axis=-1) * scale


@user_op("test_vectorized.project")
class Project(UserOp):
    """x W, for a vector and a matrix."""

    def compute(self, xp, x, w):
        return x @ w

    def batching(self, mapped, x, w):
        if mapped[1]:
            raise ValueError("one matrix only")
        return Project()(x, w)


@user_op("test_vectorized.pair")
def pair(xp, x):
    return x.sum(), x * 2


X = np.arange(6, dtype=np.float32).reshape(2, 3)
V = np.array([1, -2, 4], np.float32)
OPS = [affine, outer, dot, Project()]
SECOND = {Project: np.arange(12, dtype=np.float32).reshape(3, 4)}


def second(op):
    return SECOND.get(type(op), V)


def name(op):
    return op.id.rpartition(".")[2]


@pytest.mark.parametrize("op", OPS, ids=name)
def test_arrays_and_graphs_give_what_single_calls_give(op):
    w = second(op)
    wanted = np.stack([op(row, w) for row in X])
    np.testing.assert_allclose(vectorized(op, (0, None))(X, w), wanted)
    np.testing.assert_allclose(vectorized(op, (-1, None), -1)(X.T, w), np.moveaxis(wanted, 0, -1))
    empty = vectorized(op, (0, None))(X[:0], w)
    assert (empty.shape, empty.dtype) == ((0, *wanted.shape[1:]), wanted.dtype)

    sd = SameDiff.create()
    x, v = sd.placeholder("x", DataType.FLOAT, -1, 3), sd.var("v", w)
    y = vectorized(op, (0, None))("y", x, v)
    assert (y.name(), y.spec.shape) == ("y", (-1, *wanted.shape[1:]))
    np.testing.assert_allclose(y.eval({"x": X}), wanted)


@pytest.mark.parametrize("op", OPS, ids=name)
def test_gradients_are_sums_of_those_of_single_calls_also_after_loading(op, tmp_path):
    def gradient(build, path=None):
        sd = SameDiff.create()
        x, v = sd.placeholder("x", DataType.FLOAT, -1, 3), sd.var("v", second(op))
        (build(sd, x, v) ** 2).sum().mark_as_loss()
        if path is not None:
            sd.save(path)
            sd = SameDiff.load(path)
        return sd.calculate_gradients({"x": X}, "v")["v"]
    wanted = gradient(lambda sd, x, v: sd.stack(0, *(op(x[i], v) for i in range(2))))
    found = gradient(lambda sd, x, v: vectorized(op, (0, None))(x, v), tmp_path / "vectorized.fb")
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("op", OPS, ids=name)
def test_compiled_functions_record_it(op):
    @compiled
    def total(x, v):
        return vectorized(op, (0, None))(x, v).sum()
    w = second(op)
    np.testing.assert_allclose(total(X, w), sum(op(row, w).sum() for row in X), rtol=1e-6)
    assert total.gradient(1)(X, w).shape == w.shape


def test_elementwise_and_declared_ops_are_one_node():
    sd = SameDiff.create()
    x, v = sd.placeholder("x", DataType.FLOAT, -1, 3), sd.var("v", V)
    for op in (affine, dot):
        vectorized(op, (0, None))(x, v)
    assert "scan" not in {n.op.id for n in sd.nodes()}
    vectorized(outer, (0, None))(x, v)
    assert "scan" in {n.op.id for n in sd.nodes()}


def test_axes_of_elementwise_inputs_of_different_ranks():
    matrices, rows = np.arange(12.0).reshape(2, 2, 3), np.arange(6.0).reshape(2, 3)
    wanted = np.stack([affine(m, r, beta=3.0) for m, r in zip(matrices, rows)])
    np.testing.assert_array_equal(vectorized(affine)(matrices, rows, beta=3.0), wanted)
    sd = SameDiff.create()
    y = vectorized(affine)(sd.placeholder("m", DataType.DOUBLE, -1, -1, 3), sd.placeholder("r", DataType.DOUBLE, -1, 3), beta=3.0)
    np.testing.assert_array_equal(y.eval({"m": matrices, "r": rows}), wanted)


def test_several_results_have_axes_of_their_own():
    sums, doubled = vectorized(pair, 0, (0, 1))(X)
    np.testing.assert_array_equal(sums, X.sum(1))
    np.testing.assert_array_equal(doubled, 2 * X.T)
    sd = SameDiff.create()
    vectorized(pair, 0, (0, 1))("both", sd.constant(X))
    found = sd.output({}, "both", "both:1")
    np.testing.assert_array_equal(found["both"], sums)
    np.testing.assert_array_equal(found["both:1"], doubled)


def test_functions_are_vectorized_and_so_are_the_vectorized():
    table = vectorized(vectorized(lambda x, y: x * y, (None, 0)), (0, None))
    np.testing.assert_array_equal(table(V, X[0]), np.outer(V, X[0]))
    sd = SameDiff.create()
    np.testing.assert_array_equal(table(sd.constant(V), X[0]).eval(), np.outer(V, X[0]))


def test_random_ops_draw_for_each_element():
    @user_op("test_vectorized.noise", stateful=True)
    def noise(xp, x, *, context):
        return x + context.random().normal(size=x.shape)
    sd = SameDiff.create()
    for drawn in (vectorized(noise)(np.zeros((2, 3))), vectorized(noise)(sd.constant(np.zeros((2, 3)))).eval()):
        assert not np.array_equal(drawn[0], drawn[1])


def test_refusals_name_op_and_shapes():
    @user_op("test_vectorized.alone", batching="none")
    def alone(xp, x):
        return x - x.mean()
    with pytest.raises(GraphError, match=r"test_vectorized.alone.*\(2, 3\).*batching='none'"):
        vectorized(alone)(X)
    with pytest.raises(ShapeError, match=r"batching of op 'test_vectorized.project'.*\(2, 3\), \(2, 3, 4\).*one matrix only"):
        vectorized(Project())(X, np.zeros((2, 3, 4), np.float32))


def test_axes_that_do_not_fit_name_op_and_shapes():
    with pytest.raises(ShapeError, match=r"test_vectorized.dot.*\(2, 3\), \(2, 3\).*equally long.*\[2, 3\]"):
        vectorized(dot, (0, 1))(X, X)
    with pytest.raises(ShapeError, match=r"test_vectorized.dot.*no axis 2 in \(2, 3\)"):
        vectorized(dot, 2)(X, X)
    with pytest.raises(ShapeError, match=r"test_vectorized.dot.*no axis 1 in a result of 1"):
        vectorized(dot, 0, 1)(X, X)
    with pytest.raises(GraphError, match=r"test_vectorized.dot.*one input at least"):
        vectorized(dot, None)(X, X)
    with pytest.raises(GraphError, match=r"in_axes.*each of 2"):
        vectorized(dot, (0,))(X, X)
    with pytest.raises(GraphError, match=r"out_axes.*each of 1"):
        vectorized(dot, 0, (0, 1))(X, X)


def test_without_elements_a_function_has_to_say_its_shapes():
    with pytest.raises(ShapeError, match=r"no elements.*float"):
        vectorized(lambda x: np.float32(float(x.sum())))(X[:0])


def test_declarations_are_checked():
    with pytest.raises(RegistrationError, match=r"test_vectorized.wrong.*'leading'.*'first'"):
        user_op("test_vectorized.wrong", batching="first")(lambda xp, x: x)


@pytest.mark.slow
def test_check_op_compares_declared_rules_with_single_calls():
    @user_op("test_vectorized.centred", batching="leading")
    def centred(xp, x):
        return x - x.mean()

    @user_op("test_vectorized.turned", batching="leading")
    def turned(xp, x):
        return x.T

    @user_op("test_vectorized.joined", batching=lambda mapped, x: x.sum(0))
    def joined(xp, x):
        return x * x.sum()
    for op in (dot, Project()):
        check = check_op(op, [X[0], second(op)], order=0)
        assert check.passed and "batching agrees with single calls" in str(check)
    for op in (centred, turned):
        assert "batching agrees with single calls" in {c.name for c in check_op(op, [X], order=0).failures}
    with pytest.raises(ShapeError, match=r"joined.*\(3, 3\).*first axis must hold the 2"):
        vectorized(joined)(np.zeros((2, 3, 3)))


# Forms of calls

def test_what_it_is_called():
    for function, text in ((affine, "op 'test_vectorized.affine'"), (Project(), "op 'test_vectorized.project'"), (np.cumsum, "cumsum"),
                           (functools.partial(np.sum, axis=0), "partial")):
        assert repr(vectorized(function, (0, None))) == f"<{text} vectorized over (0, None)>"
    assert vectorized(np.cumsum).__name__ == "cumsum" and vectorized(np.cumsum).__doc__ == np.cumsum.__doc__
    with pytest.raises(GraphError, match="takes a function or an op, got 3"):
        vectorized(3)


@pytest.mark.parametrize("axis", range(-4, 4))
@pytest.mark.parametrize("in_graph", [False, True])
def test_every_axis(axis, in_graph):
    cube = np.arange(24.0).reshape(2, 3, 4)

    def called(**axes):
        call, x = vectorized(lambda row: row * 2 + 1, **axes), SameDiff.create().constant(cube) if in_graph else cube
        found = call(x)
        return found.eval() if in_graph else found
    if -3 <= axis < 3:
        np.testing.assert_array_equal(called(in_axes=axis, out_axes=axis), cube * 2 + 1)
        np.testing.assert_array_equal(called(in_axes=axis), np.moveaxis(cube, axis, 0) * 2 + 1)
        np.testing.assert_array_equal(called(out_axes=axis), np.moveaxis(cube, 0, axis) * 2 + 1)
        return
    with pytest.raises(ShapeError, match=rf"in_axes={axis} of shapes \(2, 3, 4\): there is no axis {axis} in"):
        called(in_axes=axis)
    with pytest.raises(ShapeError, match=rf"out_axes={axis}: there is no axis {axis} in a result of 3"):
        called(out_axes=axis)


@pytest.mark.parametrize("axes", [True, (0, True), 1.0, (0, 1.0), "0", (0, None, 0), ()])
def test_axes_that_are_none(axes):
    for call, what in ((lambda: vectorized(affine, axes)(X, V), "in_axes"), (lambda: vectorized(pair, 0, axes)(X), "out_axes")):
        with pytest.raises(GraphError, match=f"{what} must be an axis, or one for each of 2; got"):
            call()
    with pytest.raises(GraphError, match="out_axes must be"):
        vectorized(affine, (0, None), None)(X, V)


@pytest.mark.parametrize("in_graph", [False, True])
def test_names(in_graph):
    sd = SameDiff.create()
    x = sd.constant("x", X) if in_graph else X
    for found in (vectorized(pair)("first", x), vectorized(pair)(x, name="second")):
        assert [r.name() for r in found] == [f"{n}{k}" for n in ("first", "second") for k in ("", ":1") if found[0].name() == n] \
            if in_graph else len(found) == 2


def test_an_option_may_be_what_makes_it_a_graph():
    sd = SameDiff.create()
    w = sd.var("w", V)
    y = vectorized(lambda row, *, w: row * w)(X, w=w)
    np.testing.assert_array_equal(y.eval(), X * V)


@user_op("test_vectorized.shifted", batching="leading")
def shifted(xp, x, y, shift=None):
    return (x * y).sum(axis=-1) if shift is None else (x * y).sum(axis=-1) + shift


@user_op("test_vectorized.ruled", infer=lambda x, y: x)
def ruled(xp, x, y):
    return x + y


@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0), (0, 0, None), (0, None, 0), (None, None, 0), (None, 0, 0)])
def test_declared_and_derived_rules_with_inputs_that_are_left_out(axes, in_graph):
    single = [np.float32([1, 2, 3]), np.float32([4, -5, 6]), np.float32(7)]
    batches = [np.stack([s * k for k in (1, 2, -3)]) for s in single]
    given = [b if a == 0 else s for a, s, b in zip(axes, single, batches)]
    for op in (shifted, lambda x, y, shift=None: (x * y).sum(-1) if shift is None else (x * y).sum(-1) + shift, ruled, affine):
        if op in (ruled, affine) and len(axes) > 2:
            continue
        wanted = np.stack([op(*(g[k] if a == 0 else g for a, g in zip(axes, given))) for k in range(3)])
        for padded in ((), (None,)) if len(axes) == 2 and op not in (ruled, affine) else ((),):
            sd = SameDiff.create()
            inputs = [sd.constant(g) if in_graph else g for g in given]
            found = vectorized(op, (*axes, *(None for _ in padded)))(*inputs, *padded)
            np.testing.assert_allclose(found.eval() if in_graph else found, wanted, rtol=1e-6)


def test_lengths_that_one_input_alone_knows():
    sd = SameDiff.create()
    for shapes in (((-1, 3), (2, 3)), ((2, 3), (-1, 3))):
        x, y = (sd.placeholder(sd.tables.names.unique("x"), DataType.FLOAT, *s) for s in shapes)
        z = vectorized(dot)(x, y)
        np.testing.assert_allclose(z.eval({x.name(): X, y.name(): X + 1}), (X * (X + 1)).sum(1))
    with pytest.raises(ShapeError, match=r"equally long, they have \[2, 3\]"):
        vectorized(dot)(sd.constant(X), sd.constant(np.zeros((3, 3), np.float32)))


@pytest.mark.parametrize("result", [lambda x: x.sum(0), lambda x: x[:1], lambda x: x.sum(), lambda x: (x, x[:1])])
def test_declared_rules_must_give_all_elements(result):
    op = user_op("test_vectorized.short", batching=lambda mapped, x: result(x))(lambda xp, x: x * 1)
    with pytest.raises(ShapeError, match=r"short' for inputs of shapes \(2, 3\): a result has shape .*must hold the 2 elements"):
        vectorized(op)(X)
    sd = SameDiff.create()
    with pytest.raises(ShapeError, match="must hold the 2 elements"):
        vectorized(op)(sd.constant(X))
    open_sizes = user_op("test_vectorized.open", batching=lambda mapped, x: x * 2)(lambda xp, x: x * 2)
    assert vectorized(open_sizes)(sd.placeholder("x", DataType.FLOAT, -1, 3)).spec.shape == (-1, 3)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_results_are_as_many_as_those_of_one_element(count):
    x = np.arange(3.0 * count).reshape(count, 3)
    for function, several in ((lambda row: row * 2, False), (lambda row: (row * 2,), True), (lambda row: [row * 2, row.sum()], True)):
        found = vectorized(function)(x)
        assert isinstance(found, tuple) == several
        np.testing.assert_array_equal(found[0] if several else found, x * 2)
        sd = SameDiff.create()
        made = vectorized(function)(sd.placeholder("x", DataType.DOUBLE, -1, 3))
        assert isinstance(made, tuple) == several
        if several and len(found) > 1:
            assert found[1].shape == (count,)
    if count:
        recorded = compiled(lambda x: vectorized(lambda row: (row * 2, row.sum()))(x))
        for a, b in zip(recorded(x), (x * 2, x.sum(1)), strict=True):
            np.testing.assert_array_equal(a, b)


def test_options_that_are_no_attributes():
    np.testing.assert_array_equal(vectorized(affine, (0, None))(X, V, beta=2.0), X * V + 2)
    with pytest.raises(GraphError, match="has its attributes already"):
        vectorized(Project(), (0, None))(X, SECOND[Project], scale=2.0)
    with pytest.raises(GraphError, match="gamma"):
        vectorized(affine, (0, None))(X, V, gamma=2.0)


@pytest.mark.parametrize("rule", ["leading", "none", None, len])
def test_the_rule_of_a_class_stands_unless_the_decorator_has_one(rule):
    assert batching_rule("acme.f", None, rule) is rule and batching_rule("acme.f", "leading", rule) == "leading"
