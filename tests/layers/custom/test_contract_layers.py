"""What DL4J's own tests ask of custom layers, and what its custom layers cannot do."""
from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    AttentionVertex,
    ConvolutionLayer,
    DenseLayer,
    DropConnect,
    FeedForwardLayer,
    GlobalPoolingLayer,
    InputType,
    OutputLayer,
    RnnOutputLayer,
    SameDiffLayer,
    SameDiffOutputLayer,
    SameDiffVertex,
    SelfAttentionLayer,
    check_layer,
    check_vertex,
    layer,
    vertex,
)
from dl4py.networks import (
    ComputationGraphConfiguration,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    TransferLearning,
)
from dl4py.samediff import DataSet, MultiDataSet
from dl4py.samediff.initializers.nd4j_random import Nd4jRandom
from tests.helpers.custom_classes import Conv, Dense, DenseVertex, Running, TwoActivations
from tests.helpers.custom_networks import check_gradients, data, gradients, graph, net, reloaded


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


# Layers and output layers that are no graphs of DL4J's


@layer("tests.Numbered")
class Numbered(DenseLayer):
    """A dense layer with one more option."""

    number: float = 0.0


@layer("tests.OwnOutput")
class OwnOutput(OutputLayer):
    """An output layer of another name."""


@pytest.mark.parametrize("as_graph", [False, True])
def test_a_layer_with_an_option_of_its_own(as_graph, tmp_path):
    sizes = [(9, 10), (10, 10), (10, 11)]
    kinds = [DenseLayer, lambda **o: Numbered(number=3.14159, **o), OutputLayer]
    layers = [kind(n_in=a, n_out=b) for kind, (a, b) in zip(kinds, sizes)]
    if as_graph:
        own = graph(("0", layers[0], "in"), ("1", layers[1], "0"), ("2", layers[2], "1"), outputs=["2"], dtype="FLOAT")
        conf, kind = own.get_configuration(), ComputationGraphConfiguration
    else:
        own = net(*layers)
        conf, kind = own.get_layer_wise_configurations(), MultiLayerConfiguration
    assert kind.from_json(conf.to_json()) == conf == kind.from_yaml(conf.to_yaml())
    assert "3.14159" in conf.to_json()
    lengths = [sum(a.size for n, a in own.param_table().items() if n.startswith(f"{i}_")) for i in range(3)]
    assert lengths == [9 * 10 + 10, 10 * 10 + 10, 10 * 11 + 11]
    x, y = data(4, 9, 11)
    own.fit(DataSet(x, y))
    np.testing.assert_array_equal(np.asarray(reloaded(own, tmp_path).output(x)), np.asarray(own.output(x)))


@pytest.mark.parametrize("as_graph", [False, True])
def test_an_output_layer_of_ones_own_equals_the_built_in_one(as_graph):
    made = []
    for kind in (OwnOutput, OutputLayer):
        layers = DenseLayer(n_in=4, n_out=5), kind(n_in=5, n_out=3)
        made.append(graph(("d", layers[0], "in"), ("o", layers[1], "d"), outputs=["o"], dtype="FLOAT") if as_graph else net(*layers))
    own, built_in = made
    conf = own.get_configuration().vertices["o"].layer if as_graph else own.get_layer_wise_configurations().layers[1]
    assert type(conf) is OwnOutput
    np.testing.assert_array_equal(own.params(), built_in.params())
    x, y = data(6, 4, 3)
    np.testing.assert_array_equal(np.asarray(own.output(x)), np.asarray(built_in.output(x)))
    assert own.score(DataSet(x, y)) == built_in.score(DataSet(x, y))


def test_gradients_by_name_equal_those_of_dense_layers():
    own, built_in = (net(kind(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2, loss_function="mcxent"))
                     for kind in (Dense, DenseLayer))
    for n in (6, 3):
        x, y = data(n, 3, 2)
        np.testing.assert_array_equal(gradients(own, x, y), gradients(built_in, x, y))
        one, other = own.gradient().gradient_for_variable(), built_in.gradient().gradient_for_variable()
        assert list(one) == list(other) == ["0_W", "0_b", "1_W", "1_b"]
        for name, found in one.items():
            np.testing.assert_array_equal(found.reshape(other[name].shape), other[name])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("made", [Dense(n_out=3, activation="tanh", l2=0.1), TwoActivations(n_out=4, activation="sigmoid")])
