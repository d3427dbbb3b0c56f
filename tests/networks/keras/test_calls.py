"""What functional models call: functions, layers several times, layers with several results."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import MultiDataSet
from dl4py.layers import DenseLayer, LossLayer
from dl4py.networks import ComputationGraph, KerasModelImport, NeuralNetConfiguration
from dl4py.networks.keras.own.merging import AffineVertex, ArithmeticVertex
from dl4py.networks.keras.own.sharing import SharedVertex
from dl4py.samediff.errors import ConfigurationError, FileFormatError
from tests.networks.keras.old_models import hdf5, json_text, layer

pytest.importorskip("h5py")
RNG = np.random.default_rng(8)


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    """The question is what models mean; how plans run them is compared elsewhere."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


def draw(*shape):
    return RNG.normal(size=shape).astype("float32")


def tensor(name, number=0):
    return {"class_name": "__keras_tensor__", "config": {"keras_history": [name, 0, number]}}


def slices(start=None, stop=None, step=None):
    return {"class_name": "__slice__", "config": {"start": start, "stop": stop, "step": step}}


def functional(inputs, *called, outputs):
    """A functional model of Keras 3; ``called`` are the layers with what they are called with."""
    starts = [{"module": "keras.layers", "class_name": "InputLayer", "name": n, "inbound_nodes": [],
               "config": {"name": n, "batch_shape": [None, *shape]}} for n, shape in inputs.items()]
    layers = [{"module": "keras.layers", **one, "name": one["config"]["name"], "inbound_nodes": [{"args": args, "kwargs": kwargs}]}
              for one, args, kwargs in called]
    return {"class_name": "Functional", "module": "keras", "config": {
        "name": "model", "layers": [*starts, *layers], "input_layers": [[n, 0, 0] for n in inputs],
        "output_layers": [[o, 0, 0] if isinstance(o, str) else [o[0], 0, o[1]] for o in outputs]}}


def function(kind, *args, **config):
    return {"module": "keras.src.ops.numpy", "class_name": kind, "config": {"name": "f", **config}}, list(args), {}


X = tensor("x")
FUNCTIONS = [
    (function("Mean", X, axis=1, keepdims=False), lambda x: x.mean(1)), (function("Sum", X, axis=[1, 2]), lambda x: x.sum((1, 2))),
    (function("Transpose", X, axes=[0, 2, 1]), lambda x: x.transpose(0, 2, 1)), (function("Exp", X), np.exp),
    (function("GetItem", X, [slices(), 0, slices()]), lambda x: x[:, 0]), (function("GetItem", X, [slices(), -1]), lambda x: x[:, -1]),
    (function("GetItem", X, [slices(), slices(1, None, 2)]), lambda x: x[:, 1::2]), (function("Power", X, 2), lambda x: x ** 2),
    (function("Reshape", X, newshape=[-1, 4, 6]), lambda x: x.reshape(-1, 4, 6)), (function("Greater", X, 0), lambda x: x > 0),
    (function("Stack", [X, X], axis=-1), lambda x: np.stack([x, x], -1)), (function("Clip", X, x_min=-0.5, x_max=0.5),
                                                                          lambda x: x.clip(-0.5, 0.5)),
    (function("Concatenate", [X, X], axis=1), lambda x: np.concatenate([x, x], 1)), (function("Maximum", X, 0.5), lambda x: x.clip(0.5)),
    (function("Einsum", X, X, subscripts="abc,adc->abd"), lambda x: np.einsum("abc,adc->abd", x, x)),
    (function("Where", tensor("x"), X, 0.0), lambda x: x), (function("Flip", X, axis=-1), lambda x: x[..., ::-1]),
    (function("Argmax", X, axis=-1), lambda x: x.argmax(-1)), (function("Logsumexp", X, axis=1), lambda x: np.log(np.exp(x).sum(1))),
    (function("Norm", X, ord=None, axis=-1, keepdims=True), lambda x: np.linalg.norm(x, axis=-1, keepdims=True)),
    (function("Pad", X, pad_width=[[0, 0], [1, 2], [0, 0]], mode="constant"), lambda x: np.pad(x, ((0, 0), (1, 2), (0, 0)))),
    (function("Softmax", X, axis=1), lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)), (function("Relu", X), lambda x: x.clip(0)),
    (function("Repeat", X, repeats=2, axis=1), lambda x: x.repeat(2, 1)), (function("Tile", X, repeats=[1, 2, 1]),
                                                                         lambda x: np.tile(x, (1, 2, 1)))]


