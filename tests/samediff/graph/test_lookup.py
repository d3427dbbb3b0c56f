"""Look-ups by name."""
from __future__ import annotations

import threading

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import GradientError, GraphError, UnknownNameError


@pytest.fixture
def sd():
    made = SameDiff.create()
    x = made.placeholder("x", DataType.FLOAT, -1, 2)
    with made.with_name_scope("a"):
        h = x.mmul("h", made.var("w", np.ones((2, 3), np.float32)))
    with made.with_name_scope("ab"):
        made.math.neg("n", h)
    made.constant("c", 3)
    made.set_loss_variables(made.sum("loss", h))
    return made


def test_ops_and_their_variables(sd):
    node = sd.get_variable_output_op("a/h")
    assert sd.op_exists(node.name) and not sd.opExists("nothing")
    assert [v.name() for v in sd.get_input_variables_for_op(node)] == ["x", "w" if sd.has_variable("w") else "a/w"]
    assert [v.name() for v in sd.getOutputVariablesForOp(node.name)] == ["a/h"]
    assert sd.has_args(node) and sd.get_inputs_for_op(node) == sd.get_inputs_for_op(node.name)
    with pytest.raises(UnknownNameError):
        sd.has_args("nothing")


def test_a_scope_holds_what_was_made_in_it(sd):
    assert "a/h" in [v.name() for v in sd.get_variables_in_scope("a")]
    assert [v.name() for v in sd.getVariablesInScope("ab")] == ["ab/n"]
    assert all(n.name.startswith("ab/") for n in sd.get_ops_in_scope("ab")) and len(sd.get_ops_in_scope("ab")) == 1
    with sd.with_name_scope("a") as scope:
        assert sd.get_ops_in_scope(scope) == sd.get_ops_in_scope("a")
        with sd.with_name_scope("inner") as inner:
            v = sd.math.abs(sd.variable("x"))
        assert v in sd.get_variables_in_scope(inner) and v in sd.get_variables_in_scope("a/inner")


def test_constants_and_sizes():
    sd = SameDiff.create()
    sd.var("w", np.ones((2, 3)))
    sd.placeholder("x", DataType.FLOAT, -1, 4)
    c = sd.constant("c", np.zeros(4))
    assert sd.constants() == [c] and sd.is_constant("c") and sd.isPlaceHolder("x") and not sd.is_constant("x")
    assert sd.num_elements() == 10


def test_arrays_by_name(sd):
    assert sd.array_already_exists_for_var_name("c") and not sd.array_already_exists_for_var_name("x")
    sd.set_array_for_variable("x", np.ones((1, 2)))
    assert np.array_equal(sd.get_arr_for_var_name("x"), [[1, 1]])
    sd.associateArrayWithVariable(np.zeros((1, 2)), sd.variable("x"))
    assert np.array_equal(sd.getArrForVarName("x"), [[0, 0]])
    sd.assign_array(4, "c")
    assert sd.get_arr_for_var_name("c") == 4
    with pytest.raises(GraphError):
        sd.assign_array(np.ones((1, 2)), "x")
    sd.clear_placeholders(False)
    assert sd.get_arr_for_var_name("x") is None
    sd.clear_op_inputs()


def test_placeholders_of_all_threads_are_cleared(sd):
    seen = []
    filled, cleared = threading.Event(), threading.Event()

    def other():
        sd.set_array("x", np.ones((1, 2)))
        filled.set()
        cleared.wait(60)
        seen.append(sd.stored("x"))
    thread = threading.Thread(target=other)
    thread.start()
    filled.wait(60)
    sd.clearPlaceholders(True)
    cleared.set()
    thread.join(60)
    assert seen == [None]


def test_gradients_are_looked_up_and_never_built(sd):
    weight = sd.get_input_variables_for_op(sd.get_variable_output_op("a/h"))[1].name()
    assert not sd.has_gradient_function() and sd.get_grad_for_variable(weight) is None
    assert not sd.variable_has_gradient(weight)
    sd.create_grad_function()
    assert sd.hasGradientFunction() and sd.variable_has_gradient(weight) and not sd.variable_has_gradient("c")
    assert sd.get_grad_for_variable(weight).name() == f"{weight}-grad"
    with pytest.raises(GradientError):
        sd.get_grad_for_variable("c")
    with pytest.raises(UnknownNameError):
        sd.variable_has_gradient("nothing")
    sd.math.abs(sd.variable("x"))
    assert not sd.has_gradient_function()


def test_names():
    sd = SameDiff.create()
    assert SameDiff.parse_variable("a:b:12") == ("a:b", 12) and SameDiff.parseVariable("a") == ("a", 0)
    v = sd.unstack("part", sd.constant("c", np.zeros((2, 2))), 0, 2)
    assert [n.name() for n in v] == ["part", "part:1"]
    assert sd.generate_distinct_custom_variable_name("c") == "c_1" and sd.generate_distinct_custom_variable_name("d") == "d"
    assert sd.generate_new_var_name("part", 1) == "part_1:1" and sd.generate_new_var_name("part", 2) == "part:2"
    assert sd.generate_new_var_name("part", 0) == "part_1"
    with pytest.raises(GraphError, match="taken"):
        sd.generate_new_var_name("part", 0, existing_op=False)
    assert sd.get_op_name("new") == "new" and sd.get_op_name("part") == "part_1"
    with pytest.raises(GraphError, match="taken"):
        sd.get_op_name("part", force=True)
    assert [sd.new_block_name("if") for _ in range(3)] == ["if", "if_1", "if_2"]
