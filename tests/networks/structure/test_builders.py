"""Builders of networks: inheritance, types, names, JSON, refusals."""
from __future__ import annotations

import json

import pytest

from dl4py.layers import (
    LSTM,
    ActivationTanH,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    GlobalPoolingLayer,
    InputType,
    OutputLayer,
    RnnOutputLayer,
    SubsamplingLayer,
)
from dl4py.networks import (
    BackpropType,
    ComputationGraphConfiguration,
    EarlyStoppingConfiguration,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NegativeGradientStepFunction,
    NeuralNetConfiguration,
)
from dl4py.samediff.errors import ConfigurationError, DataTypeError
from dl4py.samediff.training import Adam, Sgd


def images():
    return (NeuralNetConfiguration.Builder().seed(7).updater(Adam(1e-2)).activation("tanh").l2(1e-3).list()
            .layer(ConvolutionLayer.Builder(3, 3).nOut(4).build())
            .layer(SubsamplingLayer(kernel_size=2))
            .layer(DenseLayer(n_out=10, updater=Sgd(0.5), activation="relu", l1=0.1, layer_name="dense"))
            .layer(OutputLayer(n_out=3))
            .set_input_type(InputType.convolutional_flat(12, 12, 1)).build())


def test_layers_take_what_they_do_not_set():
    conv, pool, dense, out = images().layers
    assert conv.activation == ActivationTanH() and conv.updater == Adam(1e-2) and dense.updater == Sgd(0.5)
    assert [r.coefficient_name for r in dense.regularization] == ["l1", "l2"]
    assert [a.layer_name for a in (conv, pool, dense, out)] == ["layer0", "layer1", "dense", "layer3"]
    assert (conv.n_in, dense.n_in, out.n_in) == (1, 4 * 5 * 5, 10)
    assert list(images().input_pre_processors) == [0, 2]


def test_files_give_the_same_network():
    conf = images()
    assert MultiLayerConfiguration.from_json(conf.to_json()) == conf == MultiLayerConfiguration.from_yaml(conf.to_yaml())
    document = json.loads(conf.to_json())
    assert document["confs"][0]["seed"] == 7 and document["inputPreProcessors"]["0"]["numChannels"] == 1
    step = NeuralNetConfiguration(step_function=NegativeGradientStepFunction())
    assert json.loads(step.to_json())["stepFunction"] == {"negativeGradient": {}}
    assert NeuralNetConfiguration.from_json(step.to_json()) == step


def test_first_layer_tells_the_input_type():
    conf = NeuralNetConfiguration.Builder().list(LSTM(n_in=3, n_out=5), RnnOutputLayer(n_out=2)).build()
    assert conf.layers[1].n_in == 5 and conf.layers[1].rnn_data_format is not None


def graph():
    return (NeuralNetConfiguration.Builder().seed(1).graphBuilder().addInputs("a", "b")
            .addLayer("da", DenseLayer.Builder().nOut(4).build(), "a").addLayer("db", DenseLayer(n_out=4), "b")
            .addVertex("sum", ElementWiseVertex("Add"), "da", "db")
            .addLayer("out", OutputLayer(n_out=2), "sum", "a").setOutputs("out")
            .setInputTypes(InputType.feed_forward(3), InputType.feed_forward(5)))


def test_graph_merges_several_inputs_of_a_layer():
    conf = graph().build()
    assert conf.vertices["out"].layer.n_in == 4 + 3 and conf.vertex_inputs["out"] == ("out-merge",)
    assert conf.order() == ["a", "b", "da", "db", "sum", "out-merge", "out"]
    assert ComputationGraphConfiguration.from_json(conf.to_json()) == conf
    assert conf.layer_activation_types(InputType.feed_forward(3), InputType.feed_forward(5))["out"] == InputType.feed_forward(2)


@pytest.mark.parametrize(("change", "message"), [
    (lambda g: g.add_layer("lost", DenseLayer(n_out=1), "a"), "no output"),
    (lambda g: g.add_layer("da", DenseLayer(n_out=1), "a"), "twice"),
    (lambda g: g.add_layer("x", DenseLayer(n_out=1), "nothing").allow_disconnected(True), "nothing"),
    (lambda g: g.set_outputs("nothing"), "nothing"),
    (lambda g: g.set_input_types(InputType.feed_forward(3)), "type"),
    (lambda g: (g.add_vertex("c", ElementWiseVertex("Add"), "d").add_vertex("d", ElementWiseVertex("Add"), "c")
                .allow_disconnected(True)), "cycle"),
])
def test_refused_graphs(change, message):
    with pytest.raises(ConfigurationError, match=message):
        change(graph()).build()


