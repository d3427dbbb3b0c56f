"""Gradients from outside in place of a loss."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff, SameDiffUtils
from dl4py.samediff.errors import GradientError, ShapeError, UnknownNameError

A = np.linspace(-1, 1, 6).reshape(2, 3)


def graph():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.DOUBLE, -1, 3)
    w = sd.var("w", np.linspace(0.1, 1.2, 12).reshape(3, 4))
    h = sd.math.tanh("h", x.mmul(w))
    sd.math.square("y", h)
    return sd


def want(h_grad, y_grad):
    w = np.linspace(0.1, 1.2, 12).reshape(3, 4)
    h = np.tanh(A @ w)
    return A.T @ ((h_grad + y_grad * 2 * h) * (1 - h * h))


def test_gradients_given_at_each_run(rng):
    sd = graph()
    errors = sd.external_errors(None, "h", sd.variable("y"))
    assert errors.get_grad_placeholder_name() == "h-grad" and sd.get_loss_variables() == [errors.output_variable().name()]
    for _ in range(2):
        h, y = rng.normal(size=(2, 2, 4))
        np.testing.assert_allclose(sd.calculate_gradients({"x": A, "h-grad": h, "y-grad": y}, "w")["w"], want(h, y), rtol=1e-10)


def test_gradients_given_beforehand_and_replaced(rng):
    sd = graph()
    first, second = rng.normal(size=(2, 2, 4))
    errors = SameDiffUtils.externalErrors(sd, {"y": first})
    np.testing.assert_allclose(sd.calculate_gradients({"x": A}, "w")["w"], want(0, first), rtol=1e-10)
    errors.updateVariable("y", second)
    np.testing.assert_allclose(sd.calculate_gradients({"x": A}, "w")["w"], want(0, second), rtol=1e-10)


@pytest.mark.parametrize("gradients, variables, error, text", [
    (None, (), GradientError, "at least one result"), ({"yy": A}, ("y",), UnknownNameError, "did you mean 'y'"),
    ({"y": A}, (), ShapeError, r"\(2, 3\)"), (None, ("nope",), UnknownNameError, "nope")])
def test_what_does_not_fit_changes_nothing(gradients, variables, error, text):
    sd = graph()
    names = sd.variable_names()
    with pytest.raises(error, match=text):
        sd.external_errors(gradients, *variables)
    assert sd.variable_names() == names and not sd.get_loss_variables()
