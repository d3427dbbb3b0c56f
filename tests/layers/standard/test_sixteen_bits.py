"""Networks of 16 bits: every layer and vertex computes, to their precision, what it computes in 64, and trains."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    ConvolutionLayer,
    DenseLayer,
    GlobalPoolingLayer,
    InputType,
    L2NormalizeVertex,
    L2Vertex,
    LocalResponseNormalization,
    LossFunction,
    OutputLayer,
    PoolingType,
    Upsampling2D,
)
from dl4py.layers.checks.check import _examples, _label
from dl4py.layers.checks.check_subject import Subject
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.models.check_in_network import Small
from dl4py.samediff import DataSet
from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.expressions.arrays import xp
from dl4py.samediff.training import Sgd
from tests.layers.layer_table import LAYERS, VERTICES

pytestmark = pytest.mark.plans
ROWS = [(row, False) for row in LAYERS] + [(row, True) for row in VERTICES]
BFLOAT16 = DataType.BFLOAT16.numpy
TOLERANCE = {"HALF": 0.02, "BFLOAT16": 0.15}


def small(row, is_vertex):
    options = row.options
    inputs = row.inputs if is_vertex else row.inputs[:1]
    types = options.get("input_types") or ([options["input_type"]] if "input_type" in options else None)
    kinds, arrays = _examples(inputs, types, 0)
    labels = options.get("labels", row.inputs[1] if len(row.inputs) > 1 and not is_vertex else None)
    subject = Subject.of_vertex(row.made, kinds, arrays) if is_vertex else Subject.of_layer(row.made, kinds[0], arrays[0], labels)
    subject.draw(0)
    if subject.needs_labels and subject.labels is None:
        _label(subject, 0)
    return Small(subject, 0)


NAMES = [f"{type(r.made).__name__}-{i}" for i, (r, _) in enumerate(ROWS)]


def output_of(net, data):
    found = net.output(*data.features)
    return np.asarray(found[0] if isinstance(found, list) else found, np.float64)


def near(found, wanted, tolerance):
    np.testing.assert_allclose(np.asarray(found, np.float64), wanted, atol=tolerance * np.abs(wanted).max(initial=1e-9), rtol=0)


def check(row, is_vertex, dtype, folder):
    """Outputs, a step of training and its score are those of 64 bits; a file holds everything."""
    wide, tolerance = small(row, is_vertex), TOLERANCE[dtype]
    net = wide.net.convert_data_type(dtype)
    near(output_of(net, wide.data), output_of(wide.net, wide.data), tolerance)
    net.fit(wide.data)
    wide.net.fit(wide.data)
    assert np.isfinite(net.params().astype(np.float64)).all()
    near(net.params(), wide.net.params(), tolerance)
    assert net.score() == pytest.approx(wide.net.score(), rel=2 * tolerance, abs=2 * tolerance)
    net.save(folder / "model.zip")
    again = type(net).load(folder / "model.zip", True)
    assert again.params().dtype == net.params().dtype == DataType[dtype].numpy
    assert again.params().tobytes() == net.params().tobytes()
    np.testing.assert_array_equal(output_of(again, wide.data), output_of(net, wide.data))
    again.fit(wide.data)
    net.fit(wide.data)
    assert again.params().tobytes() == net.params().tobytes()


@pytest.mark.sampled(27)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("row", "is_vertex"), ROWS, ids=NAMES)
def test_in_16_bits(row, is_vertex, dtype, monkeypatch, tmp_path):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    check(row, is_vertex, dtype, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("row", "is_vertex"), ROWS, ids=NAMES)
def test_compiled_in_16_bits(row, is_vertex, dtype, tmp_path):
    check(row, is_vertex, dtype, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["HALF", "BFLOAT16"])
@pytest.mark.parametrize("pooling", list(PoolingType))
def test_repeated_gradients_reach_fused_steps(dtype, pooling):
    rng = np.random.default_rng(0)
    builder = NeuralNetConfiguration.Builder().seed(1).data_type(dtype).list()
    for layer in (ConvolutionLayer(n_out=4, kernel_size=(3, 3), activation="tanh"), LocalResponseNormalization(), Upsampling2D(2),
                  GlobalPoolingLayer(pooling, pnorm=2), OutputLayer(n_out=3)):
        builder.layer(layer)
    net = MultiLayerNetwork(builder.set_input_type(InputType.convolutional(6, 6, 2)).build()).init()
    x, y = 0.1 * rng.normal(size=(4, 2, 6, 6)), np.eye(3)[[0, 1, 2, 0]]
    net.fit(x, y)
    wide = net.convert_data_type("DOUBLE")
    for one in (net, wide):
        one.set_input(x)
        one.set_labels(y)
        one.compute_gradient_and_score()
    gradients = [np.asarray(one.gradient().gradient(), np.float64) for one in (net, wide)]
    np.testing.assert_allclose(*gradients, atol=TOLERANCE[dtype] * np.abs(gradients[1]).max())


def test_functions_without_a_16_bit_form():
    values = np.array([0.5, 1.5], BFLOAT16)
    for name in ("erf", "gammaln", "digamma"):
        assert getattr(xp, name)(values).dtype == BFLOAT16
    product = xp.einsum("i,j->ij", values, values)
    assert product.dtype == BFLOAT16 and product[1, 1] == 2.25


SMALLEST = [(L2Vertex(), ["h", "x"], 1), (L2NormalizeVertex(), ["h"], 3)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [DataType.HALF, DataType.BFLOAT16])
@pytest.mark.parametrize(("made", "inputs", "size"), SMALLEST, ids=["distance", "length"])
def test_zeros_by_which_vertices_divide(made, inputs, size, dtype):
    builder = (NeuralNetConfiguration.builder().seed(3).data_type(dtype).updater(Sgd(0.1)).graph_builder().add_inputs("x")
               .add_layer("h", DenseLayer(n_in=3, n_out=3, activation="identity"), "x").add_vertex("v", made, *inputs)
               .add_layer("y", OutputLayer(n_in=size, n_out=1, activation="identity", loss_function="mse"), "v").set_outputs("y"))
    net = ComputationGraph(builder.build()).init()
    net.fit(np.zeros((4, 3), np.float32), np.ones((4, 1), np.float32))
    assert np.isfinite(net.score()) and np.isfinite(np.asarray(net.params(), np.float64)).all()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dtype", [DataType.HALF, DataType.BFLOAT16])
@pytest.mark.parametrize(("loss", "activation"), [
    (LossFunction.MCXENT, "softmax"), (LossFunction.XENT, "sigmoid"), (LossFunction.NEGATIVELOGLIKELIHOOD, "softmax"),
    (LossFunction.KL_DIVERGENCE, "softmax"), (LossFunction.POISSON, "sigmoid")])
def test_losses_of_certain_outputs_are_those_of_float(loss, activation, dtype):
    """Probabilities of 0 and 1, whose epsilons and slopes HALF does not hold."""
    x = np.random.default_rng(1).normal(size=(8, 3)).astype(np.float32) * 30
    y = np.eye(3, dtype=np.float32)[np.arange(8) % 3]
    found = []
    for kind in (dtype, DataType.FLOAT):
        conf = (NeuralNetConfiguration.builder().seed(3).data_type(kind).updater(Sgd(1e-3)).list()
                .layer(OutputLayer(n_in=3, n_out=3, activation=activation, loss_function=loss)).build())
        net = MultiLayerNetwork(conf).init()
        found.append((net.score(DataSet(x, y)), np.asarray(net.fit(x, y).params(), np.float64)))
    np.testing.assert_allclose(found[0][0], found[1][0], 0.1)
    np.testing.assert_allclose(found[0][1], found[1][1], 0.1, 0.1)
