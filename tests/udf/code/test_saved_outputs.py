"""Outputs that are kept for the gradient: second derivatives go through them, or there are none."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.udf import UserOp, user_op
from dl4py.udf.code.gradient_op import NoSecondGradientError

X = np.array([0.5, -1.0, 2.0])


def powers(xp, x):
    e = xp.exp(x)
    return e * x, e


def unknown(xp, x):
    e = np.exp(np.asarray(x))
    return e * x, e


def by_nodes(inputs, outputs, grads):
    return [grads[0] * outputs[1] * (inputs[0] + 1)]


def by_arrays(xp, inputs, outputs, grads):
    return [grads[0] * outputs[1] * (inputs[0] + 1)]


def kernel(x, y, e):
    for i in range(x.shape[0]):
        e[i] = np.exp(x[i])
        y[i] = e[i] * x[i]


def by_kernel(x, y, e, gy, gx):
    for i in range(x.shape[0]):
        gx[i] = gy[i] * e[i] * (x[i] + 1)


class InClassForm(UserOp):
    saved = 1

    def compute(self, xp, x):
        return powers(xp, x)

    def grad(self, inputs, outputs, output_grads):
        return by_nodes(inputs, outputs, output_grads)


FORMS = {"nodes": lambda n: user_op(n, grad=by_nodes, saved=1)(powers), "arrays": lambda n: user_op(n, grad=by_arrays, saved=1)(powers),
         "kernel": lambda n: user_op(n, numba=kernel, numba_grad=by_kernel, grad=by_arrays, saved=1)(powers),
         "class": lambda n: user_op(n)(InClassForm)()}


def derivatives(op):
    sd = SameDiff()
    x = sd.var("x", X)
    (first,) = sd.gradients(op(x).sum(), [x])
    (second,) = sd.gradients((first * first).sum(), [x])
    return first.eval(), second.eval()


@pytest.mark.parametrize("form", FORMS)
def test_second_derivatives(form):
    first, second = derivatives(FORMS[form](f"test_saved_outputs.{form}"))
    np.testing.assert_allclose(first, np.exp(X) * (X + 1), rtol=1e-12)
    np.testing.assert_allclose(second, 2 * np.exp(X) * (X + 1) * np.exp(X) * (X + 2), rtol=1e-12)


@pytest.mark.parametrize("grad", [by_nodes, by_arrays])
def test_code_without_nodes_has_none(grad):
    op = user_op(f"test_saved_outputs.unknown_{grad.__name__}", grad=grad, saved=1)(unknown)
    with pytest.raises(NoSecondGradientError, match="reads outputs that it saves"):
        derivatives(op)
