"""Mistakes that examples do not show: gradients of inputs left out, gradients that hide NaN, shapes that hold for examples alone."""
from __future__ import annotations

import re

import numpy as np
import pytest

from dl4py.samediff import DataType
from dl4py.samediff.base.user_code.check_report import CheckFailure
from dl4py.samediff.graph import child_process
from dl4py.udf import LongShapeDescriptor, UserDefinedCustomOp, user_defined_op, user_op
from dl4py.udf.checks import circumstances, runs, values
from dl4py.udf.checks.examples import other_sizes, with_left_out

X = np.linspace(-1, 2, 6).reshape(3, 2)


def refused(run, text):
    if text is None:
        run()
    else:
        with pytest.raises(CheckFailure, match=re.escape(text)):
            run()


# An input that may be left out, and is, in the only example.

def right(xp, inputs, outputs, grads):
    return [grads[0] * 2, None if inputs[1] is None else xp.sum(grads[0], axis=0)]


def without(xp, inputs, outputs, grads):
    return [grads[0] * 2, None]


def of_all_rows(xp, inputs, outputs, grads):
    return [grads[0] * 2, None if inputs[1] is None else xp.mean(grads[0], axis=0)]


def fails(xp, inputs, outputs, grads):
    return [grads[0] * 2, None if inputs[1] is None else inputs[1] @ grads[0]]


def refuses(xp, inputs, outputs, grads):
    if inputs[1] is not None:
        raise ValueError("no gradient with a bias")
    return [grads[0] * 2, None]


@pytest.mark.parametrize("grad, text", [
    (right, None), (refuses, None), (without, "with the input 'b', which the example leaves out"),
    (of_all_rows, "with the input 'b', which the example leaves out"), (fails, "with the input 'b', which the example leaves out")])
def test_gradients_of_inputs_left_out(grad, text):
    @user_op(f"test_hidden_mistakes.{grad.__name__}", grad=grad)
    def op(xp, x, b=None):
        if b is not None and b.shape != x.shape[1:]:
            raise ValueError("one number for each column")
        return x * 2 if b is None else x * 2 + b
    refused(lambda: circumstances._of_inputs_left_out(op.op_class(), [X], 1e-6, 0), text)


def test_shapes_of_inputs_left_out():
    @user_op("test_hidden_mistakes.shapes")
    def op(xp, x, b=None, c=None):
        return x
    assert [(n, [None if a is None else a.shape for a in given]) for n, given in with_left_out(op.op_class(), [X])] == [
        *[("b", [(3, 2), s]) for s in [(3, 2), (2,), ()]], *[("c", [(3, 2), None, s]) for s in [(3, 2), (2,), ()]]]


# Gradients of outputs that are not numbers.

@pytest.mark.parametrize("rule, hides", [
    (lambda xp, x, g: g * 2 * x, False), (lambda xp, x, g: xp.where(x > 0, g * 2 * x, g * 2 * x), False),
    (lambda xp, x, g: np.nan_to_num(g * 2 * x), True), (lambda xp, x, g: np.where(g == g, g * 2 * x, 0.0), True),
    (lambda xp, x, g: np.fmax(g * 2 * x, -1e9), True)])
def test_gradients_that_hide_what_is_not_a_number(rule, hides):
    def grad(xp, inputs, outputs, grads):
        return [rule(xp, inputs[0], grads[0])]

    @user_op(f"test_hidden_mistakes.hides{id(rule)}", grad=grad)
    def op(xp, x):
        return x * x
    refused(lambda: circumstances._is_linear(op.op_class(), [X]), "are not numbers, that of input 0 is one" if hides else None)


# Shapes in DL4J's form.

@pytest.mark.parametrize("rule, text", [
    (lambda a: list(a.shape), None), (lambda a: [3, 2], "the shape rule gives [(3, 2)] whatever the inputs are")])
def test_shape_rules_of_the_java_form(rule, text):
    @user_defined_op
    class Op(UserDefinedCustomOp):
        def op_name(self):
            return f"test_hidden_mistakes.rule{id(rule)}"

        def calculate_output_shape(self, context):
            return [LongShapeDescriptor.from_shape(rule(context.get_input_array(0)), DataType.DOUBLE)]

        def exec(self, context):
            context.get_output_array(0).assign(context.get_input_array(0) * 2)
    op = Op().as_op()
    refused(lambda: runs.follow_sizes(op, [X], other_sizes([X])), text)


def test_shapes_that_are_always_the_same():
    @user_op("test_hidden_mistakes.turn", infer=lambda angle: angle.with_shape((2, 2)))
    def turn(xp, angle):
        return np.broadcast_to(np.sum(angle), (2, 2))
    runs.follow_sizes(turn.op_class(), [np.ones((2, 2))], other_sizes([np.ones((2, 2))]))


# Types of results.

NARROW = X.astype(np.float32)


