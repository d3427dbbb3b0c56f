"""Configurations as text: character by character what DL4J 1.0.0-M2.1 writes, and its YAML is read."""
from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dl4py.layers import (
    AttentionVertex,
    ConstantDistribution,
    DenseLayer,
    Dropout,
    FrozenLayer,
    InputType,
    LocallyConnected1D,
    NormalDistribution,
    OutputLayer,
    RnnOutputLayer,
    WeightNoise,
)
from dl4py.networks import ComputationGraphConfiguration, MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import Adam
from dl4py.samediff.errors import ConfigurationError, FileFormatError, MissingOpError
from dl4py.samediff.text.java_yaml import read_yaml, write_yaml

GOLDEN = Path(__file__).parents[2] / "golden"


def recorded():
    """Configurations of model files that M2.1 itself wrote."""
    for path in sorted(GOLDEN.rglob("*.zip")):
        if path.parent.name == "bad":
            continue
        with zipfile.ZipFile(path) as archive:
            text = archive.read("configuration.json").decode()
        if "org.example." not in text and "example.custom" not in text:
            yield pytest.param(text, id=path.parent.name)


@pytest.mark.parametrize("text", list(recorded()))
def test_json_is_dl4js_text(text):
    kind = ComputationGraphConfiguration if '"vertices"' in text else MultiLayerConfiguration
    conf = kind.from_json(text)
    assert conf.to_json() == text
    assert kind.from_yaml(conf.to_yaml()).to_json() == text


def test_yaml_is_dl4js_text():
    text = (GOLDEN / "files" / "padded_volumes.yaml").read_text()
    conf = MultiLayerConfiguration.from_yaml(text)
    assert conf.to_yaml() == text
    assert conf.confs[1].layer.updater.learning_rate == 0.1
    assert list(conf.input_pre_processors) == [1]
    assert MultiLayerNetwork(conf).init().output(np.zeros((1, 2, 3, 4, 3))).shape == (1, 2)


def made():
    return (NeuralNetConfiguration.Builder().seed(1).updater(Adam(2e7)).l2(1e-4).list()
            .layer(FrozenLayer(DenseLayer(n_out=3, dropout=Dropout(0.5)))).layer(OutputLayer(n_out=2))
            .set_input_type(InputType.convolutional(2, 2, 1)).build())


def test_order_of_keys_numbers_and_lists():
    conf = made()
    text = conf.to_json()
    assert '"learningRate" : 2.0E7' in text and '"epsilon" : 1.0E-8' in text
    assert '"regularizationBias" : [ ]' in text and '"regularization" : [ {\n' in text
    frozen = json.loads(text)["confs"][0]["layer"]
    assert list(frozen)[:3] == ["@class", "layer", "constraints"]
    assert list(frozen["layer"]["idropout"])[:3] == ["@class", "p", "helperAllowFallback"]
    assert "\r" not in text and not text.endswith("\n")
    assert MultiLayerConfiguration.from_json(text) == conf == MultiLayerConfiguration.from_yaml(conf.to_yaml())


def test_shapes_of_parameters_of_graph_defined_layers():
    """As DL4J writes them once the sizes are known; its readers take them as they stand, so an open size is not written."""
    shapes = {"biasParams": {"b": [4]}, "weightParams": {"W": [5, 6, 4]}}
    conf = (NeuralNetConfiguration.Builder().list().layer(LocallyConnected1D(n_out=4)).layer(RnnOutputLayer(n_out=2))
            .set_input_type(InputType.recurrent(3, 5)).build())
    assert conf.get_conf(0).layer.to_document()["layerParams"] == shapes
    assert MultiLayerConfiguration.from_json(conf.to_json()) == conf
    assert MultiLayerConfiguration.from_yaml(conf.to_yaml()).to_json() == conf.to_json()
    wider = MultiLayerConfiguration.from_json(conf.to_json()).get_conf(0).layer.set_n_in(InputType.recurrent(7, 5))
    assert wider.to_document()["layerParams"]["weightParams"] == {"W": [5, 14, 4]}
    assert "layerParams" not in LocallyConnected1D(n_out=4).to_document()
    vertex = AttentionVertex(n_in_queries=3, n_in_keys=2, n_in_values=3, n_out=4, n_heads=2, project_input=True)
    assert vertex.to_document()["vertexParams"] == {
        "biasParams": {}, "inputs": ["queries", "keys", "values"],
        "weightParams": {"Wq": [2, 2, 3], "Wk": [2, 2, 2], "Wv": [2, 2, 3], "Wo": [4, 4]}}


