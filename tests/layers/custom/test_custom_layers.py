"""Custom layers, vertices and other plug-ins: they equal built-in ones in values, gradients, training and files."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    Activation,
    Bidirectional,
    CnnToFeedForwardPreProcessor,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    FrozenLayer,
    InputType,
    LossFunction,
    LossLayer,
    MaskZeroLayer,
    OutputLayer,
    RnnOutputLayer,
    SameDiffLambdaLayer,
    SameDiffLayer,
    SameDiffOutputLayer,
    ScaleVertex,
    ShiftVertex,
    TimeDistributed,
    UnitNormConstraint,
    layer,
)
from dl4py.networks import (
    ComputationGraphConfiguration,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
)
from dl4py.samediff import DataSet
from dl4py.samediff.errors import ConfigurationError, DL4PyError, GraphError
from dl4py.samediff.training.updaters.updaters import Adam, NoOp, Sgd
from tests.helpers.custom_classes import (
    Bent,
    Conv,
    Dense,
    DenseVertex,
    Halved,
    JavaDense,
    MSELoss,
    MSEOutput,
    OneRow,
    OneRowVertex,
    PlainSgd,
    Product,
    Running,
    Scan,
    Simple,
    TwoActivations,
)
from tests.helpers.custom_networks import check_gradients, data, equal_training, gradients, graph, net, reloaded

ACTIVATIONS = ["TANH", "SIGMOID", "ELU", "IDENTITY", "SOFTPLUS", "SOFTSIGN", "CUBE", "HARDTANH", "RELU"]


# SameDiffLayer


def test_a_dense_layer_has_two_parameters():
    table = net(Dense(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2)).param_table()
    assert table["0_W"].shape == (3, 4) and table["0_b"].shape == (1, 4)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("n", [5, 1])
def test_forward_equals_a_dense_layer(name, n, tmp_path):
    own = net(Dense(n_in=3, n_out=4, activation=name), LossLayer(n_in=4, n_out=4))
    built_in = net(DenseLayer(n_in=3, n_out=4, activation=name), LossLayer(n_in=4, n_out=4))
    assert list(own.param_table()) == list(built_in.param_table())
    own.set_params(built_in.params())
    for x in (data(n, 3, 2)[0], data(2 * n, 3, 2, 1)[0]):
        np.testing.assert_array_equal(own.output(x), built_in.output(x))
    np.testing.assert_array_equal(reloaded(own, tmp_path).output(x), own.output(x))


def test_equal_seeds_give_equal_parameters():
    own = net(Dense(n_in=3, n_out=4), Dense(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=2), activation="tanh")
    built_in = net(DenseLayer(n_in=3, n_out=4), DenseLayer(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=2), activation="tanh")
    np.testing.assert_array_equal(own.params(), built_in.params())
    x, y = data(6, 3, 2)
    for rows in (6, 3):
        np.testing.assert_array_equal(gradients(own, x[:rows], y[:rows]), gradients(built_in, x[:rows], y[:rows]))


def test_training_equals_dense_layers(tmp_path):
    sizes = [(4, 5), (5, 5)]
    make = [net(*[kind(n_in=a, n_out=b, activation="tanh") for a, b in sizes], OutputLayer(n_in=5, n_out=3), updater=Adam(0.1), l2=1e-3)
            for kind in (Dense, DenseLayer)]
    x, y = data(30, 4, 3)
    equal_training(*make, x, y, 5)
    np.testing.assert_array_equal(make[0].get_updater().state_view(), make[1].get_updater().state_view())
    again = reloaded(make[0], tmp_path)
    np.testing.assert_array_equal(again.output(x), make[1].output(x))
    equal_training(again, make[1], x, y, 2)


@pytest.mark.parametrize("name", ["TANH", "IDENTITY"])
def test_gradients_of_dense_layers(name):
    made = net(Dense(n_in=4, n_out=4, activation=name), Dense(n_in=4, n_out=4, activation=name), OutputLayer(n_in=4, n_out=4),
               dtype="DOUBLE", updater=NoOp(), l2=0.01)
    check_gradients(made, *data(3, 4, 4, dtype=np.float64))


def test_java_names_override_too(tmp_path):
    own = net(JavaDense(nIn=3, nOut=4), OutputLayer(n_in=4, n_out=2))
    x = data(5, 3, 2)[0]
    expected = np.tanh(x @ own.get_param("0_W") + own.get_param("0_b"))
    np.testing.assert_allclose(own.feed_forward(x)[1], expected, rtol=1e-6)
    np.testing.assert_array_equal(reloaded(own, tmp_path).output(x), own.output(x))
    assert JavaDense.from_json(JavaDense(nIn=3, nOut=4).toJson()) == JavaDense(n_in=3, n_out=4)


def test_sizes_follow_from_the_input_type():
    conf = (NeuralNetConfiguration.Builder().list().layer(Dense(n_out=4, activation="tanh")).layer(OutputLayer(n_out=2))
            .set_input_type(InputType.feed_forward(3)).build())
    assert conf.layers[0].n_in == 3 and conf.layers[1].n_in == 4
    assert MultiLayerConfiguration.from_json(conf.to_json()) == conf == MultiLayerConfiguration.from_yaml(conf.to_yaml())


def test_dropout_and_constraints_reach_custom_layers():
    own = net(Dense(n_in=6, n_out=4, activation="tanh", dropout=0.5, constrain_weights=UnitNormConstraint(0)), OutputLayer(n_in=4, n_out=2))
    x, y = data(8, 6, 2)
    assert not np.array_equal(own.output(x, True), own.output(x, False))
    own.fit(x, y)
    np.testing.assert_allclose(np.linalg.norm(own.get_param("0_W"), axis=0), 1, rtol=1e-5)


@layer("tests.Masked")
class Masked(SameDiffLayer):
    """The steps that the mask allows; no mask behind it."""

    def define_parameters(self, params):
        params.clear()

    def get_output_type(self, layer_index, input_type):
        return input_type

    def feed_forward_mask_array(self, mask, state, minibatch):
        return None, state

    def define_layer(self, sd, layer_input, param_table, mask):
        return layer_input * sd.expand_dims(mask, 1)


def test_masks_are_ones_when_none_is_given():
    own = net(Masked(), RnnOutputLayer(n_in=2, n_out=2, loss_function="mse", activation="identity"))
    x, mask = np.ones((3, 2, 4), np.float32), np.tile(np.array([1, 1, 0, 0], np.float32), (3, 1))
    assert own.feed_forward(x)[1].sum() == x.sum()
    assert own.feed_forward(x, features_mask=mask)[1].sum() == x.sum() / 2


@pytest.mark.parametrize(("kernel", "stride", "same"), [((2, 2), (1, 1), False), ((3, 2), (2, 1), True)])
@pytest.mark.parametrize("has_bias", [True, False])
def test_convolutions_equal_built_in_ones(kernel, stride, same, has_bias, tmp_path):
    shared = {"has_bias": has_bias, "stride": stride, "activation": "tanh"}
    own = net(Conv(n_in=1, n_out=3, kernel=kernel, same=same, **shared), Conv(n_in=3, n_out=2, kernel=kernel, same=same, **shared))
    mode = "Same" if same else "Truncate"
    built_in = net(*[ConvolutionLayer(n_in=a, n_out=b, kernel_size=kernel, convolution_mode=mode, **shared) for a, b in ((1, 3), (3, 2))])
    assert own.get_param("0_W").shape == (*kernel, 1, 3)
    for name, value in built_in.param_table().items():
        own.set_param(name, value.transpose(2, 3, 1, 0) if value.ndim == 4 else value)
    for n in (3, 1):
        x = np.random.default_rng(n).normal(size=(n, 1, 16, 20)).astype(np.float32)
        np.testing.assert_allclose(own.output(x), built_in.output(x), atol=1e-6)
    np.testing.assert_array_equal(reloaded(own, tmp_path).output(x), own.output(x))


def test_gradients_of_convolutions():
    made = net(Conv(n_in=1, n_out=2), OutputLayer(n_in=24, n_out=2), dtype="DOUBLE", updater=NoOp())
    conf = made.get_layer_wise_configurations().replace(input_pre_processors={1: CnnToFeedForwardPreProcessor(3, 4, 2)})
    rng = np.random.default_rng(0)
    check_gradients(MultiLayerNetwork(conf).init(), rng.normal(size=(3, 1, 4, 5)), np.eye(2)[[0, 1, 1]])


@pytest.mark.parametrize(("wrapped", "n_in"), [
    (Bidirectional("CONCAT", Scan(n=3)), 6), (MaskZeroLayer(Scan(n=3), 0.0), 3),
    (TimeDistributed(Dense(n_in=3, n_out=3, activation="tanh")), 3)])
def test_wrapped_custom_layers(wrapped, n_in, tmp_path):
    own = net(wrapped, RnnOutputLayer(n_in=n_in, n_out=2), dtype="DOUBLE")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 3, 4)), np.eye(2)[rng.integers(0, 2, (2, 4))].transpose(0, 2, 1).copy()
    check_gradients(own, x, y)
    np.testing.assert_array_equal(reloaded(own, tmp_path).output(x), own.output(x))


def test_frozen_custom_layers_stay():
    own = net(FrozenLayer(Dense(n_in=3, n_out=4, activation="tanh")), OutputLayer(n_in=4, n_out=2))
    before = own.params()
    own.fit(*data(5, 3, 2))
    np.testing.assert_array_equal(own.params()[:16], before[:16])
    assert not np.array_equal(own.params()[16:], before[16:])


def test_recurrent_state_of_ones_own():
    own = net(Running(n_in=3, n_out=3), RnnOutputLayer(n_in=3, n_out=2))
    x = np.random.default_rng(0).normal(size=(2, 3, 6)).astype(np.float32)
    pieces = [own.rnn_time_step(x[:, :, :2]), own.rnn_time_step(x[:, :, 2:])]
    np.testing.assert_allclose(np.concatenate(pieces, 2), own.output(x), rtol=1e-5)


def test_the_score_has_the_penalty_of_custom_layers():
    made = [net(kind(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2), l2=0.1) for kind in (Dense, DenseLayer)]
    scores = [one.score(DataSet(*data(5, 3, 2))) for one in made]
    assert scores[0] == scores[1] and made[0].calc_regularization_score() > 0


# Lambda layers and vertices


def test_lambda_layer_equals_vertices(tmp_path):
    dense, out = DenseLayer(n_in=5, n_out=5, activation="tanh"), OutputLayer(n_in=5, n_out=5)
    own = graph(("d", dense, "in"), ("l", Simple(), "d"), ("o", out, "l"), outputs=["o"])
    built_in = graph(("d", dense, "in"), ("s", ShiftVertex(1.0), "d"), ("m", ScaleVertex(2.0), "s"), ("o", out, "m"), outputs=["o"])
    x, y = data(4, 5, 5, dtype=np.float64)
    np.testing.assert_array_equal(own.output(x)[0], built_in.output(x)[0])
    equal_training(own, built_in, x, y)
    np.testing.assert_array_equal(reloaded(own, tmp_path).output(x)[0], built_in.output(x)[0])


def test_lambda_vertex_equals_product(tmp_path):
    def made(product):
        dense = DenseLayer(n_in=5, n_out=5, activation="tanh")
        out = OutputLayer(n_in=5, n_out=5)
        return graph(("a", dense, "in"), ("b", dense, "in"), ("p", product, "a", "b"), ("o", out, "p"), outputs=["o"])

    own, built_in = made(Product()), made(ElementWiseVertex("Product"))
    x, y = data(4, 5, 5, dtype=np.float64)
    np.testing.assert_array_equal(own.output(x)[0], built_in.output(x)[0])
    equal_training(own, built_in, x, y)
    np.testing.assert_array_equal(reloaded(own, tmp_path).output(x)[0], built_in.output(x)[0])
    check_gradients(own, x, y)


# Output layers


def test_loss_layer_equals_mse(tmp_path):
    dense = DenseLayer(n_in=5, n_out=4, activation="tanh")
    own, built_in = (net(dense, last, updater=Adam(0.01)) for last in (MSELoss(), LossLayer(loss_function="mse", activation="identity")))
    x, y = data(6, 5, 4)
    np.testing.assert_array_equal(own.output(x), built_in.output(x))
    np.testing.assert_allclose(own.score(DataSet(x, y)), built_in.score(DataSet(x, y)), rtol=1e-6)
    for _ in range(3):
        own.fit(x, y)
        built_in.fit(x, y)
        np.testing.assert_allclose(own.params(), built_in.params(), rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(reloaded(own, tmp_path).output(x), own.output(x))
    with pytest.raises(ConfigurationError, match="scores of single examples"):
        own.score_examples(DataSet(x, y))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["IDENTITY", "TANH", "SOFTMAX"])
def test_output_layer_equals_mse(name, tmp_path):
    dense = DenseLayer(n_in=5, n_out=4, activation="tanh")
    own = net(dense, MSEOutput(n_in=4, n_out=3, activation=name), dtype="DOUBLE", l2=0.01)
    built_in = net(dense, OutputLayer(n_in=4, n_out=3, activation=name, loss_function=LossFunction.MSE), dtype="DOUBLE", l2=0.01)
    np.testing.assert_array_equal(own.params(), built_in.params())
    x, y = data(6, 5, 3, dtype=np.float64)
    np.testing.assert_allclose(own.output(x), built_in.output(x), rtol=1e-12)
    for _ in range(3):
        own.fit(x, y)
        built_in.fit(x, y)
        np.testing.assert_allclose(own.score(), built_in.score(), rtol=1e-10)
        np.testing.assert_allclose(own.params(), built_in.params(), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(reloaded(own, tmp_path).output(x), own.output(x))
    check_gradients(own, x, y)


@layer("tests.UnitLength")
class UnitLength(SameDiffOutputLayer):
    """Rows of length 1, without labels; Java's names."""

    def defineParameters(self, params):
        params.clear()

    def activationsVertexName(self):
        return "input"

    def labelsRequired(self):
        return False

    def getOutputType(self, layerIndex, inputType):
        return inputType

    def defineLayer(self, sd, layerInput, labels, paramTable):
        assert labels is None
        return sd.math.square(layerInput.mul(layerInput).sum(1).sub(1.0)).sum()


