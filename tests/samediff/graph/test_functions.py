"""Named sub-graphs, calls of them, and loops over them."""
from __future__ import annotations

import io

import numpy as np
import pytest

from dl4py.samediff import DataType, InvokeParams, LoopParams, SameDiff
from dl4py.samediff.errors import GraphError, UnknownNameError


def dense() -> SameDiff:
    f = SameDiff.create()
    x = f.placeholder("in", DataType.DOUBLE, -1, 2)
    f.math.tanh("out", x.mmul(f.var("w", np.array([[0.5, -1.0], [2.0, 0.25]]))) + f.constant("c", np.array([1.0, 2.0])))
    return f


@pytest.fixture
def sd():
    made = SameDiff.create()
    made.put_sub_function("dense", dense())
    return made


X = np.array([[0.1, -0.3], [0.7, 0.2]])


def test_functions_have_names(sd):
    f = sd.get_function("dense")
    assert sd.defined_function_names() == ["dense"] == sd.definedFunctionNames()
    sd.put_sub_function("dense", f)
    with pytest.raises(GraphError, match="dense"):
        sd.putSubFunction("dense", dense())
    with pytest.raises(UnknownNameError, match="dense"):
        sd.get_function("dens")


def test_a_function_is_defined_once(sd):
    x = sd.var("x", X)
    made = sd.define_function("f", lambda f, arrays, given: [given[0] * 2, given[0] * 3], [x])
    assert sd.defineFunction("f", lambda f, arrays, given: 1 / 0) is made and made.inputs() == ["x"]
    two, three = sd.invoke(["two", "three"], InvokeParams("f", [x]))
    assert two.name() == "two" and np.array_equal(three.eval(), X * 3)
    g = sd.define_function("g", lambda f, arrays, given: f.constant("k", arrays["k"]) * 1.0, {"k": X})
    assert np.array_equal(g.output_single(None, g.outputs()[0]), X)


def test_calls_share_the_variables_of_the_function(sd):
    x = sd.placeholder("x", DataType.DOUBLE, -1, 2)
    (once,) = sd.invoke(InvokeParams("dense", [x], ["in"], sub_graph_output_var_names=["out"]))
    (twice,) = sd.invoke(["y"], InvokeParams("dense", [once]))
    assert [v.name() for v in sd.variables() if v.is_trainable()] == ["dense/w"]
    f = sd.get_function("dense")
    first = f.output_single({"in": X}, "out")
    assert np.allclose(sd.output_single({"x": X}, twice), f.output_single({"in": first}, "out"))
    sd.set_array("dense/w", np.zeros((2, 2)))
    assert np.allclose(f.output_single({"in": X}, "out"), np.tanh([1.0, 2.0]))


def test_gradients_reach_inputs_and_variables(sd):
    x = sd.var("x", X)
    (y,) = sd.invoke(InvokeParams("dense", [x]))
    sd.set_loss_variables(sd.sum("loss", y * y))
    grads = sd.calculate_gradients({}, "x", "dense/w")
    w, c = sd.stored("dense/w"), np.array([1.0, 2.0])
    t = np.tanh(X @ w + c)
    upstream = 2 * t * (1 - t * t)
    assert np.allclose(grads["x"], upstream @ w.T) and np.allclose(grads["dense/w"], X.T @ upstream)


def test_a_call_is_saved(sd):
    (y,) = sd.invoke(["y"], InvokeParams("dense", [sd.placeholder("x", DataType.DOUBLE, -1, 2)]))
    stream = io.BytesIO()
    sd.save(stream)
    again = SameDiff.load(io.BytesIO(stream.getvalue()))
    assert np.array_equal(again.output_single({"x": X}, "y"), sd.output_single({"x": X}, y))


def test_wrong_calls_change_nothing(sd):
    x, before = sd.var("x", X), sd.variable_names()
    before = sd.variable_names()
    for params, text in ((InvokeParams("dense", []), "takes 1 inputs"), (InvokeParams("dense", [x], ["out"]), "result of an op"),
                         (InvokeParams("dense", [], []), "takes 1|needs values")):
        with pytest.raises(GraphError, match=text):
            sd.invoke(params)
    assert sd.variable_names() == before


def test_a_graph_is_copied_into_another(sd):
    other = SameDiff.create()
    other.constant("c", 1.0)
    other.placeholder("in", DataType.DOUBLE, -1, 2)
    last = sd.invoke_function_on("dense", other)
    f = sd.get_function("dense")
    assert last.name() == "out" and other.has_variable("c_1")
    assert np.allclose(other.output_single({"in": X}, last), f.output_single({"in": X}, "out"))
    again = f.invokeGraphOn(other)
    assert again.name() == "out_1"
    with pytest.raises(GraphError, match="empty"):
        SameDiff.create().invoke_graph_on(other)


def test_a_loop_ends_by_its_flag_or_its_maximum():
    def body(f, arrays, given):
        i, most, _, v = given
        doubled = v * 2
        return [i, most, f.lt(doubled, 20.0), doubled]

    for most, expected in ((100, (5, 32.0)), (3, (3, 8.0))):
        sd = SameDiff.create()
        state = [sd.constant("i", np.int32(0)), sd.constant("most", np.int32(most)), sd.constant("flag", np.bool_(True)),
                 sd.var("v", np.float32(1))]
        sd.define_function("body", body, state)
        i, _, flag, v = sd.loop_with_conditions(LoopParams("body", state, output_var_names=["a", "b", "c", "d"]))
        assert v.name() == "d" and (int(i.eval()), float(v.eval())) == expected and bool(flag.eval()) == (most == 3)
        f = SameDiff.create()
        given = [f.placeholder(n, t, ()) for n, t in (("a", "INT"), ("b", "INT"), ("c", "BOOL"), ("d", "FLOAT"))]
        made = body(f, {}, given)
        short = sd.loopWithConditions(LoopParams("short", state, f, ["a", "b", "c", "d"], [v.name() for v in made[2:]]))
        assert float(short[3].eval()) == expected[1]
    with pytest.raises(GraphError, match="counter, maximum"):
        sd.loop_with_conditions(LoopParams("body", state[:2]))


def test_a_loop_trains_the_variables_of_its_function():
    sd = SameDiff.create()
    state = [sd.constant(np.int32(0)), sd.constant(np.int32(3)), sd.constant(np.bool_(True)), sd.var("v", np.float64(1.5))]
    f = SameDiff.create()
    _, _, flag, v = (f.placeholder(n, s.dtype, ()) for n, s in zip("imfv", state))
    f.set_outputs(f.identity("again", flag), v.mul("next", f.var("w", np.float64(2))))
    last = sd.loop_with_conditions(LoopParams("f", state, f))[3]
    sd.set_loss_variables(last)
    assert float(last.eval()) == 12.0
    grads = sd.calculate_gradients({}, "v", "f/w")
    assert float(grads["v"]) == 8.0 and np.isclose(float(grads["f/w"]), 3 * 4 * 1.5)