def test_distributions_are_named_by_type_in_json_and_by_a_tag_in_yaml():
    made = DenseLayer(n_in=2, n_out=2, weight_init=NormalDistribution(0, 0.5), weight_noise=WeightNoise(ConstantDistribution(0.1)))
    conf = NeuralNetConfiguration.Builder().list().layer(made).layer(OutputLayer(n_in=2, n_out=2)).build()
    package = "org.deeplearning4j.nn.conf.distribution."
    noise = json.loads(conf.to_json())["confs"][0]["layer"]["weightNoise"]
    assert noise["distribution"] == {"type": package + "ConstantDistribution", "value": 0.1}
    assert f"      distribution: !<{package}ConstantDistribution>\n        value: 0.1\n" in conf.to_yaml()
    assert f"      distribution: !<{package}NormalDistribution>\n        mean: 0.0\n        std: 0.5\n" in conf.to_yaml()
    assert MultiLayerConfiguration.from_yaml(conf.to_yaml()) == conf


def test_yaml_of_other_writers():
    conf = made()
    import yaml
    plain = yaml.safe_dump(json.loads(conf.to_json()))      # class names as keys, as dl4py wrote them once
    assert MultiLayerConfiguration.from_yaml(plain) == conf


def test_what_is_unknown_stays_in_both():
    document = json.loads(made().to_json())
    document["confs"][1]["layer"]["acmeNote"] = {"text": 'a "quoted" word\n: #', "list": [[1, [2.5]], {"x": []}, {}], "no": None}
    document["9 lives"] = "ü😀"
    conf = MultiLayerConfiguration.from_json(json.dumps(document))
    for again in (MultiLayerConfiguration.from_json(conf.to_json()), MultiLayerConfiguration.from_yaml(conf.to_yaml())):
        assert json.loads(again.to_json()) == document


VALUES = [1, 2.5, 1e-300, 1e7, -0.0, "NaN", "true", "null", "1.0", "",
          " a: b ", "- x", "ü", "\x07\u2028", True, None]


@pytest.mark.parametrize("value", VALUES)
def test_scalars_survive_yaml(value):
    found = read_yaml(write_yaml({"value": value, "list": [value, [value], {"inner": value}]}))
    assert found == {"value": value, "list": [value, [value], {"inner": value}]} and type(found["value"]) is type(value)


def test_names_that_look_like_other_values():
    builder = NeuralNetConfiguration.Builder().graph_builder().add_inputs("true")
    for name, before in (("0", "true"), ("1.5", "0"), ("null", "1.5")):
        builder.add_layer(name, DenseLayer(n_in=2, n_out=2), before)
    conf = builder.add_layer("on", OutputLayer(n_in=2, n_out=2), "null").set_outputs("on").build()
    again = ComputationGraphConfiguration.from_yaml(conf.to_yaml())
    assert again == conf and again.to_json() == conf.to_json() and list(again.vertices) == list(conf.vertices)


@pytest.mark.parametrize(("text", "error", "said"), [
    ("a: !<x> 3", FileFormatError, "tag 'x' is not a class name before an object"),
    ("!!python/object/apply:os.system ['ls']", FileFormatError, "is not a class name"),
    ("a: [", FileFormatError, "not YAML"), ("- 1", ConfigurationError, "expected a JSON object"),
    ("confs:\n- layer: !<org.acme.Nope>\n    x: 1\n", MissingOpError, "org.acme.Nope")])
def test_bad_yaml(text, error, said):
    with pytest.raises(error, match=said):
        MultiLayerConfiguration.from_yaml(text)