def test_a_loss_without_labels_trains():
    own = net(DenseLayer(n_in=3, n_out=4, activation="identity"), UnitLength(), updater=Adam(0.1))
    x, _ = data(8, 3, 2)
    for _ in range(200):
        own.fit(DataSet(x[:2], None))
    np.testing.assert_allclose(np.linalg.norm(own.output(x[:2]), axis=1), 1, atol=0.05)


# Vertices with parameters


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["TANH", "SIGMOID"])
@pytest.mark.parametrize("n", [5, 1])
def test_dense_vertex_equals_dense_layers(name, n, tmp_path):
    def made(*dense):
        return graph(("a", dense[0], "in"), ("b", dense[1], "a"), ("o", OutputLayer(n_in=4, n_out=4), "b"), outputs=["o"])

    own = made(DenseVertex(n_in=3, n_out=4, activation=name), DenseVertex(n_in=4, n_out=4, activation=name))
    built_in = made(DenseLayer(n_in=3, n_out=4, activation=name), DenseLayer(n_in=4, n_out=4, activation=name))
    own.set_params(built_in.params())
    assert list(own.param_table()) == list(built_in.param_table())
    x, y = data(n, 3, 4, dtype=np.float64)
    for rows in (x, np.concatenate([x, x])):
        np.testing.assert_array_equal(own.output(rows)[0], built_in.output(rows)[0])
    equal_training(own, built_in, x, y, rtol=1e-14)         # the same numbers in another order of fused steps
    np.testing.assert_array_equal(reloaded(own, tmp_path).output(x)[0], built_in.output(x)[0])
    check_gradients(own, x, y)


