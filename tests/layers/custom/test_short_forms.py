"""Layers in few lines: those that hold layers, plain functions, preprocessors written once, versions, initialisers of output layers."""
from __future__ import annotations

import json

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    BatchNormalization,
    ContainerLayer,
    ConvolutionLayer,
    DenseLayer,
    FeedForwardLayer,
    InputPreProcessor,
    InputType,
    Layer,
    OutputLayer,
    SameDiffLambdaLayer,
    SameDiffOutputLayer,
    UnitNormConstraint,
    check_layer,
    check_preprocessor,
    check_vertex,
    lambda_layer,
    lambda_vertex,
    layer,
)
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.errors import ConfigurationError, RegistrationError, UnsupportedVersionError
from dl4py.samediff.training import NoOp, Sgd

FOUR = InputType.feed_forward(4)


@layer("test_short.Residual")
class Residual(ContainerLayer):
    first: Layer
    second: Layer
    scale: float = 1.0

    def wire(self, input_type, through):
        return through("second", through("first", input_type))

    def define_layer(self, sd, x, params, mask):
        return x + self.inner("second", sd, self.inner("first", sd, x, params, mask), params, mask) * self.scale


@layer("test_short.Chain")
class Chain(ContainerLayer):
    blocks: tuple[Layer, ...] = ()
    last: Layer | None = None


@layer("test_short.Gated")
class Gated(ContainerLayer):
    held: Layer

    def define_parameters(self, params):
        super().define_parameters(params)
        params.bias("gate", (1,), 0.5)

    def define_layer(self, sd, x, params, mask):
        return self.inner("held", sd, x, params, mask) * params["gate"]


def residual(**options):
    return Residual(first=DenseLayer(n_out=3, activation="tanh"), second=DenseLayer(n_out=4, activation="tanh", **options))


CONTAINERS = [
    (residual(), FOUR, ["first_W", "first_b", "second_W", "second_b"]),
    (Chain(blocks=(LSTM(n_out=3), LSTM(n_out=2))), InputType.recurrent(3),
     ["blocks0_W", "blocks0_RW", "blocks0_b", "blocks1_W", "blocks1_RW", "blocks1_b"]),
    (Chain(blocks=(ConvolutionLayer(n_out=2, kernel_size=(2, 2), activation="tanh"),), last=DenseLayer(n_out=3, activation="tanh")),
     InputType.convolutional(4, 4, 2), ["blocks0_b", "blocks0_W", "last_W", "last_b"]),
    (Chain(last=BatchNormalization()), FOUR, ["last_gamma", "last_beta", "last_mean", "last_log10stdev"]),
    (Gated(held=residual(dropout=0.5)), FOUR, ["held_first_W", "held_first_b", "held_second_W", "held_second_b", "gate"])]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("made, kind, names", CONTAINERS, ids=lambda v: type(v).__name__)
def test_containers(made, kind, names):
    report = check_layer(made, kind)
    report.raise_if_failed()
    assert [p.split(" ")[0] for p in next(c.detail for c in report.checks if c.name == "parameters").split("), ")] == names


def network(*layers, kind=FOUR, **options):
    builder = NeuralNetConfiguration.Builder().seed(1).updater(Sgd(0.1))
    for name, value in options.items():
        builder = getattr(builder, name)(value)
    return MultiLayerNetwork(builder.list(*layers, OutputLayer(n_out=2)).set_input_type(kind).build()).init()


def test_rules_of_the_layers_inside_act():
    net = network(residual(constrain_weights=UnitNormConstraint(0), updater=NoOp(), l2=0.5), l2=0.0)
    before = net.param_table()["0_first_W"].copy()
    for _ in range(2):
        net.fit(np.ones((4, 4)), np.eye(2)[[0, 1, 0, 1]])
    table = net.param_table()
    np.testing.assert_allclose(np.linalg.norm(table["0_second_W"], axis=0), 1.0, rtol=1e-6)
    assert not np.array_equal(table["0_first_W"], before)
    held = net.get_layer_wise_configurations().layers[0]
    parameters = {p.name: p for p in held.parameter_table()}
    assert held.regularization_for(parameters["second_W"])[0].l2.value == 0.5 and not held.regularization_for(parameters["second_b"])
    assert isinstance(held.updater_for(parameters["second_b"]), NoOp) and isinstance(held.updater_for(parameters["first_W"]), Sgd)


def test_series_go_on_through_containers():
    net = network(Chain(blocks=(LSTM(n_out=3), LSTM(n_out=3))), kind=InputType.recurrent(2, 6))
    assert net.summary().count("blocks1_RW") == 1


def test_unknown_layers_inside_are_named():
    @layer("test_short.Misnamed")
    class Misnamed(ContainerLayer):
        held: Layer

        def wire(self, input_type, through):
            return through("hold", input_type)
    with pytest.raises(ConfigurationError, match="holds no layer 'hold'; did you mean 'held'"):
        network(Misnamed(held=DenseLayer(n_out=3)))


