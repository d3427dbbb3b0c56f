"""One layer of a network: configuration, parameters, activations, methods of its own."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    AutoEncoder,
    BatchNormalization,
    BernoulliReconstructionDistribution,
    CompositeReconstructionDistribution,
    Convolution3D,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    FrozenLayer,
    GaussianReconstructionDistribution,
    GlobalPoolingLayer,
    InputType,
    LastTimeStep,
    LossFunctionWrapper,
    LossMSE,
    OutputLayer,
    Upsampling2D,
    VariationalAutoencoder,
    at_work,
    layer,
)
from dl4py.layers.types.layer_type import type_of
from dl4py.networks import ComputationGraph, LayerType, LayerView, NeuralNetConfiguration
from dl4py.samediff import DataSet
from dl4py.samediff.errors import ConfigurationError, GraphError, ShapeError, UnknownNameError
from dl4py.samediff.initializers.nd4j_random import Nd4jRandom, get_random
from tests.helpers.networkcheck import network

X = np.random.default_rng(3).uniform(0.1, 0.9, size=(6, 4))


def dense():
    return network(DenseLayer(n_in=4, n_out=5, layer_name="hidden"), DenseLayer(n_in=5, n_out=7), OutputLayer(n_in=7, n_out=3))


def vae(**options):
    return network(VariationalAutoencoder(**{"n_in": 4, "n_out": 2, "encoder_layer_sizes": (5,), "decoder_layer_sizes": (3,), **options}),
                   OutputLayer(n_in=2, n_out=3))


def autoencoder():
    return network(AutoEncoder(n_in=4, n_out=3, activation="sigmoid"), OutputLayer(n_in=3, n_out=2))


def test_the_configuration_shows_through():
    net = dense()
    view = net.get_layer("hidden")
    assert isinstance(view, LayerView) and view == net.getLayer(0) == net.get_layers()[0] != net.get_layer(1)
    assert (view.n_out, view.getNOut(), view.layer_name, view.get_index(), net.get_layer(2).getIndex()) == (5, 5, "hidden", 0, 2)
    assert view.get_config() == net.get_layer_wise_configurations().layers[0]
    assert view.conf().seed == 7 and view.conf().getLayer() == view.get_config()
    assert "n_out" in dir(view) and "DenseLayer(" in repr(view)
    with pytest.raises(AttributeError, match="n_outs"):
        view.n_outs  # noqa: B018 - the access is what is tested
    net.set_learning_rate(0, 0.5)
    assert view.updater.learning_rate == 0.5


def test_views_are_instances_of_the_class_of_their_layer():
    for made, kind in ((vae(), VariationalAutoencoder), (dense(), DenseLayer)):
        view = made.get_layer(0)
        assert isinstance(view, kind) and isinstance(view, LayerView) and not isinstance(view, OutputLayer)


def test_parameters_are_those_of_the_network():
    net = dense()
    view = net.get_layer(1)
    assert list(view.param_table()) == ["W", "b"] and view.num_params() == 42
    np.testing.assert_array_equal(view.params(), net.params()[25:67])
    view.get_param("b")[...] = 3
    view.set_param("W", np.arange(35.0).reshape(5, 7))
    np.testing.assert_array_equal(net.get_param("1_W")[1], np.arange(7.0, 14))
    assert net.params()[66] == 3
    view.setParams(np.arange(42.0))
    np.testing.assert_array_equal(net.params()[25:67], np.arange(42.0))
    np.testing.assert_array_equal(view.get_param("W")[:, 0], np.arange(5.0))
    view.set_param_table({"b": np.ones(7)})
    assert net.get_param("1_b").sum() == 7
    with pytest.raises(UnknownNameError, match="has no parameter 'w'; parameters: W, b"):
        view.get_param("w")
    with pytest.raises(ShapeError, match="42 parameters, the vector given has 3"):
        view.set_params([1, 2, 3])


def test_parameters_that_only_pretraining_moves():
    view = vae().get_layer(0)
    assert view.is_pretrain_layer() and not dense().get_layer(0).is_pretrain_layer()
    assert list(view.param_table(True)) == ["e0W", "e0b", "pZXMeanW", "pZXMeanb"]
    assert (view.num_params(), view.num_params(True)) == (5 * 5 + 2 * 12 + 9 + 32, 37)
    assert list(autoencoder().get_layer(0).param_table(True)) == ["W", "b"]


def test_activations_of_one_layer():
    net = dense()
    acts = net.feed_forward(X)
    for i in range(3):
        np.testing.assert_allclose(net.get_layer(i).activate(acts[i]), acts[i + 1], rtol=1e-12)
    net.set_params(net.params() * 2)
    np.testing.assert_allclose(net.get_layer(0).activate(X), net.feed_forward(X)[1], rtol=1e-12)
    net.set_learning_rate(0.5)                                            # a new flat vector
    net.fit(DataSet(X, np.eye(3)[[0, 1, 2, 0, 1, 2]]))
    np.testing.assert_allclose(net.get_layer(0).activate(X), net.feed_forward(X)[1], rtol=1e-12)


def test_dropout_and_masks_of_one_layer():
    net = network(DenseLayer(n_in=4, n_out=3, dropout=0.5), OutputLayer(n_in=3, n_out=2))
    view = net.get_layer(0)
    assert np.abs(view.activate(X, True) - view.activate(X)).max() > 1e-3
    mask = np.array([[1.0], [0], [1], [1], [0], [1]])
    np.testing.assert_array_equal(view.activate(X, False, mask), view.activate(X) * mask)


def test_preprocessors_stand_before_a_layer():
    layers = ConvolutionLayer(kernel_size=(2, 2), n_out=2), DenseLayer(n_out=3), OutputLayer(n_out=2)
    net = network(*layers, input_type=InputType.convolutional(4, 4, 1))
    images = np.random.default_rng(0).normal(size=(3, 1, 4, 4))
    inside = net.get_layer(0).activate(images)
    np.testing.assert_allclose(net.get_layer(1).activate(inside.reshape(3, -1)), net.feed_forward(images)[2], rtol=1e-12)


def through_all_layers(net, epsilon=None):
    """The gradients by layer, and that of the input, layer by layer."""
    found = {}
    for view in reversed(net.layers):
        gradient, epsilon = view.backpropGradient(epsilon, None)
        own = gradient.gradientForVariable()
        found |= {f"{view.get_index()}_{name}": g for name, g in own.items()}
        np.testing.assert_array_equal(gradient.gradient(), np.concatenate([g.ravel("F") for g in own.values()]))
    return found, epsilon


def test_back_propagation_layer_by_layer():
    net = network(DenseLayer(n_in=4, n_out=5, dropout=0.7), BatchNormalization(n_in=5, n_out=5), DenseLayer(n_in=5, n_out=3),
                  OutputLayer(n_in=3, n_out=3))
    for by_labels in (True, False):
        net.set_input(X)
        epsilon = None if by_labels else np.linspace(-1, 1, 18).reshape(6, 3)
        if by_labels:
            net.set_labels(np.eye(3)[[0, 1, 2, 0, 1, 2]])
        else:
            net.set_labels(None)
        wanted, below = net.backprop_gradient(epsilon)
        wanted = {name: np.array(g) for name, g in wanted.gradient_for_variable().items()}
        found, last = through_all_layers(net, epsilon)
        np.testing.assert_allclose(last, below, rtol=1e-10)
        assert found.keys() == wanted.keys()
        for name, g in wanted.items():
            np.testing.assert_allclose(found[name], g, rtol=1e-10, err_msg=name)
            np.testing.assert_allclose(net.gradient().get_gradient_for(name), g, rtol=1e-10)


def test_back_propagation_through_what_a_pass_left():
    conf = (NeuralNetConfiguration.Builder().seed(3).graph_builder().add_inputs("in")
            .add_layer("c", ConvolutionLayer(kernel_size=(2, 2), n_out=2, activation="tanh"), "in")
            .add_layer("d", DenseLayer(n_out=3, activation="tanh"), "c").add_layer("out", OutputLayer(n_out=2), "d").set_outputs("out")
            .set_input_types(InputType.convolutional(4, 4, 1)).build())
    net, images = ComputationGraph(conf).init(), np.random.default_rng(0).normal(size=(3, 1, 4, 4))
    with pytest.raises(GraphError, match="set_input of the layer or the network"):
        net.get_layer("c").backprop_gradient(np.ones((3, 2, 3, 3)))
    acts = net.feed_forward([images], True, False)
    convolution, dense = net.get_layer("c"), net.get_layer("d")
    np.testing.assert_allclose(dense.input(), acts["c"].reshape(3, -1))
    _, below = dense.backpropGradient(np.ones((3, 3)), None)
    slopes = 1 - acts["d"] ** 2
    np.testing.assert_allclose(below, slopes @ net.get_param("d_W").T, rtol=1e-5)
    gradient, epsilon = convolution.backpropGradient(below.reshape(3, 2, 3, 3), None)
    assert epsilon.shape == images.shape and gradient.gradient_for_variable().keys() == {"W", "b"}
    wanted = ((1 - acts["c"] ** 2) * below.reshape(3, 2, 3, 3)).sum((0, 2, 3))
    np.testing.assert_allclose(gradient.get_gradient_for("b").ravel(), wanted, 1e-5)


def test_inputs_and_labels_of_one_layer():
    net = dense()
    net.get_layer(1).setInput(np.ones((2, 5)), None)
    assert net.get_layer(1).activate(False).shape == (2, 7) and net.get_layer(0).input() is None
    out, y = net.get_output_layer(), np.eye(3)[[0, 1, 2, 0, 1, 2]]
    out.set_input(net.feed_forward(X)[2])
    with pytest.raises(GraphError, match="needs the gradient of its activations"):
        out.backprop_gradient()
    out.setLabels(y)
    assert out.computeScore(0.0, False, None) == pytest.approx(net.score(X, y))
    np.testing.assert_allclose(out.compute_score_for_examples(0.5)[:, 0], net.score_examples(X, y) + 0.5)
    out.clear()
    assert out.input() is None and out.get_labels() is None
    with pytest.raises(ShapeError, match="gradient of output '0'"):
        net.set_input(X)
        net.get_layer(0).backprop_gradient(np.ones((6, 2)))


def test_layers_of_a_graph():
    conf = (NeuralNetConfiguration.Builder().seed(3).graph_builder().add_inputs("a", "b")
            .add_layer("left", DenseLayer(n_in=4, n_out=3), "a")
            .add_layer("right", AutoEncoder(n_in=4, n_out=3), "b").add_vertex("sum", ElementWiseVertex("Add"), "left", "right")
            .add_layer("out", OutputLayer(n_in=3, n_out=2), "sum").set_outputs("out").build())
    net = ComputationGraph(conf).init()
    acts, view = net.feed_forward(X, 2 * X), net.get_layer("right")
    np.testing.assert_allclose(view.activate(2 * X), acts["right"], rtol=1e-6)
    np.testing.assert_allclose(view.encode(2 * X), acts["right"], rtol=1e-6)
    assert view.conf().layer.n_out == 3 and net.get_output_layer() == net.get_layer("out")
    assert [v.get_index() for v in net.get_layers()] == [0, 1, 2] and net.get_layer("sum") == ElementWiseVertex("Add")


def test_an_autoencoder_at_work():
    net = autoencoder()
    net.set_params(net.params() + np.linspace(-0.5, 0.5, net.num_params()))
    view, w = net.get_layer(0), net.get_param("0_W")

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))
    code = sigmoid(X @ w + net.get_param("0_b"))
    np.testing.assert_allclose(view.encode(X), code, rtol=1e-12)
    np.testing.assert_allclose(view.decode(code), sigmoid(code @ w.T + net.get_param("0_vb")), rtol=1e-12)
    np.testing.assert_allclose(view.reconstruct(X), view.decode(code), rtol=1e-12)
    assert {"encode", "decode", "reconstruct"} <= set(dir(view))
    with pytest.raises(AttributeError):
        net.get_layer(1).encode(X)


def test_log_probability_is_the_mean_over_draws():
    view = vae(output_distribution=GaussianReconstructionDistribution("identity")).get_layer(0)
    p = view.param_table()
    h = np.tanh(X @ p["e0W"] + p["e0b"])
    mean, log_variance = h @ p["pZXMeanW"] + p["pZXMeanb"], h @ p["pZXLogStd2W"] + p["pZXLogStd2b"]
    rng, total = Nd4jRandom(4), 0
    for _ in range(3):
        z = mean + np.exp(log_variance / 2) * rng.normal((6, 2), dtype="DOUBLE")
        out = np.tanh(z @ p["d0W"] + p["d0b"]) @ p["pXZW"] + p["pXZb"]
        total = total - (0.5 * np.log(2 * np.pi) + out[:, 4:] / 2 + (X - out[:, :4]) ** 2 / (2 * np.exp(out[:, 4:]))).sum(1, keepdims=True)
    found = view.reconstruction_log_probability(X, 3, Nd4jRandom(4))
    np.testing.assert_allclose(found, total / 3, rtol=1e-12)
    get_random().set_seed(4)
    np.testing.assert_allclose(view.reconstructionProbability(X, 3), np.exp(total / 3), rtol=1e-12)
    assert not view.has_loss_function()
    with pytest.raises(ConfigurationError, match="no loss function"):
        view.reconstruction_error(X)
    with pytest.raises(ConfigurationError, match="num_samples"):
        view.reconstruction_probability(X, 0)


def test_data_from_latent_variables():
    view = vae(output_distribution=BernoulliReconstructionDistribution()).get_layer(0)
    z, p = np.random.default_rng(0).normal(size=(5, 2)), view.param_table()
    chances = 1 / (1 + np.exp(-(np.tanh(z @ p["d0W"] + p["d0b"]) @ p["pXZW"] + p["pXZb"])))
    np.testing.assert_allclose(view.generateAtMeanGivenZ(z), chances, rtol=1e-12)
    np.testing.assert_array_equal(view.generate_random_given_z(z, Nd4jRandom(1)), Nd4jRandom(1).uniform((5, 4), dtype="DOUBLE") < chances)
    with pytest.raises(ShapeError, match=r"\[batch, 2\]; got \[5, 3\]"):
        view.generate_at_mean_given_z(np.zeros((5, 3)))


def test_reconstruction_error_of_losses():
    loss = LossFunctionWrapper("tanh", LossMSE())
    both = CompositeReconstructionDistribution.Builder().add_distribution(1, loss).add_distribution(3, loss).build()
    for distribution in (loss, both):
        view = vae(output_distribution=distribution).get_layer(0)
        error = (X - view.generate_at_mean_given_z(view.activate(X))) ** 2
        wanted = error.mean(1) if distribution is loss else error[:, 0] + error[:, 1:].mean(1)
        assert view.has_loss_function()
        np.testing.assert_allclose(view.reconstruction_error(X), wanted[:, None], rtol=1e-12)
    with pytest.raises(ConfigurationError, match="reconstruction_error"):
        vae(output_distribution=loss).get_layer(0).reconstruction_probability(X, 1)


def test_the_score_of_pretraining():
    net = autoencoder()
    assert net.get_layer(0).score() == 0
    net.pretrain_layer(0, X)
    assert net.get_layer(0).score() != 0 == net.get_layer(1).score()


@layer("example.Explained")
class Explained(DenseLayer):
    """A layer that shows what its activation function is given."""

    @at_work
    def before_activation(self, net, x):
        return net.run(self.pre_output, x)


def test_methods_of_layers_of_ones_own():
    net = network(Explained(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=2))
    found = net.get_layer(0).beforeActivation(X)
    np.testing.assert_allclose(np.tanh(found), net.feed_forward(X)[1], rtol=1e-12)


@pytest.mark.parametrize(("conf", "kind"), [
    (DenseLayer(n_out=1), "FEED_FORWARD"), (LSTM(n_out=1), "RECURRENT"), (ConvolutionLayer(n_out=1), "CONVOLUTIONAL"),
    (Convolution3D(n_out=1), "CONVOLUTIONAL"), (GlobalPoolingLayer(), "SUBSAMPLING"), (BatchNormalization(), "NORMALIZATION"),
    (Upsampling2D(size=2), "UPSAMPLING"), (LastTimeStep(underlying=LSTM(n_out=1)), "FEED_FORWARD"),
    (FrozenLayer(underlying=LSTM(n_out=1)), "RECURRENT"), (Explained(n_out=1), "FEED_FORWARD")])
def test_kinds_of_layers(conf, kind):
    assert type_of(conf) is LayerType(kind)


def test_kind_of_a_layer_at_work():
    assert dense().get_layer(0).type() is LayerType.FEED_FORWARD


def test_a_layer_alone_runs_where_its_network_does():
    from tests.samediff.plans.toy import RUNS
    net = network(DenseLayer(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=2))
    layer, x = net.get_layer(0), np.ones((2, 4), "f4")
    before = layer.activate(x)
    net.to("toy")
    count = RUNS["matmul"]
    np.testing.assert_allclose(layer.activate(x), before, 1e-6)
    assert RUNS["matmul"] == count + 1