# Errors


@pytest.mark.parametrize("make", [
    lambda: net(OneRow(), OutputLayer(n_in=2, n_out=2)),
    lambda: graph(("v", OneRowVertex(), "in"), ("o", OutputLayer(n_in=2, n_out=2), "v"), outputs=["o"], dtype="FLOAT")])
def test_a_layer_may_refuse_a_batch(make):
    network, (x, y) = make(), data(2, 2, 2)
    network.fit(x[:1], y[:1])
    before = network.params()
    with pytest.raises(ValueError, match=r"OneRow.*one row only, not 2") as found:
        network.fit(x, y)
    assert isinstance(found.value, DL4PyError)
    np.testing.assert_array_equal(network.params(), before)


@layer("tests.Broken")
class Broken(SameDiffLambdaLayer):
    """Goes wrong in the way asked for."""

    how: str = ""

    def define_layer(self, sd, layer_input):
        if self.how == "none":
            return None
        if self.how == "shape":
            return layer_input.sum(7)
        return layer_input * {}["missing"]


@pytest.mark.parametrize(("how", "text"), [("none", "must return the variable"), ("shape", "7"), ("raises", "raised KeyError: 'missing'")])
def test_errors_name_the_layer_and_the_line(how, text):
    network = net(Broken(how=how), OutputLayer(n_in=2, n_out=2))
    with pytest.raises(GraphError, match=text) as found:
        network.output(np.ones((1, 2), np.float32))
    told = "\n".join([str(found.value), *getattr(found.value, "__notes__", ())])
    assert "Broken 'layer0'" in told and "test_custom_layers.py, line" in told