@pytest.mark.parametrize(("called", "expected"), FUNCTIONS, ids=[f"{c[0]['class_name']}-{i}" for i, (c, _) in enumerate(FUNCTIONS)])
def test_functions(called, expected):
    x = draw(3, 6, 4)
    net = ComputationGraph(KerasModelImport.import_keras_model_configuration(json_text(functional(
        {"x": (6, 4)}, called, outputs=["f"])))).init()
    np.testing.assert_allclose(net.output_single(x), expected(x), atol=1e-5)


def test_functions_with_several_results():
    x = draw(3, 6, 4)
    model = functional({"x": (6, 4)}, function("Split", X, indices_or_sections=3, axis=1), outputs=[("f", 0), ("f", 2)])
    net = ComputationGraph(KerasModelImport.import_keras_model_configuration(json_text(model))).init()
    for found, expected in zip(net.output(x), (x[:, :2], x[:, 4:]), strict=True):
        np.testing.assert_array_equal(found, expected)
    model["config"]["output_layers"] = [["f", 0, 3]]
    with pytest.raises(FileFormatError, match="'f' has no result 3"):
        KerasModelImport.import_keras_model_configuration(json_text(model))


def lstm(name, **options):
    return layer("LSTM", name, units=3, recurrent_activation="sigmoid", **options)


def test_a_state_that_is_handed_on():
    """Two layers with the weights of one read a series in two parts."""
    weights, a, b = [draw(2, 12), draw(3, 12), draw(12)], draw(2, 4, 2), draw(2, 3, 2)
    model = functional({"a": (4, 2), "b": (None, 2)}, (lstm("first", return_state=True), [tensor("a")], {}),
                       (lstm("second", return_sequences=True), [tensor("b")],
                        {"initial_state": [tensor("first", 1), tensor("first", 2)]}), outputs=["second"])
    stored = {name: [(f"{name}/{i}:0", w) for i, w in enumerate(weights)] for name in ("first", "second")}
    net = KerasModelImport.import_keras_model_and_weights(hdf5(model, stored, version="3.0.0"))
    whole = functional({"x": (None, 2)}, (lstm("first", return_sequences=True), [X], {}), outputs=["first"])
    one = KerasModelImport.import_keras_model_and_weights(hdf5(whole, {"first": stored["first"]}, version="3.0.0"))
    np.testing.assert_allclose(net.output_single(a, b), one.output_single(np.concatenate([a, b], 1))[:, 4:], atol=1e-5)


def shared_graph(vertex, *, of="first"):
    builder = NeuralNetConfiguration.Builder().seed(3).graph_builder().add_inputs("a", "b")
    builder.add_layer("first", DenseLayer(n_in=3, n_out=2, activation="tanh", l2=0.1), "a")
    builder.add_vertex("second", vertex(of), "b").add_vertex("sum", ArithmeticVertex("add"), "first", "second")
    builder.add_layer("loss", LossLayer("mse", activation="identity"), "sum")
    return ComputationGraph(builder.set_outputs("loss").validate_output_layer_config(False).build()).init()


