"""A model file that is loaded and saved again: the same entries, byte by byte, and nothing unknown is lost."""
from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import ModelSerializer, MultiLayerNetwork, NeuralNetConfiguration

FILES = sorted((Path(__file__).parents[2] / "golden" / "files").glob("*/model.zip"))


def entries(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path, target, **changed):
    content = entries(path) | changed
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return target


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.parent.name)
def test_every_entry_of_dl4js_files_is_the_same(path, tmp_path):
    net = MultiLayerNetwork.load(path)
    net.save(tmp_path / "again.zip")
    assert entries(tmp_path / "again.zip") == entries(path)
    again = MultiLayerNetwork.load(tmp_path / "again.zip")
    assert again == net and np.array_equal(again.engine.flat.state, net.engine.flat.state)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_unknown_fields_survive_changes(newline, tmp_path):
    path = FILES[0]
    document = json.loads(entries(path)["configuration.json"])
    document["added by a plug-in"] = {"x": [1, 2]}
    document["confs"][0]["layer"]["unheardOf"] = 7
    text = json.dumps(document, indent=2).replace("\n", newline).encode()
    source = rewritten(path, tmp_path / "in.zip", **{"configuration.json": text, "notes/mine": b"kept"})
    net = MultiLayerNetwork.load(source)
    net.save(tmp_path / "same.zip")
    assert entries(tmp_path / "same.zip") == entries(source)
    net.set_iteration_count(net.get_iteration_count() + 5)
    net.set_learning_rate(0.125)
    net.save(tmp_path / "changed.zip")
    saved = entries(tmp_path / "changed.zip")
    found = json.loads(saved["configuration.json"])
    assert saved["notes/mine"] == b"kept" and (b"\r\n" in saved["configuration.json"]) == (newline == "\r\n")
    assert list(found) == list(document) and found["added by a plug-in"] == {"x": [1, 2]}
    assert found["iterationCount"] == document["iterationCount"] + 5
    assert found["confs"][0]["layer"]["unheardOf"] == 7
    assert found["confs"][0]["layer"]["iupdater"]["learningRate"] == 0.125
    assert MultiLayerNetwork.load(tmp_path / "changed.zip") == net


def test_new_files_hold_rows(tmp_path):
    builder = NeuralNetConfiguration.Builder().list().layer(DenseLayer(n_in=2, n_out=2)).layer(OutputLayer(n_out=2))
    net = MultiLayerNetwork(builder.build()).init()
    ModelSerializer.write_model(net, tmp_path / "m.zip")
    assert entries(tmp_path / "m.zip")["coefficients.bin"][32:40] == (2).to_bytes(8, "big")