@pytest.mark.parametrize("options", [{"n_out": 1}, {"n_out": 3, "activation": "relu"}, {"n_out": 3, "activation": "sigmoid"},
                                     {"n_out": 3, "loss_function": "xent"}])
def test_output_layers_that_make_no_sense(options):
    builder = NeuralNetConfiguration.Builder().list(DenseLayer(n_in=2, n_out=4), OutputLayer(**options))
    with pytest.raises(ConfigurationError, match="OutputLayer"):
        builder.build()
    assert builder.validate_output_layer_config(False).build()


def test_refused_lists():
    with pytest.raises(ConfigurationError, match="gaps"):
        NeuralNetConfiguration.Builder().list().layer(1, DenseLayer(n_in=1, n_out=1)).build()
    with pytest.raises(ConfigurationError, match="did you mean 'seed'"):
        NeuralNetConfiguration.Builder().sed(1)
    with pytest.raises(ConfigurationError, match="GlobalPooling"):
        (NeuralNetConfiguration.Builder().list(LSTM(n_in=2, n_out=2), GlobalPoolingLayer(), OutputLayer(n_out=2))
         .backprop_type(BackpropType.TruncatedBPTT).tBPTTLength(5).build())


@pytest.mark.parametrize(("builder", "option", "value", "said"), [
    (NeuralNetConfiguration.Builder, "updater", "adm", "did you mean 'ADAM'"),
    (NeuralNetConfiguration.Builder, "biasUpdater", 3, "expected IUpdater"),
    (NeuralNetConfiguration.Builder, "activation", "tahn", "did you mean 'tanh'"),
    (NeuralNetConfiguration.Builder, "seed", "x", "expected a whole number"),
    (DenseLayer.Builder, "weightInit", "xvier", "did you mean 'XAVIER'"),
])
def test_wrong_values_are_told_at_the_call(builder, option, value, said):
    started = builder()
    with pytest.raises(ConfigurationError, match=said):
        getattr(started, option)(value)


def test_a_network_prints_its_size():
    conf = NeuralNetConfiguration.Builder().list().layer(DenseLayer(n_in=2, n_out=3)).layer(OutputLayer(n_in=3, n_out=2)).build()
    net = MultiLayerNetwork(conf)
    assert repr(net) == "<MultiLayerNetwork, not initialised>"
    assert repr(net.init()) == "<MultiLayerNetwork: 2 layers, 17 parameters>"


class Foreign:
    def getActivation(self, x, training):
        return x


@pytest.mark.parametrize("make, said", [
    (lambda: DenseLayer(n_in=3, n_out=2, activation=ActivationTanH), r"it is a class, ActivationTanH\(...\) makes"),
    (lambda: DenseLayer(n_in=3, n_out=2, updater=Sgd), r"it is a class, Sgd\(...\) makes an object"),
    (lambda: DenseLayer(n_in=3, n_out=2, activation=Foreign()), "of type Foreign: one of your own is an object of a class derived"),
    (lambda: DenseLayer(n_in=3, n_out=2, activation=Foreign), "of type type: derive it from IActivation"),
    (lambda: DenseLayer(n_in=3, n_out=2, activation=lambda x: x), "derived from IActivation"),
    (lambda: DenseLayer(n_in=3, n_out=None), "DenseLayer.n_out: None is not among the values that it takes"),
    (lambda: NeuralNetConfiguration.Builder().seed(None).list(OutputLayer(n_in=3, n_out=2)).build(), "seed: None is not among"),
    (lambda: NeuralNetConfiguration.Builder().graph_builder().add_inputs("i").add_layer("a", DenseLayer(n_in=3, n_out=2), len, "i"),
     "expected names of inputs, layers or vertices; got .*len"),
    (lambda: EarlyStoppingConfiguration.Builder().score_calculator(3).build(), "expected a ScoreCalculator"),
])
def test_values_of_another_kind_are_refused_with_what_to_write(make, said):
    with pytest.raises(ConfigurationError, match=said):
        make()


@pytest.mark.parametrize("given", [None, "a.csv", b"x"])
def test_what_is_no_array_is_no_input(given):
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().list(OutputLayer(n_in=3, n_out=2)).build()).init()
    with pytest.raises(DataTypeError, match=f"an input of the network is no array of numbers: .* of type {type(given).__name__}"):
        net.output(given)
