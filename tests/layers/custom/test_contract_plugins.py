"""Plug-ins of every kind: registered by decorator, used in one network, saved and loaded by name."""
from __future__ import annotations

import zipfile

import numpy as np
import pytest

from dl4py.layers import (
    DenseLayer,
    IDropout,
    IWeightInit,
    IWeightNoise,
    LayerConstraint,
    OutputLayer,
    SameDiffLoss,
    check_activation,
    check_loss,
    check_preprocessor,
    loss,
)
from dl4py.networks import (
    ComputationGraph,
    ComputationGraphConfiguration,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
)
from dl4py.samediff import DataSet
from dl4py.samediff.base.registry import MissingClassWarning
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.errors import MissingOpError
from dl4py.samediff.training import RatedUpdater, Schedule
from tests.helpers.custom_classes import Bent, Halved, Product, TwoActivations
from tests.helpers.custom_networks import data, reloaded


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


@loss("tests.SameDiffMSE")
class SameDiffMSE(SameDiffLoss):
    """The mean squared error."""

    def define_loss(self, sd, layer_input, labels):
        return sd.math.squared_difference(layer_input, labels).mean(1)


@loss("tests.SameDiffMAE")
class SameDiffMAE(SameDiffLoss):
    """The mean absolute error."""

    def define_loss(self, sd, layer_input, labels):
        return sd.math.abs(layer_input - labels).mean(1)


@configuration("tests.WarmUp")
class WarmUp(Schedule):
    """Grows to ``top`` in ``steps`` iterations."""

    top: float
    steps: int = 4

    def value_at(self, iteration, epoch):
        return self.top * min(1.0, (iteration + 1) / self.steps)


@configuration("tests.ScheduledSgd")
class ScheduledSgd(RatedUpdater):
    """Equal to Sgd."""

    learning_rate: float | Schedule = 0.1
    learning_rate_schedule: Schedule | None = None

    def step(self, xp, gradient, state, hyper):
        return hyper[0] * gradient, ()


@configuration("tests.EverySecond")
class EverySecond(IDropout):
    """Drops every second column."""

    def draw(self, rng, shape, dtype, iteration, epoch):
        return (np.arange(shape[-1]) % 2 * np.ones(shape)).astype(dtype), None


@configuration("tests.Doubling")
class Doubling(IWeightNoise):
    """Twice the weights while training."""

    def draw(self, rng, shape, dtype, iteration, epoch):
        return np.full(shape, 2, dtype), None


@configuration("tests.Rounded")
class Rounded(LayerConstraint):
    """Weights are multiples of ``step``."""

    step: float = 0.25

    def constrained(self, xp, param):
        return xp.round(param / self.step) * self.step


@configuration("tests.Ramp")
class Ramp(IWeightInit):
    """0, 1, 2, ... times ``scale``."""

    scale: float = 0.125

    def init(self, rng, fan_in, fan_out, shape, order="f", dtype=np.float32):
        return (self.scale * np.arange(np.prod(shape))).astype(np.dtype(getattr(dtype, "numpy", dtype))).reshape(shape, order=order)


def configured():
    layers = [TwoActivations(n_in=4, n_out=4, activation=Bent(0.5), second="cube", weight_init=Ramp(0.0625)),
              DenseLayer(n_in=4, n_out=6, activation=Bent(0.25), dropout=EverySecond(), weight_noise=Doubling(), weight_init=Ramp()),
              OutputLayer(n_in=6, n_out=2, activation="tanh", loss_function=SameDiffMSE(), constrain_weights=Rounded(step=0.5))]
    builder = NeuralNetConfiguration.Builder().seed(1).data_type("DOUBLE").updater(ScheduledSgd(WarmUp(0.1, 2))).list()
    for one in layers:
        builder.layer(one)
    return builder.input_pre_processor(0, Halved(0.5)).build()


def test_a_network_of_plug_ins_is_read_by_name(tmp_path):
    conf = configured()
    assert MultiLayerConfiguration.from_json(conf.to_json()) == conf == MultiLayerConfiguration.from_yaml(conf.to_yaml())
    for name in ("tests.Bent", "tests.EverySecond", "tests.Doubling", "tests.SameDiffMSE", "tests.Rounded", "tests.Ramp",
                 "tests.ScheduledSgd", "tests.WarmUp", "tests.Halved", "tests.TwoActivations"):
        assert name in conf.to_json()
    own = MultiLayerNetwork(conf).init()
    x, y = data(6, 4, 2, dtype=np.float64)
    own.fit(x, y)
    again = reloaded(own, tmp_path)
    assert again == own
    for network in (own, again):
        network.fit(x, y)
    np.testing.assert_array_equal(again.params(), own.params())
    np.testing.assert_array_equal(again.output(x), own.output(x))


