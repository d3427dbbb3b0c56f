"""Lists of arrays in graphs."""
from __future__ import annotations

import io

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff, TensorArray, VariableType
from dl4py.samediff.errors import DataTypeError, GraphError, ShapeError, UnknownNameError

A = np.arange(6.0).reshape(3, 2)


def test_what_is_written_is_read():
    sd = SameDiff.create()
    ta = sd.tensorArray(DataType.DOUBLE)
    flow = ta.write(ta.write(ta.var, 1, sd.var("a", A[0])), sd.constant(np.int32(0)), sd.var("b", A[1]))
    assert np.array_equal(ta.stack(flow).eval(), [A[1], A[0]])
    assert np.array_equal(ta.read(1).eval(), A[0]) and np.array_equal(ta.read(flow, -2).eval(), A[1])
    assert int(ta.size(flow).eval()) == 2 and int(ta.size(ta.get_var()).eval()) == 0
    assert np.array_equal(ta.concat(flow).eval(), [*A[1], *A[0]])
    assert np.array_equal(ta.gather(flow, 1, 1, 0).eval(), A[[0, 0, 1]])
    assert np.array_equal(ta.remove(flow, 0).eval(), [A[0]]) and np.array_equal(ta.remove(flow).eval(), [A[1]])
    assert np.array_equal(ta.write(flow, 3, A[2]).eval(), [A[1], A[0], [0, 0], A[2]])


def test_rows_are_unstacked_and_scattered():
    sd = SameDiff.create()
    ta = sd.tensor_array(DataType.DOUBLE)
    a = sd.constant("a", A)
    flow = ta.unstack(ta.var, a)
    assert np.array_equal(ta.gather(flow, sd.constant(np.array([2, 0]))).eval(), A[[2, 0]])
    assert np.array_equal(ta.scatter(flow, a, 3, 1, 0).eval(), [A[2], A[1], A[2], A[0]])


def test_functions_of_flows():
    sd = SameDiff.create()
    a, b = sd.var("a", A[0]), sd.var("b", A[1])
    flow = TensorArray.createTensorArrayFrom(sd, [a, b], "flow")
    assert flow.name() == "flow" and TensorArray.get_tensor_array(sd, flow).var is flow
    assert np.array_equal(TensorArray.item_at_index(sd, [flow, sd.constant(1)], "item").eval(), A[1]) and sd.has_variable("item")
    assert np.array_equal(TensorArray.remove_from_tensor_array(sd, flow).eval(), A[:1])
    assert int(TensorArray.size_of_tensor_array(sd, flow, "n").eval()) == 2 == int(sd.variable("n").eval())
    assert TensorArray.create_empty(sd, "INT").eval().shape == (0,)


def test_bad_use_is_named():
    sd = SameDiff.create()
    ta = sd.tensor_array("FLOAT")
    with pytest.raises(DataTypeError):
        ta.write(ta.var, 0, sd.constant(A))
    flow = ta.write(ta.var, 0, sd.constant(np.zeros(3, np.float32)))
    with pytest.raises(ShapeError, match="shape"):
        ta.write(flow, 1, sd.constant(np.zeros(2, np.float32)))
    with pytest.raises(DataTypeError, match="integers"):
        ta.read(flow, sd.constant(0.0))
    for make in (lambda: ta.read(flow, 5), lambda: ta.write(flow, -1, sd.constant(np.zeros(3, np.float32)))):
        with pytest.raises(GraphError, match="position"):
            make().eval()


