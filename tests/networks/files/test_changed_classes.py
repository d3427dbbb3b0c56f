"""Files whose classes have changed since, are not here, or never had a name."""
from __future__ import annotations

import json

import numpy as np
import pytest

from dl4py.layers import DenseLayer, InputType, OutputLayer, layer
from dl4py.networks import MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.commands import inspect
from dl4py.samediff.base.registry import MissingClassWarning
from dl4py.samediff.configuration.classes import _REGISTRY, _SIMPLE
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.errors import ConfigurationError, DL4PyError, FileFormatError, MissingOpError, UnsupportedVersionError
from dl4py.samediff.training import Sgd

NAME = "org.acme.changing.Scaled"


@pytest.fixture
def registered():
    """Registers a class under one name, in place of what was there."""
    names = []

    def register(body, base=DenseLayer, name=NAME):
        _REGISTRY.pop(name, None)
        names.append(name)
        made = type(name.rpartition(".")[2], (base,), {"__module__": __name__, "__doc__": "A part.", **body})
        return layer(name)(made) if issubclass(base, DenseLayer) else configuration(name)(made)
    yield register
    for name in set(names):
        _REGISTRY.pop(name, None)
        _SIMPLE.pop(name.rpartition(".")[2], None)


def network(*layers):
    """A list network of three inputs."""
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(*layers, OutputLayer(n_out=2))
                             .set_input_type(InputType.feed_forward(3)).build()).init()


def test_an_option_that_the_class_has_no_more_is_an_error(registered, tmp_path):
    old = registered({"__annotations__": {"scale": float}, "scale": 1.0})
    network(DenseLayer(n_out=3), old(n_out=2, scale=5.0, name="middle")).save(tmp_path / "n.zip")
    assert MultiLayerNetwork.load(tmp_path / "n.zip").get_layer_wise_configurations().layers[1].scale == 5
    registered({"__annotations__": {"gain": float}, "gain": 1.0})
    for read in (MultiLayerNetwork.load, inspect):
        with pytest.raises(ConfigurationError, match=r"Scaled 'middle': the file holds the option 'scale'.*lacks.*gain.*upgrade\(cls"):
            read(tmp_path / "n.zip")

    @classmethod
    def upgrade(cls, document):
        document = super(DenseLayer, cls).upgrade(document)
        return {("gain" if key == "scale" else key): value for key, value in document.items()}

    registered({"__annotations__": {"gain": float}, "gain": 1.0, "upgrade": upgrade})
    assert MultiLayerNetwork.load(tmp_path / "n.zip").get_layer_wise_configurations().layers[1].gain == 5


def test_what_is_of_a_newer_version_is_inspected_all_the_same(registered, tmp_path):
    new = registered({"version": 2})
    network(DenseLayer(n_out=3), new(n_out=2, name="middle")).save(tmp_path / "n.zip")
    registered({})
    with pytest.raises(UnsupportedVersionError, match="version 2 of the class; registered is version 1"):
        MultiLayerNetwork.load(tmp_path / "n.zip")
    report = inspect(tmp_path / "n.zip")
    assert [p.kind for p in report.parts] == ["DenseLayer", "Scaled", "OutputLayer"] and report.parameters == 26
    assert any("saved by version 2 of the class; registered is version 1. Update the package" in note for note in report.notes)


def test_so_are_those_of_what_layers_hold(registered, tmp_path):
    name = "org.acme.changing.Slow"
    old = registered({"__annotations__": {"factor": float}, "factor": 2.0}, Sgd, name)
    network(DenseLayer(n_out=2, updater=old(0.1))).save(tmp_path / "n.zip")
    registered({}, Sgd, name)
    with pytest.raises(ConfigurationError, match=r"Slow: the file holds the option 'factor'"):
        MultiLayerNetwork.load(tmp_path / "n.zip")


def test_unknown_fields_of_own_classes_survive():
    document = network(DenseLayer(n_out=2)).get_layer_wise_configurations().to_document()
    document["confs"][0]["layer"]["ofTheFuture"] = [1, {"a": None}]
    read = MultiLayerConfiguration.from_json(json.dumps(document))
    assert json.loads(read.to_json())["confs"][0]["layer"]["ofTheFuture"] == [1, {"a": None}]


def test_parameters_that_do_not_fit_name_the_layers(registered, tmp_path):
    old = registered({})
    network(DenseLayer(n_out=3), old(n_out=2, name="middle")).save(tmp_path / "n.zip")
    registered({"parameter_table": lambda self: [p for p in DenseLayer.parameter_table(self) if p.name == "W"]})
    with pytest.raises(FileFormatError, match=r"coefficients.bin.*expected 24 values, got 26.*may be the cause: layer 'middle' "
                                              r"\(Scaled\).*The layers expect: .*12, layer 'middle' \(Scaled\) 6, .* 6$"):
        MultiLayerNetwork.load(tmp_path / "n.zip")


def test_all_missing_classes_are_named_at_once(registered, tmp_path):
    first = registered({})
    second = registered({}, Sgd, "org.acme.changing.Slow")
    network(first(n_out=2, name="middle"), DenseLayer(n_out=2, updater=second(0.1))).save(tmp_path / "n.zip")
    for name in (NAME, "org.acme.changing.Slow"):
        del _REGISTRY[name]
    with pytest.warns(MissingClassWarning, match=r"2 of .* not registered: org.acme.changing.Scaled, org.acme.changing.Slow; .*'middle'"):
        net = MultiLayerNetwork.load(tmp_path / "n.zip")
    with pytest.raises(MissingOpError, match=r"2 of .* not registered: org.acme.changing.Scaled, org.acme.changing.Slow \(layers middle"):
        MultiLayerConfiguration.from_json(net.get_configuration().to_json())
    assert inspect(tmp_path / "n.zip").missing == [NAME, "org.acme.changing.Slow"]


def test_a_class_without_a_name_cannot_be_saved(tmp_path):
    class Unnamed(DenseLayer):
        """Inherits all but the name."""

    net = network(Unnamed(n_out=2))
    assert net.output(np.ones((1, 3))).shape == (1, 2)
    (tmp_path / "n.zip").write_bytes(b"old")
    with pytest.raises(ConfigurationError, match=r"Unnamed has no name that a file could keep: .*@layer\(\"org.acme.Unnamed\"\)"):
        net.save(tmp_path / "n.zip")
    assert (tmp_path / "n.zip").read_bytes() == b"old"
    assert issubclass(ConfigurationError, DL4PyError)
