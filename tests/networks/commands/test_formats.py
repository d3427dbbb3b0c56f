"""Files of other libraries on the command line: looked into, converted, and what gets lost said before."""
from __future__ import annotations

import json

import numpy as np
import pytest
from onnx import helper

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.commands import main
from dl4py.networks.commands.conversion import SUFFIXES, convert
from dl4py.networks.commands.formats import FORMATS, format_of
from dl4py.networks.commands.inspection import inspect
from dl4py.samediff import SameDiff, TrainingConfig
from dl4py.samediff.errors import FileFormatError
from dl4py.samediff.training import Adam
from tests.samediff.onnx.models import model, value
from tests.samediff.tensorflow.graphs import const, function, graph, library, node, placeholder, runs

X = np.random.default_rng(2).standard_normal((2, 3)).astype(np.float32)
W = np.random.default_rng(3).standard_normal((3, 2)).astype(np.float32)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A file of each kind."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"]),
             helper.make_node("Unheard", ["h"], ["z"], domain="org.acme")]
    made = model(nodes[:2], [value("x", shape=["batch", 3])], [value("y", shape=["batch", 2])], {"w": W})
    (tmp_path / "a.onnx").write_bytes(made.SerializeToString())
    made.graph.node.append(nodes[2])
    (tmp_path / "unknown.onnx").write_bytes(made.SerializeToString())
    (tmp_path / "a.pb").write_bytes(graph(const("w", W), placeholder("x"), node("h", "MatMul", "x", "w", transpose_a=False,
                                                                               transpose_b=False), node("y", "Relu", "h")))
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater("adam").list(
        DenseLayer(n_in=3, n_out=4, dropout=0.5, layer_name="first"), OutputLayer(n_in=4, n_out=2)).build()).init()
    net.save(tmp_path / "a.zip")
    return tmp_path


WANTED = np.maximum(X @ W, 0)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("source", ["a.onnx", "a.pb"])
@pytest.mark.parametrize("target", ["b.onnx", "b.fb", "b.sdz"])
def test_graphs_of_others_are_converted(folder, source, target, capsys):
    assert main(["convert", str(folder / source), str(folder / target)]) == 0
    assert f"lost: {FORMATS['ONNX model' if source == 'a.onnx' else 'TensorFlow graph'].name} does not bring" in capsys.readouterr().err
    sd = SameDiff.load(folder / target)
    np.testing.assert_allclose(sd.output_single({"x": X}, sd.outputs()[0]), WANTED, 1e-5, 1e-6)


def test_arrays_of_a_model(folder):
    convert(str(folder / "a.onnx"), str(folder / "a.npz"))
    assert (np.load(folder / "a.npz")["w"] == W).all()


def test_nothing_is_written_where_nobody_wants_it(folder, capsys):
    assert main(["convert", "--dry-run", str(folder / "a.zip"), str(folder / "b.onnx")]) == 0
    said = capsys.readouterr()
    assert "the layers, the loss and the updater (Adam) with its state: the forward pass alone" in said.err and "dropout: first" in said.err
    assert "can be written" in said.out and not (folder / "b.onnx").exists()
    assert "nothing is lost" in convert(str(folder / "a.zip"), str(folder / "b.zip"), dry_run=True)


def test_what_training_needs_is_said_to_be_lost(folder, capsys):
    sd = SameDiff.import_onnx(folder / "a.onnx")
    sd.get_variable("y").sum().rename("loss").mark_as_loss()
    sd.set_training_config(TrainingConfig(updater=Adam(), data_set_feature_mapping=["x"], data_set_label_mapping=[]))
    sd.save(folder / "g.fb")
    assert main(["convert", str(folder / "g.fb"), str(folder / "g.onnx")]) == 0
    assert "lost: the training configuration, the updater's state" in capsys.readouterr().err


def test_looking_into_them(folder, capsys):
    report = inspect(folder / "unknown.onnx")
    assert (report.kind, report.parameters, report.missing) == ("ONNX model", 6, ["org.acme.Unheard"])
    assert report.ops == {"MatMul": 1, "Relu": 1, "org.acme.Unheard": 1} and "input: x ['batch', 3]" in report.notes
    report = inspect(folder / "a.pb")
    assert (report.kind, report.parameters, report.missing) == ("TensorFlow graph", 6, []) and report.ops["MatMul"] == 1
    inner = library(function("f", ["v"], ["w"], [node("w", "Unheard", "v")], {"w": "w:y:0"}))
    (folder / "b.pb").write_bytes(graph(placeholder("x"), runs("y", "If", "x", "x", then_branch="f", else_branch="f")) + inner)
    report = inspect(folder / "b.pb")
    assert (report.ops, report.missing) == ({"Placeholder": 1, "If": 1, "Unheard": 1}, ["Unheard"])     # the function once
    (folder / "b.pb").unlink()
    assert main(["inspect", "--json", str(folder / "a.onnx")]) == 0
    assert json.loads(capsys.readouterr().out)["parts"][0] == {"name": "w", "kind": "FLOAT", "parameters": {"array": [3, 2]}}


def test_every_kind_is_recognised(folder):
    ComputationGraph(NeuralNetConfiguration.Builder().graph_builder().add_inputs("in").add_layer(
        "out", OutputLayer(n_in=2, n_out=2), "in").set_outputs("out").build()).init().save(folder / "graph.bin")
    SameDiff.create().save(folder / "plain.pb")
    found = {p.name: format_of(str(p)).name for p in folder.iterdir()}
    assert found == {"a.onnx": "ONNX model", "unknown.onnx": "ONNX model", "a.pb": "TensorFlow graph", "a.zip": "model zip",
                     "graph.bin": "model zip", "plain.pb": "SameDiff graph"}
    assert {s for f in FORMATS.values() if f.writes for s in f.suffixes} - {".bin", ".pt", ".pth"} == set(SUFFIXES)


def test_weights_of_pytorch_are_no_model(folder):
    (folder / "state.pt").write_bytes(b"anything")
    with pytest.raises(FileFormatError, match="set_state_dict"):
        convert(str(folder / "state.pt"), str(folder / "b.zip"))