def weighted(sd, v):
    return sd.sum(v * v * sd.constant(np.arange(1.0, 1 + v.eval().size).reshape(v.eval().shape)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("make", [
    lambda ta, a, b: ta.stack(ta.write(ta.write(ta.var, 1, a), 0, b)),
    lambda ta, a, b: ta.write(ta.write(ta.write(ta.var, 0, a), 0, b), 2, a * b),
    lambda ta, a, b: ta.gather(ta.write(ta.write(ta.var, 0, a), 1, a * b), 0, 1, 1),
    lambda ta, a, b: ta.concat(ta.remove(ta.write(ta.write(ta.write(ta.var, 0, a), 1, b), 2, a * b), 1)),
    lambda ta, a, b: ta.read(ta.write(ta.write(ta.var, 0, a * b), 1, b), 0),
])
def test_gradients(make):
    sd = SameDiff.create()
    a, b = sd.var("a", A[1:]), sd.var("b", A[:2] + 0.5)
    loss = weighted(sd, make(sd.tensor_array("DOUBLE"), a, b))
    firsts = [g if g is not None else sd.zeros_like(v) for g, v in zip(sd.gradients(loss, [a, b]), (a, b))]
    second = sd.sum(firsts[0] * firsts[0]) + sd.sum(firsts[1] * firsts[1])
    for total in (loss, second):
        for v, g in zip((a, b), sd.gradients(total, [a, b])):
            found, start = (np.zeros((2, 2)) if g is None else g.eval()), np.array(v.get_arr())
            for place in np.ndindex(2, 2):
                values = []
                for step in (1e-5, -1e-5):
                    moved = start.copy()
                    moved[place] += step
                    v.set_array(moved)
                    values.append(float(total.eval()))
                v.set_array(start)
                assert np.isclose(found[place], (values[0] - values[1]) / 2e-5, rtol=1e-5, atol=1e-5)


def test_a_loop_fills_a_list_and_gradients_go_back_through_it():
    sd = SameDiff.create()
    x, ta = sd.var("x", np.array([1.0, 2.0])), sd.tensor_array("DOUBLE")

    def body(sd, v):
        return [v[0] + 1, v[1] * x, ta.write(v[2], v[0], v[1] * x)]

    _, _, flow = sd.while_loop([sd.constant(np.int32(0)), sd.constant(np.ones(2)), ta.var], lambda sd, v: v[0] < 3, body)
    assert np.allclose(ta.stack(flow).eval(), [[1, 2], [1, 4], [1, 8]])
    sd.set_loss_variables(sd.sum("loss", ta.stack(flow)))
    assert np.allclose(sd.calculate_gradients({}, "x")["x"], [1 + 2 + 3, 1 + 4 + 12])


def test_a_sequence_is_stored():
    sd = SameDiff.create()
    s = sd.create_sequence("s", list(A))
    total = sd.sum("total", s)
    assert s.variable_type is VariableType.SEQUENCE and s.get_shape() == (-1, 2) and sd.sequence_length("s") == 3
    sd.addItemToSequence("s", [10, 10], 1)
    assert np.array_equal(sd.item_for_sequence("s", 1), [10, 10]) and float(total.eval()) == 35
    sd.set_item_for_sequence_at_index("s", [0, 0], -1)
    sd.remove_item_from_sequence("s", 0)
    assert np.array_equal(s.eval(), [[10, 10], A[1], [0, 0]])
    sd.add_item_to_sequence("s", [7, 7], -1)
    assert np.array_equal(sd.item_for_sequence("s", 3), [7, 7])
    ta = sd.tensor_array(s)
    assert np.array_equal(ta.read(0).eval(), [10, 10])
    assert sd.create_sequence([1.0]).eval().shape == (1,)
    found = sd.outputValues({}, [], ["s", "total"])
    assert list(found) == ["s", "total"] and len(found["s"]) == 4 and list(sd.output_values(None, ["s"])) == ["s"]


def test_bad_sequences():
    sd = SameDiff.create()
    sd.create_sequence("s", [A[0]])
    for call, error in ((lambda: sd.create_sequence([]), GraphError), (lambda: sd.create_sequence([A, A[0]]), ShapeError),
                        (lambda: sd.item_for_sequence("s", 1), GraphError), (lambda: sd.sequence_length("t"), UnknownNameError),
                        (lambda: sd.remove_item_from_sequence("s", 0), GraphError),
                        (lambda: sd.add_item_to_sequence("s", A, 0), ShapeError),
                        (lambda: sd.sequence_length(sd.constant("c", 1).name()), GraphError)):
        with pytest.raises(error):
            call()
    assert sd.sequence_length("s") == 1


def test_lists_are_saved():
    sd = SameDiff.create()
    ta = sd.tensor_array(sd.create_sequence("s", list(A)))
    ta.write(ta.var, 3, sd.constant(A[0])).rename("out")
    stream = io.BytesIO()
    sd.save(stream)
    again = SameDiff.load(io.BytesIO(stream.getvalue()))
    assert np.array_equal(again.variable("out").eval(), sd.variable("out").eval()) and again.sequence_length("s") == 3