# Plain functions

@lambda_layer("test_short.Squash")
def squash(sd, x, *, scale: float = 1.0, note: str | None = None):
    return sd.nn.tanh(x * scale)


@lambda_layer("test_short.Sum", output_type=lambda kind: InputType.feed_forward(1))
def total(sd, x):
    return x.sum(True, 1)


@lambda_vertex("test_short.Product")
def product(sd, a, b, *, scale: float = 1.0):
    return a * b * scale


def test_layers_and_vertices_of_functions():
    assert issubclass(squash, SameDiffLambdaLayer) and squash.Builder().scale(3.0).build() == squash(scale=3.0)
    check_layer(squash(scale=2.0), FOUR).raise_if_failed()
    check_layer(total(), FOUR).raise_if_failed()
    check_vertex(product(scale=2.0), FOUR, FOUR).raise_if_failed()
    with pytest.raises(RegistrationError, match="the option 'scale' needs a type"):
        lambda_layer("test_short.Untyped")(lambda sd, x, *, scale=1.0: x)


# Preprocessors

@configuration("test_short.ByArrays")
class ByArrays(InputPreProcessor):
    def pre_process(self, array, minibatch):
        return array.transpose(0, 2, 3, 1).reshape(minibatch, -1) * 2

    def output_type(self, input_type):
        return InputType.feed_forward(input_type.array_elements_per_example())


@configuration("test_short.ByNodes")
class ByNodes(InputPreProcessor):
    def define(self, sd, x, batch=None):
        return sd.reshape(x, -1, int(np.prod(x.shape[1:]))) * 2

    def output_type(self, input_type):
        return InputType.feed_forward(input_type.array_elements_per_example())


@pytest.mark.parametrize("made", [ByArrays(), ByNodes()])
def test_preprocessors_are_written_once(made):
    check_preprocessor(made, InputType.convolutional(2, 3, 4)).raise_if_failed()


def test_array_code_without_nodes_is_an_error():
    @configuration("test_short.Sorted")
    class Sorted(ByArrays):
        def pre_process(self, array, minibatch):
            return np.sort(np.asarray(array))
    report = check_preprocessor(Sorted(), FOUR)
    assert any("pre_process cannot be followed" in c.detail and "write define" in c.detail for c in report.failures)


# Versions

@layer("test_short.Scaled")
class Scaled(FeedForwardLayer):
    version = 2
    gain: float = 1.0

    def define_parameters(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=1, fan_out=1)

    def define_layer(self, sd, x, params, mask):
        return x.mmul(params["W"]) * self.gain

    @classmethod
    def upgrade(cls, document, version):
        assert version == 1
        return {("gain" if n == "scale" else n): v for n, v in document.items()}


def test_versions_of_layers():
    check_layer(Scaled(n_out=2, gain=3.0), FOUR).raise_if_failed()
    document = Scaled(n_out=2, gain=3.0).to_document()
    assert document["dl4pyVersion"] == 2 and Scaled.from_document(document).gain == 3.0
    old = {("scale" if n == "gain" else n): v for n, v in document.items() if n != "dl4pyVersion"}
    assert Scaled.from_json(json.dumps(old)) == Scaled(n_out=2, gain=3.0)
    with pytest.raises(UnsupportedVersionError, match="saved by version 3 of the class; registered is version 2"):
        Scaled.from_document(document | {"dl4pyVersion": 3})
    assert "dl4pyVersion" not in DenseLayer(n_out=2).to_document()
    with pytest.raises(UnsupportedVersionError, match="version 2 .* registered is version 1"):
        DenseLayer.from_document(DenseLayer(n_out=2).to_document() | {"dl4pyVersion": 2})


@layer("test_short.Out")
class Out(SameDiffOutputLayer):
    n_in: int = 0

    def define_parameters(self, params):
        params.add_weight_param("W", self.n_in, 2)

    def activations_vertex_name(self):
        return "out"

    def set_n_in(self, input_type, override=True):
        return self.replace(n_in=input_type.array_elements_per_example())

    def get_output_type(self, layer_index, input_type):
        return InputType.feed_forward(2)

    def define_layer(self, sd, layer_input, labels, param_table):
        return sd.math.square(labels - layer_input.mmul("out", param_table["W"])).sum(1)


def test_initialisers_of_output_layers():
    def weights(**options):
        conf = NeuralNetConfiguration.Builder().seed(1).list(Out(**options)).set_input_type(FOUR).build()
        return MultiLayerNetwork(conf).init().param_table()["0_W"]
    assert not weights(weight_init="zero").any() and weights().any()
    assert "weightInit" not in Out().to_json() and Out.from_json(Out(weight_init="zero").to_json()) == Out(weight_init="zero")
