"""Gradients of graphs: orders, several losses, what does not depend, seeds, refusals."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import GradientError
from dl4py.samediff.families.gradient import gradients
from tests.helpers.randomgraphs import agree, same

F, D = DataType.FLOAT, DataType.DOUBLE


@pytest.fixture
def sd():
    made = SameDiff.create()
    made.var("x", np.array([1.0, 2.0, 3.0]))
    made.var("w", np.array([0.5, -1.0, 2.0]))
    return made


def test_orders(sd):
    x = sd.variable("x")
    found = x ** 4
    for factor, power in ((4, 3), (12, 2), (24, 1), (24, 0)):
        (found,) = sd.gradients(found, x)
        same(found.eval(), factor * x.get_arr() ** power)
    (gone,) = sd.gradients(found, x)
    assert gone is None or not gone.eval().any()


def test_hessian_of_a_mixed_term(sd):
    x, w = sd.variable("x"), sd.variable("w")
    (dx,) = sd.gradients((x * x * w).sum(), x)
    (dw,) = sd.gradients(dx.sum(), w)
    same(dw.eval(), 2 * x.get_arr())


def test_gradient_penalty_trains_through_gradients(sd):
    x, w = sd.variable("x"), sd.variable("w")
    (dx,) = sd.gradients(sd.math.tanh(x * w).sum(), x)
    (dx ** 2).sum("penalty").mark_as_loss()
    found = sd.calculate_gradients(None, "w")["w"]
    a, b, h = x.get_arr(), w.get_arr(), 1e-6

    def penalty(v):
        return ((v * (1 - np.tanh(a * v) ** 2)) ** 2).sum()
    numeric = [(penalty(b + h * e) - penalty(b - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(found, numeric, rtol=1e-6)


def test_several_losses_and_paths_add_up(sd):
    x, w = sd.variable("x"), sd.variable("w")
    y = x * w
    (y * y).mean("a").mark_as_loss()
    (y + y * 3.0).rename("b").mark_as_loss()
    a, b = x.get_arr(), w.get_arr()
    same(sd.calculate_gradients(None, "x")["x"], 2 * a * b * b / 3 + 4 * b)
    assert sd.calculate_gradients(None, "x", "w").keys() == {"x", "w"}


def test_what_does_not_depend(sd):
    x, w = sd.variable("x"), sd.variable("w")
    assert sd.gradients(x.sum(), w) == [None]
    found = sd.gradients((x * 2.0).sum(), [w, x])
    assert found[0] is None and found[1] is not None
    (flat,) = sd.gradients((sd.math.floor(x) * 1.0).sum(), x)
    assert not flat.eval().any()
    sd.set_loss_variables(x.sum("loss"))
    with pytest.raises(GradientError, match="does not depend on w"):
        sd.calculate_gradients(None, "w")
    assert sd.grad("w") is None and sd.grad("x").sd is not sd


def test_integer_inputs_on_the_way(sd):
    x = sd.variable("x")
    i = sd.constant("i", np.array([2, 0, 2], np.int32))
    (sd.gather(x, i, 0) * 2.0).sum("loss").mark_as_loss()
    same(sd.calculate_gradients(None, "x")["x"], np.array([2.0, 0, 4.0]))
    with pytest.raises(GradientError, match="'i'"):
        sd.calculate_gradients(None, "i")


def test_external_seeds(sd):
    x, w = sd.variable("x"), sd.variable("w")
    y = sd.math.exp("y", x * w)
    seed = sd.placeholder("seed", D, 3)
    found = gradients(sd, [], [x], {"y": seed})["x"]
    given = np.array([1.0, -2.0, 0.5])
    same(agree(sd, {"seed": given}, found.name())[found.name()], given * y.eval() * w.get_arr())


def test_variables_used_only_by_shape(sd):
    x, w = sd.variable("x"), sd.variable("w")
    assert sd.gradients((sd.ones_like(w) * x).sum(), w)[0] is None or not sd.gradients((sd.ones_like(w) * x).sum(), w)[0].eval().any()


def test_names_and_types_of_results(sd):
    x = sd.variable("x")
    (g,) = sd.gradients((x * x).sum(), x, name_results=True)
    assert g.name() == "x-grad" and (g.dtype, g.get_shape()) == (x.dtype, x.get_shape())


def test_an_op_without_gradient_is_named_with_its_line(sd):
    from dl4py.udf import user_op

    @user_op("test.gradient.opaque")
    def opaque(xp, x):
        return np.sort(np.linalg.eigvals(np.outer(x, x)).real)

    from dl4py.samediff.ir.op import OPS
    try:
        y = sd.op("test.gradient.opaque", "y", sd.variable("x"))
        with pytest.raises(GradientError, match=r"test_gradient\.py") as error:
            sd.gradients(y.sum(), sd.variable("x"))
        assert "test.gradient.opaque" in str(error.value) or "'y'" in str(error.value)
    finally:
        OPS.remove("test.gradient.opaque")


def test_the_gradient_graph_leaves_the_graph_alone(sd):
    (sd.variable("x") * sd.variable("w")).sum("loss").mark_as_loss()
    before, version = sd.variable_names(), sd.version
    first = sd.calculate_gradients(None, "x")["x"]
    assert sd.variable_names() == before and sd.version == version
    sd.set_array("w", np.array([1.0, 1.0, 1.0]))
    same(sd.calculate_gradients(None, "x")["x"], np.ones(3))
    same(first, np.array([0.5, -1.0, 2.0]))
    (sd.variable("loss") * 2.0).rename("twice")
    sd.set_loss_variables("twice")
    same(sd.calculate_gradients(None, "x")["x"], np.full(3, 2.0))


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 1), (1, 3), (2, 3), ()])
def test_gradients_of_what_was_broadcast(shape):
    sd = SameDiff.create()
    w = sd.var("w", np.full(shape, 2.0))
    x = sd.placeholder("x", D, -1, 3)
    (x * w).sum("loss").mark_as_loss()
    for batch in (2,):
        value = np.arange(batch * 3.0).reshape(batch, 3)
        axes = np.broadcast_shapes(shape, (batch, 3))
        wanted = value.copy()
        if len(shape) < 2:
            wanted = wanted.sum(0)
        elif shape[0] == 1:
            wanted = wanted.sum(0, keepdims=True)
        if shape and shape[-1] == 1:
            wanted = wanted.sum(-1, keepdims=True)
        wanted = wanted.sum() if shape == () else wanted
        assert axes == (batch, 3)
        same(sd.calculate_gradients({"x": value}, "w")["w"], np.asarray(wanted).reshape(shape))
