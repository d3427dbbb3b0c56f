"""The architectures of the zoo are DL4J's: names, numbers of parameters, configurations, outputs."""
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dl4py.networks import ComputationGraph, MultiLayerNetwork, zoo
from dl4py.samediff.errors import ConfigurationError, FileFormatError, PathError
from dl4py.samediff.training import Adam, Sgd
from tests.networks.zoo import cases

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())
QUICK = ("LeNet", "SimpleCNN", "SqueezeNet", "TextGenerationLSTM")


def made(name, **options):
    return getattr(zoo, name)(**options)


@pytest.mark.parametrize("name", RECORDED)
def test_layers_are_those_of_dl4j(name):
    """By name, class and number of parameters, in DL4J's order."""
    configuration = made(name, **cases.options(name)).conf()
    found = cases.outline(configuration)
    assert found == RECORDED[name]["layers"]
    assert sum(size for *_, size in found) == RECORDED[name]["parameters"]


@pytest.mark.parametrize("name", RECORDED)
def test_configurations_are_those_of_dl4j(name):
    assert cases.digest(made(name, **cases.options(name)).conf()) == RECORDED[name]["digest"]
    small = made(name, **cases.options(name, cases.SMALL[name])).conf()
    assert cases.digest(small) == RECORDED[name]["small"]["digest"]


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in RECORDED])
def test_outputs_are_those_of_dl4j(name, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    shape, recorded = cases.SMALL[name], RECORDED[name]["small"]
    model = made(name, **cases.options(name, shape))
    configuration = model.conf()
    net = model.model_type()(configuration).init(cases.parameters(name, configuration))
    found = net.output(cases.inputs(name, shape))
    found = np.asarray(found[0] if isinstance(found, (list, tuple)) else found)
    assert net.num_params() == recorded["parameters"] and list(found.shape) == recorded["shape"]
    np.testing.assert_allclose(found.ravel()[::recorded["step"]][:len(recorded["outputs"])], recorded["outputs"], rtol=1e-4, atol=1e-6)


def test_every_architecture_has_a_case():
    built = {n for n in zoo.__all__ if isinstance(getattr(zoo, n), type) and issubclass(getattr(zoo, n), zoo.ZooModel)}
    assert built - {"ZooModel", "NASNet"} == set(RECORDED) == set(cases.SMALL)


def test_nasnet_is_read_from_files_alone(tmp_path):
    """As in DL4J, whose builder fails."""
    with pytest.raises(ConfigurationError, match="init_pretrained"):
        zoo.NASNet(num_classes=10).init()
    zoo.SqueezeNet(num_classes=3, input_shape=(3, 48, 48)).init().save(tmp_path / "graph.zip")
    assert isinstance(zoo.NASNet().init_pretrained(path=tmp_path / "graph.zip"), ComputationGraph)
    assert zoo.NASNet().pretrained_available("IMAGENETLARGE")


def test_both_spellings_and_keywords():
    snake = zoo.LeNet.builder().num_classes(10).seed(123).input_shape(1, 28, 28).build()
    camel = zoo.LeNet.builder().numClasses(10).seed(123).inputShape([1, 28, 28]).build()
    assert snake == camel == zoo.LeNet(num_classes=10, seed=123)
    net = camel.init()
    assert isinstance(net, MultiLayerNetwork) and net.num_params() == 1256080
    assert camel.modelType() is MultiLayerNetwork and zoo.VGG16().modelType() is ComputationGraph
    assert camel.modelName() == "lenet" and camel.metaData().input_shape == ((1, 28, 28),)


def test_options_reach_the_network():
    assert zoo.LeNet(num_classes=3, updater=Adam(0.5)).conf().layers[0].updater == Adam(0.5)
    graph = zoo.ResNet50(num_classes=3, weight_init="xavier", seed=7).graph_builder().build()
    layer = graph.vertices["res2a_branch2a"]
    assert layer.layer_conf.seed == 7 and layer.layer.weight_init == zoo.ResNet50(weight_init="XAVIER").weight_init
    tiny = zoo.TinyYOLO(num_classes=2, n_boxes=2, prior_boxes=((1, 2), (3, 4)), input_shape=(3, 64, 64)).conf()
    assert tiny.vertices["convolution2d_9"].layer.n_out == 2 * (5 + 2)
    assert tiny.vertices["outputs"].layer.priors() == ((1.0, 2.0), (3.0, 4.0))


def test_another_shape_of_the_input():
    model = zoo.LeNet(num_classes=3)
    assert model.setInputShape([[1, 12, 16]]) == model.set_input_shape((1, 12, 16)) == zoo.LeNet(num_classes=3, input_shape=(1, 12, 16))
    with pytest.raises(ConfigurationError, match="channels, height, width"):
        model.set_input_shape([12, 16])


def test_text_generation_takes_the_number_of_characters():
    conf = zoo.TextGenerationLSTM(total_unique_characters=30).conf()
    assert conf.layers[0].n_in == conf.layers[2].n_out == 30 and conf.tbptt_fwd_length == 50


@pytest.mark.parametrize("name", [n for n in RECORDED if getattr(zoo, n).needs_classes])
def test_the_number_of_classes_has_to_be_given(name):
    with pytest.raises(ConfigurationError, match=f"{name} needs num_classes"):
        made(name).init()


def test_a_step_lowers_the_score(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    net = zoo.LeNet(num_classes=3, input_shape=(1, 8, 8), updater=Sgd(0.05)).init()
    x, y = np.random.default_rng(0).random((6, 64), np.float32), np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1, 2]]
    net.fit(x, y)
    first = net.score()
    net.fit(x, y)
    assert net.score() < first


def test_pretrained_networks_come_from_local_files(tmp_path):
    model = zoo.LeNet(num_classes=3, input_shape=(1, 8, 8))
    net = model.init()
    net.save(tmp_path / "mine.zip")
    loaded = model.init_pretrained(path=tmp_path / "mine.zip")
    assert np.array_equal(loaded.params(), net.params())
    with pytest.raises(FileFormatError, match="MultiLayerNetwork"):
        zoo.VGG16().init_pretrained(path=tmp_path / "mine.zip")


def test_dl4j_keeps_copies_of_published_files(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    model = zoo.LeNet(num_classes=10)
    with pytest.raises(PathError, match=r"lenet_dl4j_mnist_inference\.zip.*path="):
        model.init_pretrained("MNIST")
    place = tmp_path / ".deeplearning4j" / "models" / "lenet" / "lenet_dl4j_mnist_inference.zip"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"something else")
    with pytest.raises(FileFormatError, match="checksum"):
        model.initPretrained(zoo.PretrainedType.MNIST)


def test_what_is_published():
    assert zoo.LeNet().pretrainedAvailable(zoo.PretrainedType.MNIST) and not zoo.LeNet().pretrained_available("IMAGENET")
    assert zoo.ResNet50().pretrained_url("imagenet").endswith("models/resnet50_dl4j_inference.v3.zip")
    assert zoo.ResNet50().pretrained_checksum("IMAGENET") == 3914447815 and zoo.AlexNet().pretrained_checksum("IMAGENET") == 0
    small, large = zoo.Darknet19(), zoo.Darknet19(input_shape=(3, 448, 448))
    assert small.pretrained_url("IMAGENET") != large.pretrained_url("IMAGENET")
    with pytest.raises(ConfigurationError, match="no weights of LeNet for IMAGENET; it has: MNIST"):
        zoo.LeNet().init_pretrained()
