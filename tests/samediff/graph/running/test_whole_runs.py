"""``exec`` and its kin: everything on the way is computed, and can be asked for."""
from __future__ import annotations

import threading

import numpy as np
import pytest

from dl4py import ExecResult
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.data import MultiDataSets
from dl4py.samediff.errors import DL4PyError, ShapeError
from dl4py.samediff.graph.inference_session import InferenceSession
from dl4py.samediff.training import Listener
from dl4py.samediff.training.listeners.operation import At, Operation

X = {"x": np.array([[1.0, 2, 3]], np.float32)}


def graph():
    sd = SameDiff.create()
    x, w = sd.placeholder("x", DataType.FLOAT, -1, 3), sd.var("w", np.arange(6, dtype=np.float32).reshape(3, 2))
    hidden = x.mmul("hidden", w)
    sd.nn.softmax("out", hidden)
    (hidden * hidden).sum("loss")
    sd.set_loss_variables("loss")
    return sd


@pytest.mark.parametrize("asked", [("out",), (["out"],), ()], ids=["name", "list", "nothing"])
def test_everything_on_the_way_is_there(asked):
    sd = graph()
    found = sd.exec(X, *asked)
    assert isinstance(found, ExecResult) and next(iter(found)) == "out"
    np.testing.assert_array_equal(found.get("hidden"), X["x"] @ sd.variable("w").get_arr())
    assert found.hidden is found["hidden"] and ("loss" in found) == (not asked)
    assert all(np.array_equal(a, sd.output(X, n)[n]) for n, a in found.items())


def test_values_stay_until_the_next_run_of_the_thread():
    sd = graph()
    hidden = sd.variable("hidden")
    assert hidden.get_arr() is None and hidden.getArr() is None
    sd.exec(X, "out")
    np.testing.assert_array_equal(hidden.get_arr(), X["x"] @ sd.variable("w").get_arr())
    elsewhere = []
    thread = threading.Thread(target=lambda: elsewhere.append(hidden.get_arr()))
    thread.start()
    thread.join()
    assert elsewhere == [None]
    sd.exec({"x": 2 * X["x"]}, "loss")
    np.testing.assert_array_equal(hidden.get_arr(), 2 * X["x"] @ sd.variable("w").get_arr())
    assert sd.variable("out").get_arr() is None
    sd.clear_placeholders(all_threads=True)
    assert hidden.get_arr() is None


def test_output_keeps_on_request():
    sd = graph()
    sd.output(X, "out")
    assert sd.variable("out").get_arr() is None
    sd.keep_results()
    found = sd.output(X, "out")["out"]
    assert np.shares_memory(sd.variable("out").get_arr(), found) and sd.variable("hidden").get_arr() is None
    sd.keep_results(False)
    assert sd.variable("out").get_arr() is None


def test_placeholders_may_be_set_before():
    sd = graph()
    sd.variable("x").set_array(X["x"])
    np.testing.assert_array_equal(sd.exec().get("out"), sd.output(X, "out")["out"])
    assert sd.exec_and_end_result() == sd.output(X, "loss")["loss"]
    assert sd.execAndEndResult(X) == sd.output(X, "loss")["loss"]


def test_gradients_join_on_request():
    sd = graph()
    expected = sd.calculate_gradients(X, "w")["w"]
    np.testing.assert_array_equal(sd.exec(X, "out", backward=True)["w-grad"], expected)
    np.testing.assert_array_equal(sd.execBackwards(X)["w"], expected)
    np.testing.assert_array_equal(sd.variable("w").gradient().get_arr(), expected)
    np.testing.assert_array_equal(sd.exec_backwards(X, "hidden")["hidden"], 2 * sd.output(X, "hidden")["hidden"])


def test_listeners_hear_of_it():
    class Heard(Listener):
        count = 0

        def operation_start(self, sd, operation):
            self.count += 1

        def is_active(self, operation):
            return operation is Operation.INFERENCE
    heard = Heard()
    graph().exec(X, "out", heard)
    assert heard.count == 1


@pytest.mark.parametrize("session", [InferenceSession(graph())])
def test_sessions_take_arguments_as_the_documents_have_them(session):
    nothing = MultiDataSets.singleton(None, None)
    found = session.output(["out"], set(), X, [], At.default_at(), nothing)
    assert list(found) == ["out"]
    np.testing.assert_array_equal(found["out"], session.output(["out"], X)["out"])
    assert list(session.output(["out"], {"hidden"}, X, [], At.default_at(), None)) == ["out", "hidden"]
    assert MultiDataSets.singleton(np.ones((2, 3)), np.ones((2, 1))).num_examples() == 2


def test_sizes_close_when_placeholders_are_converted():
    sd = graph()
    sd.variable("x").set_array(np.ones((4, 3)))
    sd.convert_to_constant("x")
    assert sd.variable("out").get_shape() == (4, 2) and sd.get_shape_for_var_name("hidden") == (4, 2)


def test_a_conversion_that_contradicts_changes_nothing():
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 3), sd.constant("y", np.ones((2, 3), np.float32))
    z = x.add("z", y)
    x.set_array(np.ones((4, 3)))
    with pytest.raises(ShapeError):
        sd.convert_to_variable(x)
    assert x.is_place_holder() and x.get_shape() == (-1, 3) and x.get_arr().shape == (4, 3)
    assert sd.output({"x": np.ones((2, 3))}, z)["z"].shape == (2, 3)


@pytest.mark.parametrize("add, fine", [
    (lambda sd: sd.placeholder("lonely", DataType.FLOAT, 2), False),
    (lambda sd: sd.var("lonely", 2, 3), False),
    (lambda sd: sd.constant("lonely", 2.0), True),
    (lambda sd: sd.set_outputs("out", sd.var("kept", 2)), True),
    (lambda sd: sd.var("used", 1).add(1.0), True),
])
def test_validation_finds_what_is_connected_with_nothing(add, fine):
    sd = graph()
    sd.validate()
    add(sd)
    if fine:
        sd.validate()
    else:
        with pytest.raises(DL4PyError, match="'lonely'.*no op reads it"):
            sd.validate()


@pytest.mark.parametrize("executor", ["compiled", "reference"])
def test_a_control_dependency_orders_and_changes_nothing(executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    x = sd.place_holder("x", "DOUBLE", -1, 2)
    first, last = x.add("first", 1.0), x.mmul("last", sd.constant(np.eye(2)))
    last.add_control_dependency(first)
    np.testing.assert_array_equal(sd.output({"x": np.ones((3, 2))}, "last")["last"], np.ones((3, 2)))
