"""check_op finds what is wrong; templates work; the example runs."""
from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

from dl4py.samediff.errors import ConfigurationError, GraphError, RegistrationError
from dl4py.udf import UserOp, check_op, new_layer, new_op, user_op


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@user_op("test_check.changes")
class Changes(UserOp):
    def compute(self, xp, x):
        x[...] = 0
        return x + 1

    def infer(self, x):
        return x

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0]]


@user_op("test_check.wrong_grad", grad=lambda inputs, outputs, output_grads: [output_grads[0] * inputs[0]])
def wrong_grad(xp, x):
    return x * x


@user_op("test_check.wrong_shape", infer=lambda spec: spec)
def wrong_shape(xp, x):
    return np.asarray(x)[:-1]


@user_op("test_check.right")
def right(xp, x, y):
    return xp.where(x > y, x * y, xp.exp(x))


def failed(op, *inputs):
    report = check_op(op, inputs)
    assert not report.passed
    return {c.name: c.detail for c in report.failures}


def test_a_right_op_passes_and_the_report_can_be_read(rng):
    report = check_op(right, [rng.normal(size=(2, 3)), rng.normal(size=3)], shapes=[[(4, 1), (1, 5)]])
    assert report.passed and f"all {len(report.checks)} checks passed" in str(report) and "second gradient" in str(report)
    report.raise_if_failed()


def test_built_in_ops_can_be_checked_by_id():
    assert check_op("tanh", [np.array([0.1, 0.7])]).passed
    assert check_op("reduce_mean", [np.ones((2, 3))], {"dimensions": (1,)}).passed


def test_changed_inputs_are_found():
    assert failed(Changes, np.ones(3))["inputs stay unchanged"] == "compute changes its input x; work on a copy"


def test_wrong_gradients_and_shapes_are_found(rng):
    assert "central differences" in failed(wrong_grad, rng.normal(size=3))["gradient"]
    found = failed(wrong_shape, rng.normal(size=3))
    assert "(2,)" in found["shape rule, float32"]
    with pytest.raises(AssertionError, match="FAIL"):
        check_op(wrong_shape, [np.ones(3)]).raise_if_failed()


def test_a_new_op_works_as_it_is(tmp_path):
    path = new_op("test_new.bend", tmp_path)
    assert path == tmp_path / "bend.py"
    module = load(path, "test_new_bend")
    module.test_bend()
    with pytest.raises(ConfigurationError, match="exists already"):
        new_op("test_new.bend", tmp_path)
    with pytest.raises(RegistrationError, match=r"acme\.bend"):
        new_op("bend", tmp_path)


def test_a_new_layer_works_as_it_is(tmp_path):
    from dl4py.layers import OutputLayer
    from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
    module = load(new_layer("MyDense", tmp_path / "layers" / "mine.py"), "test_new_layer")
    layers = NeuralNetConfiguration.Builder().seed(1).list().layer(module.MyDense(n_in=3, n_out=4, scale=2.0))
    net = MultiLayerNetwork(layers.layer(OutputLayer(n_in=4, n_out=2)).build())
    net.init()
    assert net.output(np.ones((2, 3), np.float32)).shape == (2, 2) and net.num_params() == 3 * 4 + 4 + 4 * 2 + 2
    with pytest.raises(ConfigurationError, match="class name"):
        new_layer("my layer", tmp_path)


@pytest.mark.parametrize(("inputs", "text"), [
    (np.ones((2, 2)), "a list with an example"), ([np.ones(2)], r"inputs x y; 1 examples"), ([], "0 examples"),
    ([np.ones(2)] * 3, "3 examples")])
def test_examples_that_do_not_fit_are_one_error(inputs, text):
    with pytest.raises(GraphError, match=text):
        check_op(right, inputs)


def test_what_can_have_no_gradient_is_no_failure():
    @user_op("test_check.truth")
    def truth(xp, x):
        return xp.logical_and(x > 0, x < 1)
    report = check_op(truth, [np.ones((2, 3))])
    assert report.passed and "no floating output" in str(report)


@pytest.mark.parametrize(("options", "failed"), [({}, ["gradient"]), ({"gradient": "none"}, [])])
def test_what_cannot_be_followed_says_that_it_has_no_gradient(options, failed):
    @user_op("test_check.inverse", **options)
    def inverse(xp, x):
        return np.linalg.inv(np.asarray(x))
    report = check_op(inverse, [np.eye(3) + 0.1])
    assert [c.name for c in report.failures] == failed and ('declare gradient="none"' in str(report)) == bool(failed)


def test_rules_and_gradients_take_the_attributes():
    def shape(spec):
        return spec

    def gradient(inputs, outputs, output_grads, **attributes):
        return [output_grads[0] * attributes["scale"]]

    def scaled(xp, x, *, scale: float = 2.0):
        return x * scale
    with pytest.raises(RegistrationError, match=r"test_check.scaled.*infer is given the attributes by name and does not take scale"):
        user_op("test_check.scaled", infer=shape)(scaled)
    assert check_op(user_op("test_check.scaled", infer=lambda spec, scale: spec, grad=gradient)(scaled), [np.ones(3)]).passed