def test_custom_layers_pass_the_checks(made):
    check_layer(made, InputType.feed_forward(3)).raise_if_failed()


@layer("tests.WrongSlope")
class WrongSlope(FeedForwardLayer):
    """Its gradient does not reach all of it."""

    how: str = ""

    def output_type(self, input_type):
        return InputType.feed_forward(self.n_in + (self.how == "type"))

    def define_layer(self, sd, x, params, mask):
        if self.how == "gradient":
            return sd.stop_gradient(x) * x
        if self.how == "finite":
            return sd.math.log(x)
        return x - x.mean(0) if self.how == "batch" else x


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("how", "check"), [("gradient", "gradient"), ("type", "output type"), ("finite", "values are finite"),
                                            ("batch", "any batch size")])
def test_the_checks_find_what_is_wrong(how, check):
    report = check_layer(WrongSlope(how=how), InputType.feed_forward(3))
    assert check in [c.name for c in report.failures]
    with pytest.raises(AssertionError, match=f"FAIL  {check}"):
        report.raise_if_failed()
    assert check_layer(WrongSlope(), InputType.feed_forward(3)).passed


CONVOLUTIONS = list(itertools.product([(2, 2), (2, 1), (3, 2)], [(1, 1), (2, 2), (2, 1)], [(1, 1), (2, 1), (2, 2)], [False, True],
                                      [True, False], ["tanh", "elu", "identity", "softplus", "softsign", "cube"]))


@pytest.mark.parametrize(("kernel", "stride", "dilation", "same", "has_bias", "activation"), random.Random(5).sample(CONVOLUTIONS, 12))
def test_convolutions_equal_built_in_ones(kernel, stride, dilation, same, has_bias, activation):
    shared = {"has_bias": has_bias, "stride": stride, "dilation": dilation, "activation": activation}
    own = net(*[Conv(n_in=a, n_out=b, kernel=kernel, same=same, **shared) for a, b in ((1, 3), (3, 2))])
    built_in = net(*[ConvolutionLayer(n_in=a, n_out=b, kernel_size=kernel, convolution_mode="Same" if same else "Truncate", **shared)
                     for a, b in ((1, 3), (3, 2))])
    for name, value in built_in.param_table().items():
        own.set_param(name, value.transpose(2, 3, 1, 0) if value.ndim == 4 else value)
    for n in (3, 1):
        x = np.random.default_rng(n).normal(size=(n, 1, 16, 20)).astype(np.float32)
        np.testing.assert_allclose(own.output(x), built_in.output(x), rtol=1e-5, atol=1e-6)


def test_attention_of_one_array_to_itself():
    own = graph(("a", AttentionVertex(n_in_queries=3, n_in_keys=3, n_in_values=3, n_out=4, n_heads=2, head_size=2, project_input=True),
                 "in", "in", "in"), ("o", RnnOutputLayer(n_in=4, n_out=2), "a"), outputs=["o"])
    rng = np.random.default_rng(0)
    for n in (3, 2):
        check_gradients(own, rng.normal(size=(n, 3, 4)), np.eye(2)[rng.integers(0, 2, (n, 4))].transpose(0, 2, 1).copy())


# What has no effect in DL4J


