"""Model files of 0.5.0 ... 0.8.0."""
from __future__ import annotations

import json

import numpy as np
import pytest

from dl4py.networks import ComputationGraph, MultiLayerNetwork
from dl4py.networks.files.model_zip import ModelZip, read_model_zip, write_model_zip
from dl4py.samediff import DataSet
from dl4py.samediff.errors import FileFormatError, LimitError

DENSE = {"activationFunction": "tanh", "weightInit": "XAVIER", "learningRate": 0.1, "updater": "ADAM", "adamMeanDecay": 0.9,
         "adamVarDecay": 0.999, "epsilon": 1e-8}


def conf(kind, name, n_in, n_out, **more):
    return {"layer": {kind: DENSE | {"layerName": name, "nin": n_in, "nout": n_out} | more}, "seed": 1, "variables": ["W", "b"],
            "optimizationAlgo": "STOCHASTIC_GRADIENT_DESCENT"}


OUTPUT = {"activationFunction": "softmax", "lossFunction": "MCXENT"}
LIST = {"backprop": True, "confs": [conf("dense", "a", 2, 3), conf("output", "b", 3, 2, **OUTPUT)]}
GRAPH = {"networkInputs": ["in"], "networkOutputs": ["out"], "vertexInputs": {"out": ["hidden"], "hidden": ["in"]},
         # declared against the order of running
         "vertices": {"out": {"LayerVertex": {"layerConf": conf("output", "out", 3, 2, **OUTPUT)}},
                      "hidden": {"LayerVertex": {"layerConf": conf("dense", "hidden", 2, 3)}}},
         "defaultConfiguration": {"layer": None, "seed": 1}}
SIZE = 2 * 3 + 3 + 3 * 2 + 2


def saved(path, document, state=None):
    write_model_zip(path, ModelZip(json.dumps(document), np.arange(1, SIZE + 1, dtype="f4") / 10, state))
    return path


def test_state_of_a_list_lay_parameter_by_parameter(tmp_path):
    net = MultiLayerNetwork.load(saved(tmp_path / "m.zip", LIST, np.arange(2.0 * SIZE).astype("f4")))
    parts, at = net.engine.flat.state_by_parameter(), 0
    for name, size in (("0_W", 6), ("0_b", 3), ("1_W", 6), ("1_b", 2)):
        for array in parts[name].values():
            np.testing.assert_array_equal(array, np.arange(at, at + size))
            at += size
    net.fit(DataSet(np.ones((2, 2), "f4"), np.eye(2, dtype="f4")))


def test_state_of_a_graph_lay_in_the_order_of_declaration(tmp_path):
    net = ComputationGraph.load(saved(tmp_path / "m.zip", GRAPH, np.arange(2.0 * SIZE).astype("f4")))
    parts = net.engine.flat.state_by_parameter()
    first, second = parts["out_W"].values()
    np.testing.assert_array_equal(first, np.arange(6))
    np.testing.assert_array_equal(second, np.arange(6, 12))
    np.testing.assert_array_equal(next(iter(parts["hidden_W"].values())), np.arange(16, 22))


def test_state_of_another_length_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match=f"updaterState.bin: expected {2 * SIZE} values"):
        MultiLayerNetwork.load(saved(tmp_path / "m.zip", LIST, np.zeros(2 * SIZE + 1, "f4")))


def test_the_type_of_the_parameters_counts(tmp_path):
    numbers = np.arange(1.0, SIZE + 1) / 7
    write_model_zip(tmp_path / "m.zip", ModelZip(json.dumps(LIST), numbers))
    net = MultiLayerNetwork.load(tmp_path / "m.zip")
    np.testing.assert_array_equal(net.params(), numbers)
    assert net.get_configuration().data_type.name == "DOUBLE"


def test_sizes_are_compared_before_memory_is_taken(tmp_path):
    huge = {"backprop": True, "confs": [conf("dense", "a", 2, 3), conf("output", "b", 3, 2**40, **OUTPUT)]}
    with pytest.raises(LimitError, match="at most"):
        MultiLayerNetwork.load(saved(tmp_path / "m.zip", huge))


def test_what_is_saved_again_is_a_file_of_today(tmp_path):
    old = MultiLayerNetwork.load(saved(tmp_path / "m.zip", LIST, np.arange(2.0 * SIZE).astype("f4")))
    old.save(tmp_path / "again.zip")
    new = MultiLayerNetwork.load(tmp_path / "again.zip")
    np.testing.assert_array_equal(new.params(), old.params())
    np.testing.assert_array_equal(new.updater_state(), old.updater_state())
    assert "@class" in read_model_zip(tmp_path / "again.zip").configuration
