"""Switch and merge."""
from __future__ import annotations

import io

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DataTypeError, ShapeError

X = np.array([[1.0, -2.0], [0.5, 4.0]])


def both_ways():
    sd = SameDiff.create()
    p, x, w = sd.placeholder("p", DataType.BOOL, ()), sd.var("x", X), sd.var("w", X + 1)
    no, yes = sd.switch_op(x, p)
    sd.merge("y", no * no, (yes * w).sum(1) .reshape(2, 1) * sd.constant(np.ones((2, 2))))
    sd.set_loss_variables(sd.sum("loss", sd.variable("y")))
    return sd


@pytest.mark.parametrize("taken", [False, True])
def test_the_way_taken_counts(taken):
    sd = both_ways()
    expected = np.repeat((X * (X + 1)).sum(1, keepdims=True), 2, 1) if taken else X * X
    assert np.allclose(sd.output_single({"p": taken}, "y"), expected)
    grads = sd.calculate_gradients({"p": taken}, "x", "w")
    assert np.allclose(grads["x"], 2 * (X + 1) if taken else 2 * X)
    assert np.allclose(grads["w"], 2 * X if taken else 0)
    stream = io.BytesIO()
    sd.save(stream)
    assert np.allclose(SameDiff.load(io.BytesIO(stream.getvalue())).output_single({"p": taken}, "y"), expected)


@pytest.mark.parametrize("taken", [False, True])
def test_the_other_output_is_zeros_and_has_no_gradient(taken):
    sd = SameDiff.create()
    x, p = sd.var("x", X), sd.constant("p", np.bool_(taken))
    no, yes = sd.switchOp(x, p)
    assert np.array_equal(no.eval(), X * (not taken)) and np.array_equal(yes.eval(), X * taken)
    sd.set_loss_variables(sd.sum("loss", no * 2 + yes * 3))
    assert np.array_equal(sd.calculate_gradients({}, "x")["x"], np.full((2, 2), 3.0 if taken else 2.0))


def test_ways_may_cross_and_end_at_once():
    for taken in (False, True):
        sd = SameDiff.create()
        no, yes = sd.switch_op(sd.var("x", X), sd.constant(np.bool_(taken)))
        assert np.array_equal(sd.merge(yes, -no).eval(), X if taken else -X)


def test_the_switched_value_may_be_used_besides():
    for taken in (False, True):
        sd = SameDiff.create()
        x = sd.var("x", X)
        no, yes = sd.switch_op(x, sd.constant(np.bool_(taken)))
        sd.set_loss_variables(sd.sum("loss", sd.merge("y", no * x, yes + x * 2)))
        assert np.array_equal(sd.variable("y").eval(), 3 * X if taken else X * X)
        assert np.array_equal(sd.calculate_gradients({}, "x")["x"], np.full((2, 2), 3.0) if taken else 2 * X)


def test_without_a_switch_both_are_there_and_the_second_counts():
    sd = SameDiff.create()
    x, y = sd.var("x", X), sd.var("y", X + 1)
    sd.set_loss_variables(sd.sum("loss", sd.merge("m", x, y)))
    assert np.array_equal(sd.variable("m").eval(), X + 1)
    grads = sd.calculate_gradients({}, "y")
    assert np.array_equal(grads["y"], np.ones((2, 2)))


def test_bad_predicates():
    sd = SameDiff.create()
    with pytest.raises(DataTypeError, match="BOOL"):
        sd.switch_op(sd.var("x", X), sd.constant(1.0))
    with pytest.raises(ShapeError, match="one element"):
        sd.switch_op(sd.variable("x"), sd.constant(np.array([True, False])))