def test_weight_noise_acts_on_custom_layers():
    x, _ = data(5, 3, 2)
    for options in ({"weight_noise": DropConnect(0.5)}, {}):
        own = net(Dense(n_in=3, n_out=4, activation="tanh", **options), OutputLayer(n_in=4, n_out=2))
        assert np.array_equal(own.output(x, True), own.output(x, False)) == (not options)
    conf = own.get_layer_wise_configurations()
    assert "weightNoise" not in conf.layers[0].to_json()
    everywhere = net(Dense(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2), weight_noise=DropConnect(0.5))
    conf = everywhere.get_layer_wise_configurations()
    assert conf.layers[0].weight_noise == DropConnect(0.5)
    assert MultiLayerConfiguration.from_json(conf.to_json()) == conf
    made = graph(("v", DenseVertex(n_in=3, n_out=4, weight_noise=DropConnect(0.5)), "in"), ("o", OutputLayer(n_in=4, n_out=2), "v"),
                 outputs=["o"])
    assert not np.array_equal(made.output(x, train=True)[0], made.output(x)[0])


@layer("tests.SquaredRows")
class SquaredRows(SameDiffOutputLayer):
    """The squared error of each example."""

    def define_parameters(self, params):
        params.clear()

    def activations_vertex_name(self):
        return "input"

    def get_output_type(self, layer_index, input_type):
        return input_type

    def define_layer(self, sd, layer_input, labels, param_table):
        return sd.math.squared_difference(labels, layer_input).mean(1)


def test_a_loss_of_each_example_has_scores_and_masks():
    check_layer(SquaredRows(), InputType.feed_forward(3)).raise_if_failed()
    own = net(DenseLayer(n_in=3, n_out=2, activation="tanh"), SquaredRows(), dtype="DOUBLE")
    x, y = data(5, 3, 2, dtype=np.float64)
    scores = own.score_examples(DataSet(x, y))
    np.testing.assert_allclose(scores, ((y - own.output(x)) ** 2).mean(1), rtol=1e-12)
    assert own.score(DataSet(x, y)) == pytest.approx(scores.mean())
    mask = np.array([[1.0], [0], [1], [1], [0]])
    masked = own.score_examples(DataSet(x, y, None, mask))
    np.testing.assert_allclose(masked, scores * mask[:, 0], rtol=1e-12)


@vertex("tests.Gate")
class Gate(SameDiffVertex):
    """Steps of one series, as far as another lets them pass; masked steps are 0."""

    n: int = 0

    def define_parameters_and_inputs(self, params):
        params.define_inputs("value", "gate")
        params.add_weight_param("W", 1, self.n, 1)

    def initialize_parameters(self, params):
        params["W"][...] = 0.5

    def get_output_type(self, layer_index, *input_types):
        return input_types[0]

    def feed_forward_mask_arrays(self, masks, current_mask_state, minibatch_size):
        return masks[0], current_mask_state

    def define_vertex(self, sd, inputs, param_table, masks):
        return inputs["value"] * sd.nn.sigmoid(inputs["gate"] * param_table["W"]) * sd.expand_dims(masks["value"], 1)


def test_vertices_of_several_inputs_with_masks():
    series = InputType.recurrent(3)
    report = check_vertex(Gate(n=3), series, np.random.default_rng(0).normal(size=(3, 3, 5)))
    report.raise_if_failed()
    assert "the mask that follows is (3, 5)" in [c.detail for c in report.checks]
    own = graph(("g", Gate(n=3), "a", "b"), ("o", RnnOutputLayer(n_in=3, n_out=2), "g"), inputs=("a", "b"), outputs=["o"])
    rng = np.random.default_rng(1)
    a, b, y = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3, 4)), np.eye(2)[rng.integers(0, 2, (2, 4))].transpose(0, 2, 1)
    mask = np.array([[1.0, 1, 1, 0], [1, 1, 0, 0]])
    changed = np.where(mask[:, None] == 0, 7.0, a)
    one, other = (own.score(MultiDataSet([v, b], [y], [mask, None], [mask])) for v in (a, changed))
    assert one == other
    assert own.score(MultiDataSet([a, b], [y], [mask, None])) != own.score(MultiDataSet([a, b], [y]))