@pytest.mark.parametrize("code, options, wide", [
    (lambda xp, x: x / np.sqrt(3), {}, True), (lambda xp, x: x / 3 ** 0.5, {}, False), (lambda xp, x: x + np.zeros(2), {}, True),
    (lambda xp, x: x * xp.arange(2), {}, True), (lambda xp, x: x * xp.arange(2, dtype=x.dtype), {}, False),
    (lambda xp, x: xp.argmax(x, axis=1), {}, False), (lambda xp, x: x * 1.0, {"infer": lambda x: x}, False),
    (lambda xp, x: x.astype(np.float64), {"infer": lambda x: x.with_dtype(DataType.DOUBLE)}, False),
    (lambda xp, x: np.asarray(x, np.float64), {"infer": lambda x: x}, True)])
def test_results_that_are_wider_than_the_inputs(code, options, wide):
    op = user_op(f"test_hidden_mistakes.types{id(code)}", gradient="none", **options)(code)
    refused(lambda: values.follows_types(op.op_class(), [X]), "output 0 of float32 inputs is float64" if wide else None)


def test_results_in_a_type_that_an_attribute_names():
    @user_op("test_hidden_mistakes.as_type")
    def op(xp, x, *, dtype: DataType = DataType.DOUBLE):
        return x.astype(dtype.numpy)
    assert values.follows_types(op.op_class(), [NARROW]) == "float32 of float32"
    assert values.follows_types(op.op_class(), [np.arange(3)]) == "not run"


# What is right in small arrays alone, or in the first type that is computed.

def by_blocks(rest):
    def grad(xp, inputs, outputs, grads):
        (x,), (g,) = inputs, grads
        made, n = np.zeros_like(x), len(x)
        for start in range(0, n, 32):
            end = start + 32
            if rest or end <= n or not start:
                made[start:end] = 2 * x[start:end] * g[start:end]
        return [made]
    return grad


@pytest.mark.parametrize("rest", [True, False])
def test_gradients_that_forget_the_end_of_longer_arrays(rest):
    op = user_op(f"test_hidden_mistakes.blocks{rest}", grad=by_blocks(rest))(lambda xp, x: np.asarray(x) ** 2).op_class()
    refused(lambda: circumstances.gradients_elsewhere(op, [X], 1e-6, 0), None if rest else "for shapes (67, 2)")


ROOTS: dict = {}


@pytest.mark.children
@pytest.mark.skipif(not child_process.possible(), reason="needs processes that are copies")
def test_tables_of_the_first_type():
    @user_op("test_hidden_mistakes.roots")
    def op(xp, x):
        return x * ROOTS.setdefault(x.shape, np.sqrt(np.arange(2, dtype=x.dtype) + 2))
    refused(lambda: circumstances.in_either_order(op.op_class(), [X]), "when another call with another floating type came before it")


# Kernels where numbers are equal, or halfway.

def away_from_zero(x, y, step):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = np.floor(x[i, j] / step + 0.5) * step


def last_of_the_largest(x, y):
    for i in range(x.shape[0]):
        best = 0
        for j in range(x.shape[1]):
            if x[i, j] >= x[i, best]:
                best = j
        y[i] = best


@pytest.mark.plans
@pytest.mark.sampled(1)
@pytest.mark.parametrize("kernel, code, text", [
    (away_from_zero, lambda xp, x, *, step=0.25: xp.round(x / step) * step, "halves of 0.25"),
    (last_of_the_largest, lambda xp, x: xp.argmax(x, axis=1), "equal numbers")])
def test_kernels_of_special_numbers(kernel, code, text):
    code.__annotations__["step"] = float
    op = user_op(f"test_hidden_mistakes.{kernel.__name__}", numba=kernel, gradient="none")(code).op_class()
    refused(lambda: values.special_values(op, [X]), text)


# Gradients where two attributes differ from the example.

def of_the_last_axis(xp, inputs, outputs, grads, axis, keepdims):
    return [2 * inputs[0] * (grads[0] if keepdims else xp.expand_dims(grads[0], -1))]


def of_each_axis(xp, inputs, outputs, grads, axis, keepdims):
    return [2 * inputs[0] * (grads[0] if keepdims else xp.expand_dims(grads[0], axis))]


@pytest.mark.parametrize("grad, text", [(of_the_last_axis, "with another 'axis' and another 'keepdims'"), (of_each_axis, None)])
def test_gradients_of_two_other_attributes(grad, text):
    @user_op(f"test_hidden_mistakes.{grad.__name__}", grad=grad)
    def op(xp, x, *, axis: int = -1, keepdims: bool = True):
        return (np.asarray(x) ** 2).sum(axis=axis, keepdims=keepdims)
    refused(lambda: circumstances.gradients_of_other_attributes(op.op_class(), [X[:2]], 1e-6, 0), text)
