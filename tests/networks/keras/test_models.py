"""Models of Keras 3 give the values of Keras, before and behind a step of training."""
from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import pytest

from dl4py import MultiDataSet
from dl4py.layers import InputType
from dl4py.networks import ComputationGraph, KerasModelImport, MultiLayerNetwork
from dl4py.networks.commands import inspect
from dl4py.samediff.errors import FileFormatError

pytest.importorskip("h5py")
FOLDER = Path(__file__).parent / "models"
NAMES = ("images", "words", "series", "graph", "translating")
GRAPHS = ("graph", "translating")
FILES = sorted(p.name for p in FOLDER.iterdir() if p.suffix in (".keras", ".h5"))


def stored(name, kind):
    with np.load(FOLDER / f"{name}.npz") as arrays:
        return [arrays[key] for key in sorted(k for k in arrays.files if k.startswith(kind) and k.removeprefix(kind).isdigit())]


def outputs(net, inputs):
    found = net.output(*inputs)
    return found if isinstance(found, (list, tuple)) else [found]


def assert_results(net, name):
    for found, expected in zip(outputs(net, stored(name, "x")), stored(name, "y"), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("file", FILES)
def test_results(file):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = KerasModelImport.importKerasModelAndWeights(str(FOLDER / file))
    name = file.split(".")[0]
    assert isinstance(net, ComputationGraph if name in GRAPHS else MultiLayerNetwork)
    assert_results(net, name)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
def test_a_step_of_training(name):
    net = KerasModelImport.import_keras_model_and_weights(FOLDER / f"{name}.keras")
    inputs, labels = stored(name, "x"), stored(name, "labels")
    net.fit(MultiDataSet(inputs, labels)) if name in GRAPHS else net.fit(inputs[0], labels[0])
    with np.load(FOLDER / f"{name}.npz") as arrays:
        after = io.BytesIO(arrays["after"].tobytes())
    text = io.BytesIO((FOLDER / f"{name}.json").read_bytes())
    expected = KerasModelImport.import_keras_model_and_weights(text, after).param_table()
    before = KerasModelImport.import_keras_model_and_weights(FOLDER / f"{name}.keras").param_table()
    found = net.param_table()
    assert sorted(found) == sorted(expected)
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, atol=1e-4, err_msg=key)
    assert any(abs(expected[key] - before[key]).max() > 1e-3 for key in expected)


@pytest.mark.parametrize("name", NAMES)
def test_saved_as_a_zip(name, tmp_path):
    net = KerasModelImport.import_keras_model_and_weights(FOLDER / f"{name}.keras")
    net.save(tmp_path / "net.zip")
    assert_results(type(net).load(tmp_path / "net.zip"), name)


def test_networks_load_files_of_keras():
    assert_results(MultiLayerNetwork.load(FOLDER / "words.h5"), "words")
    assert_results(ComputationGraph.load(FOLDER / "graph.keras"), "graph")
    assert_results(ComputationGraph.load(FOLDER / "series.keras"), "series")
    with pytest.raises(FileFormatError, match=r"becomes a ComputationGraph; load it with ComputationGraph\.load"):
        MultiLayerNetwork.load(FOLDER / "graph.keras")


def test_configurations():
    listed = KerasModelImport.importKerasSequentialConfiguration(FOLDER / "series.json")
    assert [type(c).__name__ for c in listed.layers][:2] == ["Convolution1DLayer", "PositionNormalization"]
    graph = KerasModelImport.import_keras_model_configuration(FOLDER / "graph.json")
    assert graph.network_inputs == ("a", "b")
    assert KerasModelImport.import_keras_model_configuration(FOLDER / "series.json").network_inputs
    with pytest.raises(FileFormatError, match="import_keras_model_configuration"):
        KerasModelImport.import_keras_sequential_configuration(FOLDER / "graph.json")


def test_configuration_and_weights_apart():
    net = KerasModelImport.import_keras_model_and_weights(FOLDER / "words.json", FOLDER / "words.h5", True)
    assert_results(net, "words")


def test_streams():
    with open(FOLDER / "series.keras", "rb") as stream:
        assert_results(KerasModelImport.import_keras_sequential_model_and_weights(stream), "series")


def test_summary_by_input_types():
    net = KerasModelImport.import_keras_model_and_weights(FOLDER / "images.keras")
    assert "ConvolutionLayer" in net.summary(InputType.convolutional(6, 5, 2, "NHWC"))


def test_inspect():
    assert "Convolution1DLayer" in str(inspect(str(FOLDER / "series.keras")))
