"""Reports of trained networks in one file, filters and activations as pictures."""
from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

from dl4py.layers import ConvolutionLayer, DenseLayer, InputType, MergeVertex, OutputLayer
from dl4py.networks import ComputationGraph, MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.models.epochs import EpochRecord, EpochRecords
from dl4py.samediff.data import DataSet
from dl4py.samediff.errors import ConfigurationError, GraphError, ShapeError
from dl4py.samediff.training import Adam, InMemoryStatsStorage, StatsListener

pytest.importorskip("matplotlib")

Y = np.eye(2, dtype=np.float32)[np.arange(10) % 2]
X = np.random.default_rng(0).random((10, 1, 6, 6), np.float32) + Y[:, 1].reshape(-1, 1, 1, 1)


@pytest.fixture(scope="module")
def trained():
    conf = (NeuralNetConfiguration.Builder().seed(1).updater(Adam(0.05)).list()
            .layer(ConvolutionLayer(kernel_size=(3, 3), n_out=2)).layer(OutputLayer(n_out=2))
            .set_input_type(InputType.convolutional(6, 6, 1)).build())
    storage = InMemoryStatsStorage()
    return MultiLayerNetwork(conf).init().fit(X, Y, batch_size=5, epochs=2, listeners=StatsListener(storage, bins=0)), storage


def headings(page):
    return re.findall("<h2>(.*?)</h2>", page)


def test_a_report_of_images(trained, tmp_path):
    net, storage = trained
    wrong = Y.copy()
    wrong[3] = wrong[3][::-1]
    page = net.report(tmp_path / "run.html", (X, wrong), stats=storage, names=["low", "<high>"], worst=4)
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == page
    assert headings(page) == [
        "Overview", "Model", "Curves", "Evaluation of 10 examples", "Worst examples", "Environment", "How to repeat it"]
    losses = net.score_examples(DataSet(X, wrong))
    assert re.findall(r'alt="example (\d+)"', page) == [str(i) for i in np.argsort(-losses)[:4]]
    assert "<high>" not in re.sub("<svg.*?</svg>", "", page, flags=re.DOTALL) and "&lt;high&gt;" in page
    assert page.count("<svg") == 5 and not re.search(r'(src|href)="(?!data:|#)', page)           # nothing comes from the network
    configuration = base64.b64decode(re.search(r'href="data:application/json;base64,([^"]*)"', page).group(1)).decode()
    assert MultiLayerConfiguration.from_json(configuration).layers == net.get_configuration().layers
    assert json.loads(re.search(r'id="drawing">(.*?)</script>', page, re.DOTALL).group(1))["nodes"][0]["shape"] == "(?, 1, 6, 6)"


def test_a_report_of_numbers_and_of_nothing():
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(
        DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=1, loss="mse", activation="identity")).build()).init()
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    page = net.report(None, DataSet(x, x.sum(1, keepdims=True) + 0.5))
    assert "Worst examples" in page and "Nothing was recorded" in page and page.count("<svg") == 2
    assert "Worst examples" not in net.report()
    with pytest.raises(GraphError, match="evaluates a DataSet"):
        net.report(None, "data.csv")


def test_a_report_of_a_graph():
    builder = NeuralNetConfiguration.Builder().seed(1).graph_builder().add_inputs("a", "b").add_vertex("sum", MergeVertex(), "a", "b")
    two = ComputationGraph(builder.add_layer("out", OutputLayer(n_in=4, n_out=2), "sum").set_outputs("out").build()).init()
    with pytest.raises(GraphError, match="one input and one output; this one has 2 and 1"):
        two.report(None, (np.zeros((4, 2), "f4"), Y[:4]))
    one = MultiLayerNetwork(NeuralNetConfiguration.Builder().list(OutputLayer(n_in=36, n_out=2)).build()).init().to_computation_graph()
    assert headings(one.report(None, (X.reshape(10, 36), Y)))[3] == "Evaluation of 10 examples"


def test_filters_and_activations(trained, tmp_path):
    net, _ = trained
    pixels = net.draw_filters(0, tmp_path / "f.png")
    assert pixels.shape == (26, 51, 3) and (tmp_path / "f.png").read_bytes()[:4] == b"\x89PNG"
    assert net.draw_activations(0, X).shape == (26, 51, 3) and net.draw_activations(1, X).shape[2] == 3
    with pytest.raises(ShapeError, match=r"no filters: its parameters are W \(32, 2\), b"):
        net.draw_filters(1)


def test_epochs_are_drawn(trained):
    figure = EpochRecords([EpochRecord(0, 2.0, None, 1.0), EpochRecord(1, 1.0, 1.5, 1.0)]).plot()
    assert [line.get_xydata().tolist() for line in figure.axes[0].lines] == [[[0, 2], [1, 1]], [[1, 1.5]]]
    assert len(trained[0].history.plot().axes) == 1
    with pytest.raises(ConfigurationError, match="no epochs"):
        EpochRecords().plot()