def test_each_plug_in_acts():
    own = MultiLayerNetwork(configured()).init()
    x, y = data(6, 4, 2, dtype=np.float64)
    np.testing.assert_array_equal(own.get_param("0_W"), 0.0625 * np.arange(16).reshape(4, 4, order="F"))
    np.testing.assert_array_equal(own.feed_forward(x)[1], own.feed_forward(x, train=True)[1])
    z = x * 0.5 @ own.get_param("0_W")
    first = np.concatenate([np.tanh(z[:, :2]) + 0.5 * z[:, :2], z[:, 2:] ** 3], 1)
    np.testing.assert_allclose(own.feed_forward(x)[1], first, rtol=1e-12)
    for train, factor in ((False, 1), (True, 2)):
        z = (first * (np.arange(4) % 2 if train else 1)) @ own.get_param("1_W") * factor
        np.testing.assert_allclose(own.feed_forward(x, train=train)[2], np.tanh(z) + 0.25 * z, rtol=1e-9)
    assert own.score(DataSet(x, y)) == pytest.approx(((own.output(x) - y) ** 2).mean())
    assert own.get_learning_rate(0) == pytest.approx(0.05)
    own.fit(x, y)
    assert own.get_learning_rate(0) == pytest.approx(0.1)
    np.testing.assert_array_equal(own.get_param("2_W") % 0.5, 0)


def test_a_graph_of_plug_ins_is_read_by_name(tmp_path):
    conf = (NeuralNetConfiguration.Builder().seed(1).data_type("DOUBLE").updater(ScheduledSgd(WarmUp(0.1)))
            .graph_builder().add_inputs("a", "b").add_vertex("p", Product(), "a", "b")
            .add_layer("d", DenseLayer(n_in=3, n_out=4, activation=Bent()), "p")
            .add_layer("o", OutputLayer(n_in=4, n_out=2, activation="identity", loss_function=SameDiffMAE()), "d").set_outputs("o").build())
    assert ComputationGraphConfiguration.from_json(conf.to_json()) == conf == ComputationGraphConfiguration.from_yaml(conf.to_yaml())
    own = ComputationGraph(conf).init()
    a, b = data(3, 3, 2, dtype=np.float64)[0], data(3, 3, 2, 1, dtype=np.float64)[0]
    np.testing.assert_array_equal(reloaded(own, tmp_path).output(a, b)[0], own.output(a, b)[0])


@pytest.mark.parametrize(("name", "kind"), [
    ("Bent", "IActivation"), ("EverySecond", "IDropout"), ("Doubling", "IWeightNoise"), ("SameDiffMSE", "ILossFunction"),
    ("Rounded", "LayerConstraint"), ("Ramp", "IWeightInit"), ("ScheduledSgd", "IUpdater"), ("WarmUp", "Schedule"),
    ("Halved", "InputPreProcessor"), ("TwoActivations", "Layer")])
def test_names_that_nobody_registered_are_told(name, kind, tmp_path):
    said = rf'no {kind} is registered as tests\.Nobody.*; import the module .* register .*@configuration\("tests\.Nobody"\)'
    conf = configured()
    with pytest.raises(MissingOpError, match=said):
        MultiLayerConfiguration.from_json(conf.to_json().replace(f"tests.{name}", "tests.Nobody"))
    with pytest.raises(MissingOpError, match=said):
        MultiLayerConfiguration.from_yaml(conf.to_yaml().replace(f"tests.{name}", "tests.Nobody"))
    MultiLayerNetwork(conf).init().save(tmp_path / "own.zip")
    with zipfile.ZipFile(tmp_path / "own.zip") as own, zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        for entry in own.infolist():
            other.writestr(entry, own.read(entry).replace(f"tests.{name}".encode(), b"tests.Nobody"))
    with pytest.warns(MissingClassWarning, match=r"tests\.Nobody"):
        assert list(MultiLayerNetwork.load(tmp_path / "other.zip").missing_classes()) == ["tests.Nobody"]


def test_a_vertex_that_nobody_registered_is_told():
    conf = (NeuralNetConfiguration.Builder().graph_builder().add_inputs("a", "b").add_vertex("p", Product(), "a", "b")
            .add_layer("o", OutputLayer(n_in=3, n_out=2), "p").set_outputs("o").build())
    with pytest.raises(MissingOpError, match=r"no GraphVertex is registered as tests\.Nobody"):
        ComputationGraphConfiguration.from_json(conf.to_json().replace("tests.Product", "tests.Nobody"))


@pytest.mark.parametrize("own", [SameDiffMSE(), SameDiffMAE()])
@pytest.mark.parametrize("name", ["identity", "tanh"])
def test_losses_as_graphs_pass_the_checks(own, name):
    rng = np.random.default_rng(0)
    check_loss(own, rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), name).raise_if_failed()


def test_activations_and_preprocessors_pass_the_checks():
    check_activation(Bent(0.5)).raise_if_failed()
    check_preprocessor(Halved(0.25), np.random.default_rng(0).normal(size=(3, 4))).raise_if_failed()


@loss("tests.NotOne")
class NotOne(SameDiffLoss):
    """Mixes the examples."""

    def define_loss(self, sd, layer_input, labels):
        return sd.math.squared_difference(layer_input.mean(0), labels).mean(1)


def test_masked_examples_reach_no_loss_even_where_it_mixes_examples():
    rng = np.random.default_rng(0)
    check_loss(NotOne(), rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), allow={"examples alone"}).raise_if_failed()
