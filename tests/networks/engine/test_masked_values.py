"""What stands at masked places of features and labels reaches no score, parameter or result, whatever layer or vertex sees it."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import layers as L
from dl4py.layers import InputType
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.engine.build import NetworkGraphBuilder, Variant
from dl4py.samediff.data import DataSet, MultiDataSet
from dl4py.samediff.ops.elementwise.masking import DropMarks, KeepUnmasked, MaskGradient, MaskLike, TimesMask
from dl4py.samediff.training import Sgd
from tests.layers.layer_table import LAYERS

GARBAGE = (np.nan, -1e20)
MASK = np.array([[1, 1, 1, 0, 0], [0, 1, 1, 1, 0], [1, 0, 1, 0, 1], [0, 0, 0, 0, 0.0]])
CHOOSING = (DropMarks, KeepUnmasked, MaskGradient, MaskLike, TimesMask)
SERIES = [row.made for row in LAYERS if row.inputs and isinstance(row.inputs[0], InputType) and row.inputs[0].kind == "RNN"
          and row.inputs[0] != InputType.recurrent(4, 3) and getattr(row.inputs[0], "format", None).name == "NCW"]
VERTICES = [
    (L.MergeVertex(), 2), (L.ElementWiseVertex("Add"), 2), (L.ElementWiseVertex("Max"), 2), (L.ElementWiseVertex("Product"), 2),
    (L.L2NormalizeVertex(), 1), (L.L2Vertex(), 2), (L.ScaleVertex(2.0), 1), (L.StackVertex(), 2), (L.SubsetVertex(0, 1), 1),
    (L.LastTimeStepVertex("in0"), 1), (L.ReverseTimeSeriesVertex("in0"), 1), (L.ReshapeVertex(-1, 15), 1),
    (L.AttentionVertex(n_out=4, n_heads=2, head_size=2, project_input=True), 3),
    (L.PreprocessorVertex(L.RnnToFeedForwardPreProcessor()), 1),
    (L.PreprocessorVertex(L.KerasFlattenRnnPreprocessor(3, 5)), 1)]


def builder():
    return NeuralNetConfiguration.Builder().seed(1).updater(Sgd(0.3)).data_type("DOUBLE")


def filled(array, mask, value):
    """An array with a value where its mask (batch, time) or (batch, 1) is 0."""
    hidden = np.broadcast_to((mask[:, None] if array.ndim == 3 else mask) == 0, array.shape)
    return np.where(hidden, value, array)


def same(run):
    """The same finite results, whatever is masked."""
    wanted = run(0.0)
    for value in GARBAGE:
        for a, b in zip(wanted, run(value)):
            assert np.isfinite(b).all()
            np.testing.assert_array_equal(b, a)


@pytest.fixture(autouse=True)
def reference(monkeypatch):
    """Without kernels to compile; tests of ops compare the executors."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("layer", SERIES, ids=lambda made: type(made).__name__)
def test_layers(layer, rng):
    kind = InputType.recurrent(3, 5)
    x = rng.normal(size=(4, 3, 5))
    rows = isinstance(layer, L.GlobalPoolingLayer) or layer.set_n_in(kind).get_output_type(0, kind).kind == "FF"
    head = [] if layer.has_loss else [L.OutputLayer(n_out=2) if rows else L.RnnOutputLayer(n_out=2)]

    def run(value):
        net = MultiLayerNetwork(builder().list(layer, *head).set_input_type(kind).build()).init()
        given = filled(x, MASK, value)
        out = net.output(given, False, MASK, None)
        shown = np.array([[1.0], [1], [0], [1]]) if out.ndim == 2 else MASK if out.shape[2] == 5 else np.ones((4, out.shape[2]))
        labels = np.zeros(out.shape)
        labels[:, 0] = 1
        data = DataSet(given, filled(labels, shown, value), MASK, shown)
        scores = net.score_examples(data, False)
        net.fit(data)
        net.fit(data)
        return out, scores, net.params()
    same(run)


@pytest.mark.parametrize("vertex, count", VERTICES, ids=lambda v: type(v).__name__ if hasattr(v, "define_vertex") else "")
def test_vertices(vertex, count, rng):
    types, xs = [InputType.recurrent(3, 5)] * count, rng.normal(size=(count, 4, 3, 5))
    masks = [MASK, MASK[[1, 0, 2, 3]], MASK[[2, 1, 0, 3]]][:count]
    rows = vertex.with_input_types(*types).get_output_type(0, *types).kind == "FF"
    names = [f"in{i}" for i in range(count)]

    def run(value):
        net = ComputationGraph(builder().graph_builder().add_inputs(*names).add_vertex("v", vertex, *names)
                               .add_layer("out", L.OutputLayer(n_out=2) if rows else L.RnnOutputLayer(n_out=2), "v")
                               .set_outputs("out").set_input_types(*types).build()).init()
        given = [filled(x, mask, value) for x, mask in zip(xs, masks)]
        net.set_layer_mask_arrays(masks, None)
        shape = np.shape(net.output(*given)[0])
        shown = np.ones((shape[0], 1) if len(shape) == 2 else (shape[0], shape[2]))
        shown[0] = 0
        labels = np.zeros(shape)
        labels[:, 0] = 1
        data = MultiDataSet(given, [filled(labels, shown, value)], masks, [shown])
        score = net.score(data)
        net.fit(data)
        net.fit(data)
        return score, net.params()
    same(run)


