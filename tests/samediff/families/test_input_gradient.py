"""Gradients that an op gives: in the shape and type of the input, summed where broadcasting made them larger, else refused."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import GradientError
from dl4py.udf import UserDefinedCustomOp, UserOp, user_defined_op, user_op


@user_op("test_ig.plus", grad=lambda inputs, outputs, grads: [grads[0], grads[0]])
def plus(xp, x, y):
    return x + y


@user_op("test_ig.PlusClass")
class PlusClass(UserOp):
    def compute(self, xp, x, y):
        return x + y

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0], output_grads[0]]


@user_defined_op
class PlusUdf(UserDefinedCustomOp):
    def opName(self):
        return "test_ig_plus_udf"

    def calculateOutputShape(self, oc):
        return [np.broadcast_shapes(oc.input_array(0).shape, oc.input_array(1).shape)]

    def exec(self, inputs, outputs):
        outputs[0][...] = inputs[0] + inputs[1]

    def doDiff(self, grads):
        return [grads[0], grads[0]]


FORMS = {"function": plus, "class": lambda x, y: PlusClass()(x, y), "java": lambda x, y: x.sd.do_udf(PlusUdf(x.sd, [x, y]))[0]}


def square_loss(y):
    (y * y).sum().mark_as_loss()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("small", [(2,), (1, 2), (3, 1), (1, 1), ()])
def test_a_gradient_of_the_broadcast_shape_is_summed(form, small, rng):
    x, b = rng.normal(size=(3, 2)), rng.normal(size=small)
    sd = SameDiff.create()
    square_loss(FORMS[form](sd.var("x", x), sd.var("b", b)))
    own = SameDiff.create()
    square_loss(own.var("x", x) + own.var("b", b))
    for name, expected in own.calculate_gradients({}, "x", "b").items():
        found = sd.calculate_gradients({}, "x", "b")[name]
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("executor", ["plan", "reference"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [1, 3])
def test_open_sizes_are_looked_at_when_they_are_known(form, rows, executor, rng, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    square_loss(FORMS[form](sd.placeholder("x", DataType.DOUBLE, -1, 2), sd.placeholder("b", DataType.DOUBLE, -1, 2)))
    x, b = rng.normal(size=(3, 2)), rng.normal(size=(rows, 2))
    found = sd.calculate_gradients({"x": x, "b": b}, "x", "b")
    np.testing.assert_allclose(found["x"], 2 * (x + b))
    np.testing.assert_allclose(found["b"], (2 * (x + b)).sum(axis=0, keepdims=True) if rows == 1 else 2 * (x + b))


@user_op("test_ig.cut", infer=lambda x: x.with_shape((-1,)), grad=lambda inputs, outputs, grads: [grads[0]])
def cut(xp, x):
    return np.asarray(x)[:-1]


@pytest.mark.parametrize("executor", ["plan", "reference"])
def test_sizes_that_only_the_run_knows_are_looked_at_in_the_run(executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    square_loss(cut("y", sd.placeholder("x", DataType.DOUBLE, -1)))
    with pytest.raises(GradientError, match=r"'test_ig.cut'.*input 0, 'x'.*\(4,\); expected \(5,\)"):
        sd.calculate_gradients({"x": np.ones(5)}, "x")


def doubled(grad):
    @user_op("test_ig.doubled", grad=lambda inputs, outputs, grads: grad(inputs[0], grads[0]))
    def doubled(xp, x):
        return x * 2
    return doubled


WRONG = {
    "a sum": (lambda x, g: [g.sum()], r"shape \(\); expected \(3,\)"),
    "a part": (lambda x, g: [g[:2]], r"shape \(2,\); expected \(3,\)"),
    "another axis": (lambda x, g: [g.reshape(3, 1)], r"shape \(3, 1\); expected \(3,\)"),
    "whole numbers": (lambda x, g: [g.cast_to(DataType.INT)], "type INT; expected DOUBLE"),
    "a number": (lambda x, g: [0.0], "is float 0.0; it must be a variable"),
    "an array": (lambda x, g: [np.ones(3)], "is ndarray"),
    "of another graph": (lambda x, g: [SameDiff.create().var("g", np.ones(3))], "another graph"),
    "nothing": (lambda x, g: None, "returned nothing for 1 inputs"),
    "too many": (lambda x, g: [g, g], "returned 2 gradients for 1 inputs"),
    "an exception": (lambda x, g: [1 // 0], r"raised ZeroDivisionError.*test_input_gradient.py"),
}


@pytest.mark.parametrize("way", WRONG)
def test_anything_else_names_the_op_and_the_input(way):
    grad, text = WRONG[way]
    sd = SameDiff.create()
    y = doubled(grad)(sd.math.square(sd.var("x", np.ones(3))))
    square_loss(y)
    with pytest.raises(GradientError, match=f"test_ig.doubled.*{text}") as caught:
        sd.calculate_gradients({}, "x")
    assert "test_input_gradient.py" in "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    with pytest.raises(GradientError):
        sd.calculate_gradients({}, "x")                 # the refusal leaves nothing behind that a second call could take


def test_another_floating_type_is_converted():
    sd = SameDiff.create()
    square_loss(doubled(lambda x, g: [g.cast_to(DataType.DOUBLE) * 2])(sd.var("x", np.ones(3, np.float32))))
    found = sd.calculate_gradients({}, "x")["x"]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, 8)


def test_inside_of_branches_and_loops():
    def build(sd, grad):
        x, op = sd.var("x", np.ones(3)), doubled(grad)
        taken = sd.if_cond(None, None, lambda s: s.constant(True), lambda s: op(x), lambda s: x)
        _, y = sd.while_loop([sd.constant(0), taken], lambda s, v: s.lt(v[0], 2), lambda s, v: [v[0] + 1, op(v[1])])
        square_loss(y)
        return sd.calculate_gradients({}, "x")["x"]
    np.testing.assert_allclose(build(SameDiff.create(), lambda x, g: [g * 2]), 2 * 8 * 8)
    with pytest.raises(GradientError, match=r"test_ig.doubled.*shape \(\)"):
        build(SameDiff.create(), lambda x, g: [g.sum()])


def test_second_derivatives_go_through_the_sum(rng):
    x, b = rng.normal(size=(3, 2)), rng.normal(size=(1, 2))
    sd = SameDiff.create()
    a, c = sd.placeholder("x", DataType.DOUBLE, -1, 2), sd.placeholder("b", DataType.DOUBLE, -1, 2)
    y = plus(a, c)
    (first,) = sd.gradients((y * y * y).sum(), c)
    (second,) = sd.gradients(first.sum(), c)
    np.testing.assert_allclose(sd.output_single({"x": x, "b": b}, second), (6 * (x + b)).sum(axis=0, keepdims=True))
