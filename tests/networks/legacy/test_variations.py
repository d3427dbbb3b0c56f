"""Texts that differ from what DL4J writes: what its reader accepts is accepted, and means the same."""
from __future__ import annotations

import json

import pytest

from dl4py.layers import ConvolutionLayer, DenseLayer, InputType, OutputLayer
from dl4py.networks import (
    ComputationGraphConfiguration,
    ModelSerializer,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
)
from dl4py.networks.files.model_zip import ModelLimits
from dl4py.samediff.errors import ConfigurationError, FileFormatError, LimitError

CONF = (NeuralNetConfiguration.Builder().seed(1).updater("adam").l2(0.1).list(
    ConvolutionLayer(n_out=2, kernel_size=(2, 2)), OutputLayer(n_out=2)).set_input_type(InputType.convolutional(4, 4, 1)).build())
TEXT = CONF.to_json()
GRAPH = (NeuralNetConfiguration.Builder().seed(1).graph_builder().add_inputs("in").add_layer("a", DenseLayer(n_in=2, n_out=2), "in")
         .add_layer("out", OutputLayer(n_in=2, n_out=2), "a").set_outputs("out").build())


def with_numbers(change):
    def walk(value):
        if isinstance(value, dict):
            return {k: walk(v) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(v) for v in value]
        return change(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    return json.dumps(walk(json.loads(TEXT)))


@pytest.mark.parametrize("text", [
    TEXT.replace("\n", "\r\n"),
    "\n\n  " + TEXT,
    TEXT + "\nwhat follows is not read",
    json.dumps(json.loads(TEXT)),
    with_numbers(str),
    with_numbers(float),
    with_numbers(lambda v: int(v) if v == int(v) else v),
], ids=["CRLF", "blank lines", "trailing text", "one line", "numbers as texts", "fractions", "whole numbers"])
def test_the_same_configuration(text):
    assert MultiLayerConfiguration.from_json(text) == CONF


@pytest.mark.parametrize("text", ["\ufeff" + TEXT, "/* comment */" + TEXT, TEXT.replace('"', "'"), TEXT[:-1], "", "NaN"])
def test_what_is_refused(text):
    with pytest.raises(FileFormatError):
        MultiLayerConfiguration.from_json(text)


def test_objects_nested_without_end():
    with pytest.raises(FileFormatError, match="nested too deeply"):
        MultiLayerConfiguration.from_json('{"confs":' * 200 + "1" + "}" * 200)


def test_nesting_is_limited_by_the_caller(tmp_path):
    MultiLayerNetwork(CONF).init().save(tmp_path / "m.zip")
    with pytest.raises(LimitError, match="more than 3 levels"):
        ModelSerializer.restore_multi_layer_network(tmp_path / "m.zip", limits=ModelLimits(max_nesting=3))
    assert ModelSerializer.restore_multi_layer_network(tmp_path / "m.zip", limits=ModelLimits(max_nesting=10)).num_params()


def test_yaml_references_are_not_unfolded():
    bomb = "a: &a [x, x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9))
    with pytest.raises(FileFormatError, match="references"):
        MultiLayerConfiguration.from_yaml(bomb)


@pytest.mark.parametrize("change", [
    lambda d: d["vertexInputs"].pop("a"),
    lambda d: d["vertexInputs"].update(a=None),
    lambda d: d["vertices"].update(a=None),
    lambda d: d["vertices"]["a"]["layerConf"].pop("layer"),
    lambda d: d["vertices"]["a"].pop("layerConf"),
    lambda d: d["vertexInputs"].update(a=["nobody"]),
    lambda d: d["vertexInputs"].update(a=["out"]),
])
def test_graphs_that_are_incomplete(change):
    document = json.loads(GRAPH.to_json())
    change(document)
    with pytest.raises(ConfigurationError):
        ComputationGraphConfiguration.from_json(json.dumps(document))
