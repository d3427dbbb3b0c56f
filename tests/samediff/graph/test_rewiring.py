"""Changes to a finished graph."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff, VariableType
from dl4py.samediff.errors import GraphError, ShapeError


@pytest.fixture
def sd():
    made = SameDiff.create()
    x, w = made.placeholder("x", DataType.FLOAT, -1, 2), made.var("w", np.ones((2, 3), np.float32))
    made.nn.linear("y", x, w, made.constant("b", np.full(3, 5, np.float32)))
    made.concat("joined", 0, x, x * 2, x * 3)
    return made


X = {"x": np.ones((1, 2), np.float32)}


def test_an_input_is_replaced(sd):
    wide = sd.var("wide", np.ones((2, 4), np.float32))
    product = x = sd.variable("x").mmul("p", sd.variable("w"))
    behind = sd.math.neg("behind", product)
    sd.replace_arg_for(1, wide, sd.get_variable_output_op("p"))
    assert behind.get_shape() == (-1, 4) and np.array_equal(sd.output_single(X, "behind"), [[-2] * 4])
    node = sd.get_variable_output_op("p").name
    for i, new, error in ((2, wide, GraphError), (0, behind, GraphError), (1, sd.var("bad", np.ones((5, 4), np.float32)), ShapeError)):
        with pytest.raises(error):
            sd.replaceArgFor(i, new, node)
    assert x.get_shape() == (-1, 4) and np.array_equal(sd.output_single(X, "behind"), [[-2] * 4])


def test_an_input_is_removed(sd):
    joined = sd.get_variable_output_op("joined")
    second = sd.get_inputs_for_op(joined)[1]
    sd.remove_arg_from_op(second, joined)
    assert np.array_equal(sd.output_single(X, "joined"), [[1, 1], [3, 3]])
    with pytest.raises(GraphError, match="no input"):
        sd.remove_arg_from_op(second, "joined" if sd.op_exists("joined") else joined.name)
    negated = sd.math.neg(sd.variable("x"))
    with pytest.raises(GraphError, match="needs its input"):
        sd.remove_arg_from_op("x", sd.get_variable_output_op(negated.name()))


def test_names_follow_the_scope(sd):
    y = sd.variable("y")
    with sd.with_name_scope("s"):
        assert sd.update_variable_name_and_reference(y, "z") is y and y.name() == "s/z"
        sd.updateVariableNameAndReference(y, "plain", True)
    assert y.get_var_name() == "plain" and sd.update_variable_name_and_reference(y, None) is y
    v, w = sd.update_variable_names_and_references([y, sd.variable("w")], ["a", "b2"])
    assert (v.name(), w.name()) == ("a", "b2") and np.array_equal(sd.output_single(X, "a"), [[7] * 3])
    with pytest.raises(GraphError):
        sd.update_variable_names_and_references([y], [])


def test_frozen_and_trained_again(sd):
    frozen = sd.freeze()
    assert frozen.variable("w").is_constant() and sd.variable("w").is_trainable()
    assert np.array_equal(frozen.output_single(X, "y"), sd.output_single(X, "y"))
    assert sd.freeze(True) is sd and sd.variable("w").is_constant()
    sd.constant("unread", np.ones(2, np.float32))
    sd.convert_constants_to_variables()
    assert sd.variable("w").is_trainable() and sd.variable("b").is_trainable() and sd.variable("unread").is_constant()


def test_equality_looks_at_structure_and_values(sd):
    other = sd.dup()
    assert sd.equals(other) and sd.hash_code() == other.hashCode() and sd != other
    other.set_array("w", np.zeros((2, 3)))
    assert not sd.equals(other) and not sd.equals(3)
    other.set_array("w", np.ones((2, 3)))
    assert sd.equals(other)
    other.math.neg(other.variable("y"))
    assert not sd.equals(other)


def test_a_placeholder_gets_another_shape(sd):
    x = sd.variable("x")
    x.set_shape(4, 2)
    assert x.placeholder_shape() == (4, 2) and sd.variable("y").get_shape() == (4, 3)
    with pytest.raises(ShapeError):
        x.setShape(-1, 3)
    assert x.placeHolderShape() == (4, 2)
    with pytest.raises(GraphError):
        sd.variable("y").set_shape(1)


def test_a_variable_is_cloned_into_another_graph(sd):
    other = SameDiff.create()
    kinds = [sd.variable(n).clone(other).variable_type for n in ("x", "w", "b", "y")]
    assert kinds == [VariableType.PLACEHOLDER, VariableType.VARIABLE, VariableType.CONSTANT, VariableType.PLACEHOLDER]
    assert sd.variable("w").clone("w2", other).name() == "w2" and other.variable("y").get_shape() == (-1, 3)


def test_gradients_are_prepared(sd):
    sd.prepare_for_training([sd.sum("loss", sd.variable("y"))])
    assert sd.get_loss_variables() == ["loss"] and sd.has_gradient_function()