def test_shared_parameters_train_as_one():
    x, y = draw(4, 3), draw(4, 2)
    net = shared_graph(lambda of: SharedVertex(DenseLayer(n_in=3, n_out=2, activation="tanh"), of))
    builder = NeuralNetConfiguration.Builder().seed(3).graph_builder().add_inputs("a")
    builder.add_layer("first", DenseLayer(n_in=3, n_out=2, activation="tanh", l2=0.1), "a").add_vertex("sum", AffineVertex(2.0), "first")
    builder.add_layer("loss", LossLayer("mse", activation="identity"), "sum")
    twice = ComputationGraph(builder.set_outputs("loss").validate_output_layer_config(False).build()).init()
    assert sorted(net.param_table()) == ["first_W", "first_b"]
    np.testing.assert_allclose(net.output_single(x, x), twice.output_single(x), atol=1e-6)
    net.fit(MultiDataSet([x, x], [y]))
    twice.fit(MultiDataSet([x], [y]))
    for key, value in twice.param_table().items():
        np.testing.assert_allclose(net.param_table()[key], value, atol=1e-6, err_msg=key)


@pytest.mark.parametrize(("of", "size", "text"), [
    ("frist", 2, "'frist'.*first"), ("sum", 2, "shapes"), ("first", 4, r"\(3, 4\).*\(3, 2\)")])
def test_parameters_that_cannot_be_shared(of, size, text):
    with pytest.raises(ConfigurationError, match=text):
        shared_graph(lambda name: SharedVertex(DenseLayer(n_in=3, n_out=size, activation="tanh"), name), of=of)


def test_masked_queries_give_nothing():
    x = draw(2, 4, 3)
    x[0, 2] = 0
    model = functional({"x": (4, 3)}, (layer("Masking", "m", mask_value=0.0), [X], {}),
                       (layer("Attention", "f"), [[tensor("m"), tensor("m")]], {}), outputs=["f"])
    found = ComputationGraph(KerasModelImport.import_keras_model_configuration(json_text(model))).init().output_single(x)
    seen = x[0, [0, 1, 3]]
    scores = np.exp(seen @ seen.T)
    np.testing.assert_allclose(found[0, [0, 1, 3]], scores / scores.sum(1, keepdims=True) @ seen, atol=1e-5)
    np.testing.assert_array_equal(found[0, 2], np.zeros(3))


def test_a_model_at_each_step():
    """The steps of a series are examples of the model inside, also where their number is open."""
    w, v, x = draw(6, 4), draw(4, 2), draw(3, 5, 2, 3)
    inner = {"module": "keras", "class_name": "Sequential", "config": {"name": "inner", "layers": [
        layer("InputLayer", "i", batch_shape=[None, 2, 3]), layer("Flatten", "f"),
        layer("Dense", "d", units=4, use_bias=False, activation="relu"), layer("Dense", "e", units=2, use_bias=False)]}}
    model = functional({"x": (None, 2, 3)}, (layer("TimeDistributed", "t", layer=inner), [X], {}), outputs=["t"])
    net = KerasModelImport.import_keras_model_and_weights(hdf5(model, {"t": [("t/d/kernel", w), ("t/e/kernel", v)]}, version="3.0.0"))
    np.testing.assert_allclose(net.output_single(x), (x.reshape(3, 5, 6) @ w).clip(0) @ v, atol=1e-5)


@pytest.mark.parametrize(("equation", "shape", "kernel", "bias"), [
    ("abc,cde->abde", [None, 2, 3], (4, 2, 3), (2, 3)), ("abc,bd->adc", [5, 4], (6, 5), (5, 1)), ("abc,bcd->ad", [3], (6, 4, 3), ())])
def test_products_by_equations(equation, shape, kernel, bias):
    x, w, b = draw(2, 6, 4), draw(*kernel), draw(*bias)
    axes = {"(2, 3)": "de", "(5, 1)": "d"}.get(str(bias))
    one = layer("EinsumDense", "f", equation=equation, output_shape=shape, bias_axes=axes, activation="linear")
    stored = [("f/kernel", w), *([("f/bias", b)] if bias else [])]
    net = KerasModelImport.import_keras_model_and_weights(hdf5(functional({"x": (6, 4)}, (one, [X], {}), outputs=["f"]), {"f": stored}))
    np.testing.assert_allclose(net.output_single(x), np.einsum(equation, x, w) + (b if bias else 0), atol=1e-5)