def test_unknown_activations_are_named():
    @layer("tests.Nameless")
    class Nameless(SameDiffOutputLayer):
        def define_parameters(self, params):
            pass

        def activations_vertex_name(self):
            return "predictoin"

        def get_output_type(self, layer_index, input_type):
            return input_type

        def define_layer(self, sd, layer_input, labels, param_table):
            return (layer_input.add("prediction", 1.0) - labels).sum()

    with pytest.raises(GraphError, match="did you mean 'prediction'"):
        net(DenseLayer(n_in=2, n_out=2), Nameless()).output(np.ones((1, 2), np.float32))


def test_files_need_names():
    class Unnamed(Simple):
        pass

    with pytest.raises(ConfigurationError, match="Unnamed has no name that a file could keep"):
        net(Unnamed(), OutputLayer(n_in=2, n_out=2)).get_layer_wise_configurations().to_json()


def test_types_need_get_output_type():
    conf = NeuralNetConfiguration.Builder().list().layer(Broken()).layer(OutputLayer(n_out=2)).set_input_type(InputType.feed_forward(3))
    with pytest.raises(ConfigurationError, match="Broken 'layer0' must implement get_output_type"):
        conf.build()


# Other plug-ins


def test_contract_layer(tmp_path):
    own = net(TwoActivations(n_in=3, n_out=4, activation="sigmoid", second="cube"), OutputLayer(n_in=4, n_out=2), dtype="DOUBLE", l2=0.01)
    x, y = data(5, 3, 2, dtype=np.float64)
    z = x @ own.get_param("0_W") + own.get_param("0_b")
    expected = np.concatenate([1 / (1 + np.exp(-z[:, :2])), z[:, 2:] ** 3], 1)
    np.testing.assert_allclose(own.feed_forward(x)[1], expected, rtol=1e-12)
    own.fit(x, y)
    np.testing.assert_array_equal(reloaded(own, tmp_path).output(x), own.output(x))
    check_gradients(own, x, y)
    conf = own.get_layer_wise_configurations()
    assert MultiLayerConfiguration.from_json(conf.to_json()) == conf == MultiLayerConfiguration.from_yaml(conf.to_yaml())


