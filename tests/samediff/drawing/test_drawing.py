"""Pictures of arrays, graphs as DOT and as pages."""
from __future__ import annotations

import json
import re
import struct
import zlib

import numpy as np
import pytest

from dl4py.layers import ConvolutionLayer, DenseLayer, InputType, OutputLayer
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import SameDiff
from dl4py.samediff.drawing.graphs import DrawnNode, GraphDrawing
from dl4py.samediff.drawing.images import as_pictures, data_uri, png, tiles
from dl4py.samediff.errors import ConfigurationError, ShapeError


def test_tiles_stand_beside_each_other_and_use_their_own_range():
    a = np.zeros((3, 24, 24))
    a[1, 0, 0], a[2, :, :12] = 5.0, np.nan
    found = tiles(a)
    assert found.shape == (51, 51, 3) and found[0, 0, 0] == 128
    assert found[1, 26].tolist() == [255] * 3 and found[1, 1].tolist() == [0] * 3 and found[40, 40].tolist() == [128] * 3
    colours = np.zeros((1, 3, 30, 30))
    colours[0, 0] = 1
    for found in (tiles(colours), tiles(colours.transpose(0, 2, 3, 1), channels_last=True)):
        assert found[5, 5].tolist() == [255, 0, 0]
    assert tiles(np.zeros((100, 2, 24, 24)), most=4).shape == (51, 51, 3)


@pytest.mark.parametrize("shape", [(3,), (0, 2, 2), (1, 1, 1, 1, 1)])
def test_what_is_no_picture(shape):
    with pytest.raises(ShapeError, match="height, width"):
        tiles(np.zeros(shape))
    assert as_pictures(np.zeros(shape)) is None


def test_pictures_of_weights_and_activations():
    assert as_pictures(np.zeros((2, 1, 24, 24))).shape == (26, 51, 3)
    assert as_pictures(np.zeros((5, 3, 24))).shape[2] == 3 and as_pictures(np.zeros((5, 30))).shape == (7, 32, 3)


def test_a_png_holds_the_pixels():
    pixels = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    data = png(pixels)
    assert struct.unpack(">II", data[16:24]) == (3, 2)
    start = data.index(b"IDAT")
    (length,) = struct.unpack(">I", data[start - 4:start])
    rows = np.frombuffer(zlib.decompress(data[start + 4:start + 4 + length]), np.uint8).reshape(2, 10)
    assert (rows[:, 1:].reshape(pixels.shape) == pixels).all() and not rows[:, 0].any()
    assert data_uri(b"ab") == "data:image/png;base64,YWI="


def scoped():
    sd = SameDiff.create()
    x = sd.placeholder("x", "FLOAT", -1, 3)
    with sd.with_name_scope("a"):
        y = x.mmul(sd.var("w", np.zeros((3, 2), np.float32)))
        with sd.with_name_scope("</script>"):
            sd.nn.relu("z", y, 0.0)
    return sd


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="drawing">(.*?)</script>', page, re.DOTALL).group(1))


def test_a_graph_has_its_nodes_shapes_and_scopes(tmp_path):
    sd = scoped()
    nodes = {n.kind: n for n in sd.drawing().nodes}
    assert nodes["placeholder"].shape == "FLOAT(-1, 3)" and nodes["matmul"].inputs == ("x", nodes["variable"].name)
    assert nodes["relu"].inputs == (nodes["matmul"].name,) and nodes["relu"].name.startswith("a/</script>/")
    page = sd.to_html(tmp_path / "graph.html")
    assert (tmp_path / "graph.html").read_text(encoding="utf-8") == page
    assert data_of(page) == sd.drawing().to_document()
    assert not re.search(r"(src|href)=|https?://(?!www\.w3\.org/2000/svg)", page)         # nothing comes from the network
    assert "cluster_a" in sd.drawing().to_dot() and sd.to_dot().startswith("digraph")


def test_an_op_that_is_called_like_a_variable():
    sd = SameDiff.create()
    x = sd.placeholder("relu", "FLOAT", 2)
    sd.nn.relu("y", x, 0.0)
    drawn = {n.name: n for n in sd.drawing().nodes}
    assert len(drawn) == 2 and all(i in drawn for n in drawn.values() for i in n.inputs)


def test_networks_have_layers_vertices_and_shapes():
    builder = NeuralNetConfiguration.Builder()
    conf = builder.list(ConvolutionLayer(kernel_size=(3, 3), n_in=1, n_out=2), OutputLayer(n_in=32, n_out=2)).build()
    conf = conf.replace(input_pre_processors=NeuralNetConfiguration.Builder().list().layer(ConvolutionLayer(kernel_size=(3, 3), n_out=2))
                        .layer(OutputLayer(n_out=2)).set_input_type(InputType.convolutional(6, 6, 1)).build().input_pre_processors)
    net = MultiLayerNetwork(conf).init()
    assert [n.shape for n in net.drawing(InputType.convolutional(6, 6, 1)).nodes] == ["(?, 1, 6, 6)", "(?, 2, 4, 4)", "(?, 2)"]
    assert net.drawing() == net.drawing(InputType.convolutional(6, 6, 1))
    assert "parameters" in net.drawing().nodes[1].details and "preprocessor" in net.drawing().nodes[2].details
    with pytest.raises(ConfigurationError, match="for each input"):
        net.drawing(InputType.convolutional(6, 6, 1), InputType.feed_forward(3))
    builder = NeuralNetConfiguration.Builder().graph_builder().add_inputs("in").add_layer("h", DenseLayer(n_in=4, n_out=3), "in")
    graph = ComputationGraph(builder.add_layer("out", OutputLayer(n_in=3, n_out=2), "h").set_outputs("out").build()).init()
    assert [(n.name, n.inputs, n.shape) for n in graph.drawing().nodes] == [
        ("in", (), "(?, 4)"), ("h", ("in",), "(?, 3)"), ("out", ("h",), "(?, 2)")]
    assert '"h" -> "out";' in graph.to_dot() and data_of(graph.to_html())["nodes"][2]["name"] == "out"


def test_dot_quotes_names():
    assert '"a\\"b\\\\" [label="a\\"b\\\\\\nk"];' in GraphDrawing("t", (DrawnNode('a"b\\', "k"),)).to_dot()
