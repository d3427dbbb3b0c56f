"""What a graph says to calls that cannot work, and the forms it takes besides."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import ConfigurationError, DL4PyError, GradientError, GraphError, ShapeError, UnknownNameError


def test_functions_of_branches_may_have_no_parameter():
    sd = SameDiff.create()
    x = sd.var("x", np.float32(-3))
    y = sd.if_cond(lambda: x > 0, lambda: x * 2, lambda sd: -x)
    assert float(y.eval()) == 3
    with pytest.raises(GraphError, match=r"takes \(a, b\); it is called with the graph"):
        sd.if_cond(lambda a, b: x > 0, lambda: x, lambda: x)
    with pytest.raises(GraphError, match="functions; got int"):
        sd.if_cond(lambda: x > 0, 3, lambda: x)


def test_the_shape_of_a_placeholder_by_keyword():
    sd = SameDiff.create()
    assert sd.placeholder("a", DataType.FLOAT, shape=(-1, 4)).get_shape() == (-1, 4)
    assert sd.placeholder("b", dtype=DataType.INT, shape=None).get_shape() is None
    assert sd.placeholder("c", DataType.FLOAT, shape=3).get_shape() == (3,)
    with pytest.raises(GraphError, match="given twice"):
        sd.placeholder("d", DataType.FLOAT, 2, shape=(2,))


def test_names_that_a_graph_lacks_are_met_with_near_ones():
    sd = SameDiff.create()
    with pytest.raises(AttributeError, match="'nnn'.*did you mean.*'nn'"):
        _ = sd.nnn
    with pytest.raises(AttributeError, match="did you mean 'placeholder'"):
        sd.placeholdr("x")
    assert not hasattr(sd, "anything_else")


def test_a_variable_of_the_gradient_graph_points_to_gradients():
    sd = SameDiff.create()
    x = sd.var("x", np.ones(3))
    sd.math.cube("y", x).sum("loss")
    sd.set_loss_variables("loss")
    sd.grad("x").sum("S")
    with pytest.raises(UnknownNameError, match=r"gradient graph.*sd\.gradients\(loss, x\)"):
        sd.set_loss_variables("S")


def test_several_names_must_be_one_for_each_output():
    sd = SameDiff.create()
    x = sd.var("x", np.ones((3, 2)))
    with pytest.raises(GraphError, match="2 names .* for 3 outputs"):
        sd.unstack(["p", "q"], x, 0, 3)
    assert [v.name() for v in sd.unstack("u", x, 0, 3)] == ["u", "u:1", "u:2"]


def test_a_shape_that_no_batch_fits():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 4)
    assert x.reshape(3, 8).get_shape() == (3, 8)
    with pytest.raises(ShapeError, match="15 elements are no multiple of 4"):
        x.reshape(3, 5)


def test_calls_that_would_do_nothing():
    sd = SameDiff.create()
    x = sd.var("x", np.ones(2))
    x.sum("loss").mark_as_loss()
    with pytest.raises(GradientError, match="at least one variable"):
        sd.calculate_gradients({})
    for add in (sd.set_listeners, sd.add_listeners):
        with pytest.raises(ConfigurationError, match="derived from Listener; got 'x'"):
            add("x")


@pytest.mark.parametrize("value", [{"a": 1}, [["x"]], np.ones(2), 3, None, len, np.ndarray, b"x"], ids=str)
def test_what_is_no_name(value):
    """Wherever a variable is asked for by its name."""
    sd = SameDiff.create()
    x = sd.var("x", np.ones(2, np.float32))
    x.sum("y")
    for call in (sd.get_variable, sd.convert_to_constant, sd.convert_to_variable, sd.set_loss_variables, sd.get_arr_for_var_name,
                 sd.get_variable_output_op, sd.create_grad_function, lambda v: sd.rename_variable(v, "z"), lambda v: sd.output({}, v),
                 lambda v: sd.output_single({}, v), lambda v: sd.calculate_gradients({}, v), lambda v: sd.set_array(v, np.ones(2))):
        with pytest.raises(DL4PyError):
            call(value)
    assert not sd.has_variable(value)


@pytest.mark.parametrize("value", [np.ndarray, list, SameDiff])
def test_classes_are_no_arrays(value):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1)
    for call in (sd.constant, lambda v: sd.output({"x": v}, "x"), lambda v: x + v):
        with pytest.raises(DL4PyError):
            call(value)