def test_contract_layer_that_fails():
    @layer("tests.Wrong")
    class Wrong(TwoActivations):
        def define_layer(self, sd, x, params, mask):
            return x * (1 / 0)

    with pytest.raises(GraphError, match="Wrong 'layer0': define_layer raised ZeroDivisionError"):
        net(Wrong(n_in=2, n_out=2), OutputLayer(n_in=2, n_out=2)).output(np.ones((1, 2), np.float32))


def test_custom_activation_updater_and_preprocessor():
    layers = DenseLayer(n_in=10, n_out=10, activation=Bent(0.5)), OutputLayer(n_in=10, n_out=10, activation="tanh", loss_function="mse")
    own, built_in = net(*layers, updater=PlainSgd(0.03)), net(*layers, updater=Sgd(0.03))
    assert [one.updater for one in own.get_layer_wise_configurations().layers] == [PlainSgd(0.03)] * 2
    x, y = data(5, 10, 10)
    equal_training(own, built_in, x, y)
    stack = NeuralNetConfiguration.Builder().list().layer(DenseLayer(n_in=2, n_out=2)).layer(OutputLayer(n_in=2, n_out=2))
    with_halves = stack.input_pre_processor(0, Halved(0.25)).build()
    for conf in (own.get_layer_wise_configurations(), with_halves):
        assert MultiLayerConfiguration.from_json(conf.to_json()) == conf == MultiLayerConfiguration.from_yaml(conf.to_yaml())
    np.testing.assert_allclose(MultiLayerNetwork(with_halves).init().feed_forward(np.ones((1, 2), np.float32))[0], 1)


def test_graphs_with_custom_layers_survive_json():
    own = graph(("d", Dense(n_in=3, n_out=4, activation=Activation.TANH), "in"), ("v", DenseVertex(n_in=4, n_out=4), "d"),
                ("p", Product(), "d", "v"), ("o", OutputLayer(n_in=4, n_out=2), "p"), outputs=["o"])
    conf = own.get_configuration()
    assert ComputationGraphConfiguration.from_json(conf.to_json()) == conf == ComputationGraphConfiguration.from_yaml(conf.to_yaml())
    assert "SameDiffLayer" in own.summary()
