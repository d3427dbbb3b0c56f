"""Special values, digits, sizes, words and numbers of inputs that authors do not think of, and right ops beside them."""
from __future__ import annotations

import re

import numpy as np
import pytest

from dl4py.samediff.base.user_code.check_report import CheckFailure
from dl4py.udf import UserOp, check_op, user_op
from dl4py.udf.checks import attributes, circumstances, examples, kernels, values

X = np.linspace(-1, 2, 6).reshape(3, 2)
WHOLE = np.array([1, 2, 3])
NAMES: list = []


def op(code, **options):
    NAMES.append(f"test_values.op{len(NAMES)}")
    return user_op(NAMES[-1], **options)(code).op_class()


def refused(run, text):
    if text is None:
        run()
    else:
        with pytest.raises(CheckFailure, match=re.escape(text)):
            run()


# Kernels

def drops(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] if x[i, j] > 0 else 0.0


def keeps(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = max(x[i, j], 0.0)


def overflows(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = np.log1p(np.exp(x[i, j]))


def halves(x, y):
    for i in range(x.shape[0]):
        y[i] = np.int64(x[i] / 2)


def picks(x, at, y):
    for i in range(at.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[max(at[i], 0), j]


@pytest.mark.plans
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("kernel", "code", "given", "text"), [
    (drops, lambda xp, x: xp.maximum(x, 0), [X], "where input 0 holds NaN"), (keeps, lambda xp, x: xp.maximum(x, 0), [X], None),
    (keeps, lambda xp, x: xp.where(x > 0, x, 0), [X], None), (overflows, lambda xp, x: xp.logaddexp(x, 0), [X], "numbers near 1000"),
    (halves, lambda xp, x: x // 2, [WHOLE], "negative numbers"),
    (picks, lambda xp, x, at: np.asarray(x)[np.asarray(at)], [X, np.array([0, 2])], "where input 1 holds negative numbers")])
def test_special_values(kernel, code, given, text):
    refused(lambda: values.special_values(op(code, numba=kernel, gradient="none"), given), text)


def test_kernels_with_buffers_of_a_fixed_size():
    def kernel(x, y):
        kept = np.zeros(16)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                kept[j % 16] = x[i, j]
            for j in range(x.shape[1]):
                y[i, j] = kept[j % 16]
    refused(lambda: kernels.on_cpu(op(lambda xp, x: x * 1, numba=kernel), examples.larger([X])), "for inputs DOUBLE(3, 67)")


# Digits

@pytest.mark.parametrize(("code", "given", "text"), [
    (lambda xp, x: x.astype(np.float32).astype(x.dtype) * 2, WHOLE, "last digits of large whole numbers in input 0"),
    (lambda xp, x: xp.clip(x, 0, 9), WHOLE, None), (lambda xp, x: x // 1000, WHOLE, None), (lambda xp, x: x * 1.5, WHOLE, None),
    (lambda xp, x: np.asarray(x).sum(0, dtype=np.float32).astype(x.dtype), X, "computed in float32"),
    (lambda xp, x: x.sum(axis=0), X, None)])
def test_digits(code, given, text):
    refused(lambda: values.keeps_precision(op(code, gradient="none"), [given]), text)


def test_digits_of_attributes():
    def narrow(xp, x, *, k: float = 0.1):
        return x * np.float32(k)

    def limited(xp, x, *, k: float = 0.1):
        return xp.where(x > k, x, 0)
    refused(lambda: values.keeps_precision(op(narrow), [X]), "with digits of the attribute 'k' lost")
    refused(lambda: values.keeps_precision(op(limited), [X]), None)


# Attributes

def by_mode(xp, x, *, mode: str = "sum"):
    if mode not in ("sum", "mean"):
        raise ValueError(mode)
    return np.asarray(x).sum(-1) if mode == "sum" else np.asarray(x).mean(-1)


def by_axis(xp, x, *, axis: int | None = None):
    return np.asarray(x).mean(axis=axis)


def by_axes(xp, x, *, axes: tuple[int, ...] = ()):
    return np.asarray(x).sum(axis=axes) if axes else np.asarray(x) * 1


@pytest.mark.parametrize(("code", "right", "wrong"), [
    (by_mode, lambda xp, i, o, g, mode: [xp.ones_like(i[0]) * g[0][..., None] / (1 if mode == "sum" else i[0].shape[-1])],
     lambda xp, i, o, g, mode: [xp.ones_like(i[0]) * g[0][..., None]]),
    (by_axis, lambda xp, i, o, g, axis: [
        xp.ones_like(i[0]) * (g[0] if axis is None else xp.expand_dims(g[0], axis)) * g[0].size / i[0].size],
     lambda xp, i, o, g, axis: [xp.ones_like(i[0]) * g[0] / i[0].size]),
    (by_axes, lambda xp, i, o, g, axes: [xp.ones_like(i[0]) * (xp.expand_dims(g[0], axes) if axes else g[0])],
     lambda xp, i, o, g, axes: [xp.ones_like(i[0]) * g[0]])])
def test_words_and_types_tell_of_other_values(code, right, wrong):
    for grad, text in ((right, None), (wrong, "with another")):
        made = op(code, grad=grad)
        refused(lambda made=made: circumstances.gradients_of_other_attributes(made, [X], 1e-6, 0), text)


def test_attributes_that_nothing_reads():
    def unread(xp, x, *, k: float = 2.0):
        return x * 2

    def inside(xp, x, *, k: float = 2.0):
        return sum(x * k for _ in range(2))
    refused(lambda: attributes.are_read(op(unread)), "nothing reads the attribute 'k'")
    refused(lambda: attributes.are_read(op(inside)), None)

    @user_op("test_values.class_form")
    class Made(UserOp):
        k: float = 2.0
        title: str = ""

        def compute(self, xp, x):
            return x * self.k
    refused(lambda: attributes.are_read(Made()), None)


# Gradients

def bounded(xp, inputs, outputs, grads):
    return [np.clip(grads[0], -50, 50) * 2]


def sigmoid(xp, x):
    return 1 / (1 + np.exp(-np.asarray(x)))


@pytest.mark.parametrize(("code", "given", "grad", "text"), [
    (lambda xp, x: np.asarray(x) * 2, [X], bounded, "gradients of outputs times 1e+06"),
    (lambda xp, x: np.asarray(x) * 2, [X], lambda xp, i, o, g: [np.where(abs(g[0]) < 1e-6, 0, g[0]) * 2], "times 1e-09"),
    (lambda xp, x: np.asarray(x) * 2, [X], lambda xp, i, o, g: [g[0] * (2 if np.ndim(i[0]) else 1)], "for single numbers"),
    (sigmoid, [X], lambda xp, i, o, g: [g[0] * np.exp(-i[0]) / (1 + np.exp(-i[0])) ** 2], "the gradient is not a number"),
    (sigmoid, [X], lambda xp, i, o, g: [g[0] * o[0] * (1 - o[0])], None),
    (lambda xp, x, y: np.maximum(x, y), [X, X[::-1] + 0.1], lambda xp, i, o, g: [(i[0] >= i[1]) * g[0], (i[1] >= i[0]) * g[0]],
     "where inputs 0 and 1 are one variable"),
    (lambda xp, x, y: np.maximum(x, y), [X, X[::-1] + 0.1], lambda xp, i, o, g: [(i[0] >= i[1]) * g[0], (i[1] > i[0]) * g[0]], None),
    (lambda xp, *xs: sum(map(np.asarray, xs)), [X, X + 1], lambda xp, i, o, g: [g[0], g[0], *[g[0] * 0] * (len(i) - 2)], "with 3 inputs"),
    (lambda xp, *xs: sum(map(np.asarray, xs)), [X, X + 1], lambda xp, i, o, g: [g[0]] * len(i), None)])
def test_gradients_elsewhere(code, given, grad, text):
    refused(lambda: circumstances.gradients_elsewhere(op(code, grad=grad), given, 1e-6, 0), text)


# Calls

def test_results_kept_by_the_ends_of_an_input():
    kept: dict = {}

    def by_ends(xp, x):
        return kept.setdefault((x.shape, x.dtype, x.flat[0], x.flat[-1]), np.asarray(x) * 2).copy()
    refused(lambda: circumstances.in_either_order(op(by_ends, gradient="none"), [X]), "when another call came before it")


def test_numbers_without_axes():
    report = check_op(op(lambda xp, x: x * x), [np.array(2.0)])
    assert report.passed, report
