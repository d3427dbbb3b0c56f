"""Adding to graphs: all or nothing, source lines, copies, versions."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff, SDVariable, VariableType
from dl4py.samediff.errors import DataTypeError, DL4PyError, GraphError, ShapeError

F = DataType.FLOAT


def snapshot(sd):
    return (sd.variable_names(), [n.name for n in sd.nodes()], sd.get_loss_variables(), sd.summary())


@pytest.fixture
def sd():
    made = SameDiff.create()
    made.placeholder("x", F, -1, 3)
    made.var("w", np.ones((3, 2), np.float32))
    made.variable("x").mmul("y", made.variable("w"))
    return made


@pytest.mark.parametrize("act", [
    lambda sd: sd.variable("y") + np.ones((5, 7), np.float32), lambda sd: sd.variable("y").mmul("bad", sd.variable("w")),
    lambda sd: sd.math.add("w", sd.variable("y"), 1.0),
    lambda sd: sd.unstack(["p", "q"], sd.variable("w"), 0, 3) and sd.unstack(["q", "r"], sd.variable("w"), 0, 3),
    lambda sd: sd.unstack(["p", "y", "q"], sd.variable("w"), 0, 3), lambda sd: sd.unstack(["p"] * 3, sd.variable("w"), 0, 3),
    lambda sd: sd.loss.mean_squared_error("w", sd.variable("y"), sd.variable("y"), None),
    lambda sd: sd.unstack(["a", "b", "c", "d"], sd.variable("w"), 0, 3),
], ids=range(8))
def test_what_fails_leaves_the_graph_as_it_was(sd, act):
    if act.__code__.co_consts and "r" in act.__code__.co_consts:
        sd.unstack(["p", "q"], sd.variable("w"), 1, 2)
    before = snapshot(sd)
    with pytest.raises(DL4PyError):
        act(sd)
    assert snapshot(sd) == before
    sd.validate()


def test_errors_name_op_inputs_and_line(sd):
    with pytest.raises(ShapeError) as error:
        sd.variable("y").mmul(sd.variable("w"))  # the very line
    text = str(error.value)
    assert "matmul" in text and "y " in text and "w " in text and "test_core.py" in text and "# the very line" in text
    assert "test_core.py" in str(sd.producer("y").where())


def test_numbers_and_arrays_as_inputs(sd):
    y = sd.variable("y")
    assert (y + 1).dtype is F and (1 - y).dtype is F and (y * np.float64(2)).dtype is F
    z = sd.math.add(y, np.ones(2, np.float32))
    kinds = [sd.variable(n).get_variable_type() for n in sd.producer(z.name()).inputs]
    assert kinds == [VariableType.ARRAY, VariableType.CONSTANT]
    made = np.ones(2, np.float32)
    z = sd.math.add("z", y, made)
    made += 100
    np.testing.assert_array_equal(z.eval({"x": np.zeros((1, 3))}), [[1, 1]])


def test_a_fork_shares_values_and_nothing_else(sd):
    fork = sd.fork()
    fork.variable("y").add("more", 1.0)
    assert not sd.has_variable("more") and fork.variable("y") is not sd.variable("y")
    sd.set_array("w", np.zeros((3, 2), np.float32))
    np.testing.assert_array_equal(fork.output({"x": np.ones((1, 3))}, "more")["more"], [[1, 1]])
    with pytest.raises(GraphError, match="gradient graph"):
        sd.variable("y") + fork.variable("y")


def test_variables_that_are_no_longer_there():
    one, other = SameDiff.create(), SameDiff.create()
    a, b = one.var("a", np.ones(2)), other.var("a", np.ones(2))
    with pytest.raises(GraphError, match=r"another graph.*sd.var"):
        a + b
    with pytest.raises(GraphError, match="another graph"):
        one.output({}, b) if one.variable(b) else None


def test_variables_as_keys_and_in_conditions(sd):
    x, y = sd.variable("x"), sd.variable("y")
    assert {x: 1, y: 2}[x] == 1 and x is sd.variable("x") and x in [x, y] and x != "x" and x is not None
    np.testing.assert_array_equal((x == 1).eval({"x": np.ones((1, 3))}), [[True] * 3])
    np.testing.assert_array_equal(sd.output({x: np.ones((1, 3))}, y)["y"], [[3, 3]])
    with pytest.raises(GraphError, match="where"):
        bool(x > 0)
    with pytest.raises(GraphError, match="unstack"):
        list(x)
    with pytest.raises(GraphError, match="eval"):
        np.asarray(y)
    with pytest.raises(GraphError, match=r"w.eval\(\)"):
        np.asarray(sd.variable("w"))


def test_operators_are_those_of_numpy():
    sd = SameDiff.create()
    a, b = np.array([5.0, -7.0, 2.5]), np.array([2.0, 3.0, -4.0])
    x, y = sd.var("x", a), sd.var("y", b)
    for act in (lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p / q, lambda p, q: p // q, lambda p, q: p % q,
                lambda p, q: abs(p) ** q, lambda p, q: -p, lambda p, q: p < q, lambda p, q: p <= q, lambda p, q: p > q, lambda p, q: p >= q,
                lambda p, q: (p > 0) & (q > 0), lambda p, q: (p > 0) | (q > 0), lambda p, q: ~(p > 0), lambda p, q: 2 - p, lambda p,
                q: 2 / p, lambda p, q: 2 * p + 1):
        found, wanted = act(x, y).eval(), act(a, b)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert found.dtype == wanted.dtype


@pytest.mark.parametrize("make", [lambda sd: sd.var("v", F, -5), lambda sd: sd.placeholder("v", F, -2, 3), lambda sd: sd.zero("v", -1),
                                  lambda sd: sd.var()])
def test_sizes_that_make_no_sense(sd, make):
    before = snapshot(sd)
    with pytest.raises(GraphError):
        make(sd)
    assert snapshot(sd) == before


def test_types_that_do_not_exist(sd):
    with pytest.raises((DataTypeError, DL4PyError), match="did you mean"):
        sd.placeholder("v", "FLAOT", 3)


def test_converting_types_that_cannot_be_inferred_changes_nothing(sd):
    i = sd.constant("i", np.array([0, 1], np.int32))
    sd.gather("g", sd.variable("w"), i, 0)
    before = snapshot(sd)
    with pytest.raises(DL4PyError):
        sd.convert_data_types({"i": "FLOAT"})
    assert snapshot(sd) == before
    np.testing.assert_array_equal(sd.output({}, "g")["g"], np.ones((2, 2)))


def test_automatic_names_of_zeros_and_ones():
    sd = SameDiff.create()
    x = sd.var("x", np.ones(2))
    assert [sd.zeros_like(x).name(), sd.ones_like(x).name(), sd.zeros_like(x).name()] == ["zeroslike", "ones_as", "zeroslike_1"]


def test_a_variable_that_is_not_filled_yet_has_no_ops():
    with pytest.raises(AttributeError):
        _ = object.__new__(SDVariable).relu_of_mine         # as while it is unpickled: its graph is not there to ask
