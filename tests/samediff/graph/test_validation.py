"""Checks of graphs under ND4J's names."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import EqualityFn, GradCheckUtil, OpValidation, RelErrorFn, SameDiff, TestCase
from dl4py.samediff.errors import ConfigurationError, GradientError
from dl4py.udf import UserOp, user_op

W = np.array([[0.5, -1.0], [2.0, 0.25]])


@user_op("test_validation.wrong")
class Wrong(UserOp):
    """A cube whose gradient is that of the square."""

    def infer(self, x):
        return x

    def compute(self, xp, x):
        return x ** 3

    def grad(self, inputs, outputs, output_grads):
        return [inputs[0] * 2 * output_grads[0]]


def graph(build=lambda sd, w, x: (w * w).mmul(x)):
    sd = SameDiff.create()
    w, x = sd.var("w", W), sd.placeholder("x", "DOUBLE", 2, 3)
    build(sd, w, x).sum("loss")
    sd.set_loss_variables("loss")
    return sd


X = np.arange(6.0).reshape(2, 3)
LOSS = float(((W * W) @ X).sum())


def test_right_and_wrong_gradients(capsys):
    sd = graph()
    assert GradCheckUtil.check_gradients(sd, {"x": X}) and (sd.get_variable("w").get_arr() == W).all()
    wrong = graph(lambda sd, w, x: Wrong()(w).mmul(x))
    assert not GradCheckUtil.checkGradients(wrong, {"x": X})
    assert "gradient of w, element (0, 0): 3, central difference 2.25" in capsys.readouterr().err
    assert (wrong.get_variable("w").get_arr() == W).all()
    kept = np.zeros((2, 2), bool)
    assert GradCheckUtil.check_gradients(wrong, {"x": X}, grad_check_mask={"w": kept})
    kept[1, 0] = True
    assert not GradCheckUtil.check_gradients(wrong, {"x": X}, grad_check_mask={"w": kept}, max_per_param=1)


def test_what_cannot_be_checked():
    sd = graph()
    with pytest.raises(GradientError, match="no variable to check"):
        GradCheckUtil.check_gradients(sd, {"x": X}, "w")
    narrow = SameDiff.create()
    (narrow.var("w", W.astype(np.float32)) * 2).sum("loss")
    narrow.set_loss_variables("loss")
    with pytest.raises(GradientError, match="not so: w"):
        GradCheckUtil.check_gradients(narrow)


def test_cases():
    case = TestCase(graph()).placeholder_value("x", X).expectedOutput("loss", np.float64(LOSS)).test_name("squares")
    assert OpValidation.validate(case) is None
    assert OpValidation.validate(case.expected_output_rel_error("loss", np.float64(LOSS * 1.1), 0.2, 0)) is None
    message = OpValidation.validate(case.expected("loss", np.float64(LOSS + 1)))
    assert message == "variable 'loss': differs by up to 1, at most 1e-05 is allowed - squares"
    assert OpValidation.validate(case.expected("loss", lambda a: "never")).startswith("variable 'loss': never")
    wrong = TestCase(graph(lambda sd, w, x: Wrong()(w).mmul(x))).placeholder_values({"x": X})
    assert OpValidation.validate(wrong) == "gradient check failed"
    assert OpValidation.validate(wrong.gradient_check(False)) is None
    missing = TestCase(graph()).expected_output("loss", 0.0)
    assert "x" in OpValidation.validate(missing)
    with pytest.raises(ValueError, match="x"):
        OpValidation.validate(missing, False)
    nothing = TestCase(graph()).gradient_check(False)
    nothing.check_saving = False
    with pytest.raises(ConfigurationError, match="checks nothing"):
        OpValidation.validate(nothing)


def test_comparisons():
    assert EqualityFn([1.0, np.nan])([1.0, np.nan]) is None and "shape (3,), expected (2,)" in EqualityFn([1, 2])([1, 2, 3])
    close = RelErrorFn([100.0, 1e-9], 1e-3, 1e-6)
    assert close([100.1, 0.0]) is None and close([101.0, 0.0]).startswith("1 of 2 numbers are off, relative error up to")
    assert close([np.nan, 0.0]) is not None and "shape" in close([1.0])