@layer("tests.Leaky")
class Leaky(SameDiffLayer):
    """Running means of series, with DL4J's methods; the state goes on from call to call."""

    n: int = 0

    def set_n_in(self, input_type, override):
        self.n = input_type.size

    def define_parameters(self, params):
        params.add_weight_param("g", 1, self.n)

    def initialize_parameters(self, params):
        params["g"][...] = 0.5

    def get_output_type(self, layer_index, input_type):
        return input_type

    def define_layer(self, sd, layer_input, param_table, mask):
        gain = sd.expand_dims(param_table["g"], 2)
        first = sd.expand_dims(param_table.state("mean", layer_input, self.n), 2)
        sums = sd.math.cumsum(layer_input * gain, False, False, 2) + first
        param_table.keep_state("mean", sums[:, :, -1])
        return sums


def test_state_of_layers_with_dl4js_methods():
    report = check_layer(Leaky(), InputType.recurrent(3))
    report.raise_if_failed()
    assert ("series in pieces", "2 and 3 steps") in [(c.name, c.detail) for c in report.checks]


@pytest.mark.parametrize("made", [Leaky(n=3), Running(n_in=3, n_out=3)])
def test_truncated_training_carries_the_state(made):
    def built(**options):
        stack = NeuralNetConfiguration.Builder().seed(1).data_type("DOUBLE").list().layer(made).layer(RnnOutputLayer(n_in=3, n_out=2))
        for name, value in options.items():
            getattr(stack, name)(value)
        return MultiLayerNetwork(stack.build()).init()

    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 3, 6)), np.eye(2)[rng.integers(0, 2, (2, 6))].transpose(0, 2, 1)
    whole, pieces = built(), built(backprop_type="TruncatedBPTT", t_bptt_length=3)
    pieces.fit(DataSet(x, y))
    assert pieces.get_iteration_count() == 2
    by_hand = built()
    by_hand.fit(DataSet(x[:, :, :3], y[:, :, :3]))
    assert not np.array_equal(pieces.params(), by_hand.params())
    whole.fit(DataSet(x, y))
    by_hand.fit(DataSet(x[:, :, 3:], y[:, :, 3:]))
    assert not np.allclose(pieces.params(), by_hand.params(), rtol=1e-6)       # that one forgot the state
    assert not np.allclose(pieces.params(), whole.params(), rtol=1e-6)


# Transfer learning


@pytest.mark.parametrize("own", [SelfAttentionLayer(n_in=4, n_out=4, n_heads=2, head_size=2, project_input=True), Leaky(n=4)])
def test_an_output_layer_is_put_back_on_graph_defined_layers(own, tmp_path):
    out = OutputLayer(n_in=4, n_out=2)
    before = net(LSTM(n_in=3, n_out=4, activation="tanh"), own, GlobalPoolingLayer("MAX"), out)
    changed = TransferLearning.Builder(before).remove_output_layer().add_layer(out).build()
    for name in ("3_W", "3_b"):
        changed.set_param(name, before.get_param(name))
    assert list(changed.param_table()) == list(before.param_table())
    np.testing.assert_array_equal(changed.params(), before.params())
    x = np.random.default_rng(0).normal(size=(2, 3, 5)).astype(np.float32)
    np.testing.assert_array_equal(changed.output(x), before.output(x))
    np.testing.assert_array_equal(reloaded(changed, tmp_path).output(x), before.output(x))


def test_custom_layers_as_feature_extractor():
    before = net(Dense(n_in=3, n_out=4, activation="tanh"), Dense(n_in=4, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2))
    changed = TransferLearning.Builder(before, Nd4jRandom(5)).set_feature_extractor(0).n_out_replace(2, 5, "xavier").build()
    x, y = data(6, 3, 5)
    start = changed.params().copy()
    np.testing.assert_array_equal(start[:16], before.params()[:16])
    changed.fit(x, y)
    np.testing.assert_array_equal(changed.params()[:16], start[:16])
    assert not np.array_equal(changed.params()[16:36], start[16:36])


def test_gradients_of_a_vertex_and_a_layer_behind_each_other():
    own = graph(("v", DenseVertex(n_in=3, n_out=4), "in"), ("d", Dense(n_in=4, n_out=3, activation="sigmoid"), "v"),
                ("o", OutputLayer(n_in=3, n_out=2), "d"), outputs=["o"])
    check_gradients(own, *data(4, 3, 2, dtype=np.float64))