def test_text_holds_any_index_at_masked_steps(rng):
    index, labels = rng.integers(0, 6, (4, 5)).astype(float), np.eye(2)[[0, 1, 1, 0]]

    def run(value):
        net = MultiLayerNetwork(builder().list(L.EmbeddingSequenceLayer(n_in=6, n_out=3), L.LSTM(n_in=3, n_out=3),
                                               L.GlobalPoolingLayer("AVG"), L.OutputLayer(n_in=3, n_out=2)).build()).init()
        data = DataSet(filled(index, MASK, value), labels, MASK, None)
        net.fit(data)
        return net.score(data), net.params()
    wanted = run(0.0)
    for value in (-1.0, 99.0, 2.5, *GARBAGE):
        for a, b in zip(wanted, run(value)):
            np.testing.assert_array_equal(a, b)


def test_classes_hold_any_number_at_masked_places(rng):
    x, mask = rng.normal(size=(4, 3, 5)), MASK[:, ::-1]
    net = MultiLayerNetwork(builder().list(L.SimpleRnn(n_in=3, n_out=3), L.RnnOutputLayer(n_in=3, n_out=4)).build()).init()
    numbers = rng.integers(0, 4, (4, 5))
    assert net.score(DataSet(x, np.where(mask == 0, -1, numbers), None, mask)) == net.score(DataSet(x, numbers, None, mask))


IMAGES = {
    "rows": [L.SubsamplingLayer(kernel_size=2, stride=1, convolution_mode="Same"), L.DenseLayer(n_out=3), L.OutputLayer(n_out=2)],
    "pooled": [L.ConvolutionLayer(kernel_size=1, n_out=2), L.GlobalPoolingLayer("MAX"), L.OutputLayer(n_out=2)],
}
VOLUMES = {
    "a loss on positions of volumes": [L.Cnn3DLossLayer(data_format="NCDHW", loss_function="mse", activation="identity")],
    "rows of volumes": [L.Convolution3D(kernel_size=1, n_out=1), L.DenseLayer(n_out=3), L.OutputLayer(n_out=2)],
}


@pytest.mark.parametrize("name", [*IMAGES, *VOLUMES])
def test_a_masked_step_of_a_series_is_a_masked_image(name, rng):
    """A mask of rows counts for the image or volume that a row becomes."""
    unflatten = L.FeedForwardToCnnPreProcessor(2, 2, 1) if name in IMAGES else L.FeedForwardToCnn3DPreProcessor(1, 2, 2, 1)
    x, mask, made = rng.normal(size=(4, 4, 5)), np.where(np.arange(4)[:, None] == 3, np.eye(5)[0], MASK), (IMAGES | VOLUMES)[name]

    def run(value):
        net = MultiLayerNetwork(builder().list(L.DenseLayer(n_out=4), *made).input_pre_processor(0, L.RnnToFeedForwardPreProcessor())
                                .input_pre_processor(1, unflatten).set_input_type(InputType.recurrent(4, 5)).build()).init()
        labels = np.zeros(net.output(x).shape)
        labels[:, 0] = 1
        data = DataSet(filled(x, mask, value), labels, mask, None)
        score = net.score(data)
        net.fit(data)
        return score, net.params()
    same(run)


@pytest.mark.parametrize("pooling", ["MAX", "AVG", "SUM", "PNORM", "last", "vertex"])
def test_a_series_without_steps_is_a_row_of_zeros(pooling, rng):
    x = rng.normal(size=(4, 3, 5))
    graph = builder().graph_builder().add_inputs("in")
    if pooling == "vertex":
        graph = graph.add_vertex("row", L.LastTimeStepVertex("in"), "in")
    else:
        layer = L.LastTimeStep(L.SimpleRnn(n_out=3)) if pooling == "last" else L.GlobalPoolingLayer(pooling)
        graph = graph.add_layer("row", layer, "in")
    net = ComputationGraph(graph.add_layer("out", L.OutputLayer(n_out=2), "row").set_outputs("out")
                           .set_input_types(InputType.recurrent(3, 5)).build()).init()
    net.set_layer_mask_arrays([MASK], None)
    found = net.feed_forward(x, False)["row"]
    assert not found[3].any() and found[:3].any(1).all()
    net.fit(MultiDataSet([x], [np.eye(2)[[0, 1, 1, 0]]], [MASK], None))
    assert np.isfinite(net.params()).all()


def test_without_masks_nothing_is_chosen(rng):
    """The graphs of networks that are given no mask have no node for one, but for a layer that makes one."""
    for row in LAYERS:
        if not (row.inputs and isinstance(row.inputs[0], InputType)) or isinstance(row.made, L.MaskZeroLayer):
            continue
        conf = builder().list(row.made).set_input_type(row.inputs[0])
        conf = conf.validate_output_layer_config(False) if hasattr(conf, "validate_output_layer_config") else conf
        net = MultiLayerNetwork(conf.build()).init()
        rank = len(row.inputs[0].array_shape())
        made = NetworkGraphBuilder(net.engine.structure, Variant((rank,), (rank,)), net.engine.parameters.flat.arrays).build()
        assert not [n for n in made.sd.nodes() if isinstance(n.op, CHOOSING)], row.made


@pytest.mark.parametrize("mask, wanted", [([0, 1, 1], [0, 3, 2]), ([1, 0, 1], [3, 0, 1]), ([1, 1, 1], [3, 2, 1]), ([0, 0, 0], [0, 0, 0])])
def test_reversed_steps_are_those_that_count(mask, wanted):
    net = ComputationGraph(builder().graph_builder().add_inputs("in").add_vertex("back", L.ReverseTimeSeriesVertex("in"), "in")
                           .add_layer("out", L.RnnLossLayer(loss_function="mse", activation="identity"), "back").set_outputs("out")
                           .set_input_types(InputType.recurrent(1, 3)).build()).init()
    net.set_layer_mask_arrays([np.array([mask], float)], None)
    np.testing.assert_array_equal(net.feed_forward(np.array([[[1.0, 2, 3]]]), False)["back"][0, 0], wanted)
