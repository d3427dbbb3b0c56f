"""Another number of outputs in front of every layer, vertex and preprocessor: the new network runs, or ``build`` says what to replace."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl4py import layers as L
from dl4py.layers import InputType
from dl4py.layers.types.input_type import (
    InputTypeConvolutional,
    InputTypeConvolutional3D,
    InputTypeFeedForward,
    InputTypeRecurrent,
)
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration, TransferLearning
from dl4py.samediff.errors import ConfigurationError, DL4PyError
from tests.layers.layer_table import LAYERS

#: For each kind of activation: what the first layer is fed, that layer, and what ends a network behind such activations.
KINDS: dict[Any, tuple[Any, Any, list[Any]]] = {
    InputTypeFeedForward: (lambda t: InputType.feed_forward(3), lambda t: L.DenseLayer(n_out=t.size), [L.OutputLayer(n_out=2)]),
    InputTypeRecurrent: (lambda t: InputType.recurrent(3, t.time_series_length or 4, format=t.format), lambda t: L.SimpleRnn(
        n_out=t.size, rnn_data_format=t.format), [L.RnnOutputLayer(n_out=2)]),
    InputTypeConvolutional: (lambda t: InputType.convolutional(t.height, t.width, 3, t.format), lambda t: L.ConvolutionLayer(
        n_out=t.channels, kernel_size=(1, 1), data_format=t.format), [L.GlobalPoolingLayer("avg"), L.OutputLayer(n_out=2)]),
    InputTypeConvolutional3D: (lambda t: InputType.convolutional3d(t.data_format, t.depth, t.height, t.width, 3), lambda t: L.Convolution3D(
        n_out=t.channels, kernel_size=(1, 1, 1), data_format=t.data_format), [L.GlobalPoolingLayer("avg"), L.OutputLayer(n_out=2)])}


def plan(row: Any) -> Any:
    """The layers of a network around the one in a row, and what it is fed; None where nothing with outputs can stand before it."""
    kind = row.inputs[0] if row.inputs else None
    if getattr(row.made, "data_format", None) == "NDHWC":       # DL4J's pooling behind it takes axes 2 to 4 all the same
        return None
    if type(kind) not in KINDS or "input_type" in row.options or any(n < 0 for n in kind.array_shape()[1:] if n != -1):
        return None
    feed, first, _ = KINDS[type(kind)]
    layers = [first(kind), row.made]
    if not getattr(row.made, "has_loss", False):
        try:
            before = row.made.get_pre_processor_for_input_type(kind)
            fed = kind if before is None else before.output_type(kind)
            layers += KINDS[type(row.made.set_n_in(fed).get_output_type(0, fed))][2]
        except DL4PyError:
            return None
    return layers, feed(kind)


ROWS = [(f"{type(r.made).__name__} {k}", *p) for k, r in enumerate(LAYERS) if (p := plan(r)) is not None]


def sample(kind: Any) -> Any:
    return np.random.default_rng(0).random([2] + [n if n > 0 else 4 for n in kind.array_shape()[1:]])


def network(layers: list[Any], kind: Any) -> MultiLayerNetwork:
    builder = NeuralNetConfiguration.Builder().seed(1).list()
    for layer in layers:
        builder.layer(layer)
    return MultiLayerNetwork(builder.set_input_type(kind).validate_output_layer_config(False).build()).init()


def replaced(net: Any, factor: int) -> Any:
    """With other outputs of the first layer; None where the builder refuses, and says why."""
    graph = isinstance(net, ComputationGraph)
    builder: Any = (TransferLearning.GraphBuilder if graph else TransferLearning.Builder)(net)
    key: Any = "0" if graph else 0
    try:
        return builder.n_out_replace(key, factor * net.get_layer(key).n_out, "XAVIER").build()
    except ConfigurationError as error:
        assert "replace" in str(error), error
        return None


def outcome(layers: list[Any], kind: Any, as_graph: bool) -> list[str]:
    """What became of it with twice as many outputs."""
    try:
        net: Any = network(layers, kind)
        net.output(sample(kind))
    except DL4PyError:              # a head that does not fit what the layer says
        return []
    net = net.to_computation_graph() if as_graph else net
    found = []
    for factor in (2,):
        new = replaced(net, factor)
        if new is not None:
            new.output(sample(kind))
            n = new.get_layer("0" if as_graph else 0).n_out
            assert n == factor * net.get_layer("0" if as_graph else 0).n_out
        found.append("refused" if new is None else "runs")
    return found


@pytest.mark.parametrize("as_graph", [False, True])
@pytest.mark.parametrize("rows", [pytest.param(ROWS[::9], id="some"), pytest.param(ROWS, id="all", marks=pytest.mark.slow)])
def test_every_layer(rows, as_graph):
    wrong = {}
    for name, layers, kind in rows:
        try:
            found = outcome(layers, kind, as_graph)
        except Exception as error:       # shown with its layer
            wrong[name] = f"{type(error).__name__}: {error}"
        else:
            wrong |= {name: str(found)} if "refused" in found else {}
    assert not wrong, "\n".join(f"{k}: {v:.300}" for k, v in wrong.items())


@pytest.mark.slow
def test_vertices_and_preprocessors_behind_it():
    """A branch that joins another one of the same size is refused, what takes any size runs."""
    def built(vertex: Any) -> Any:
        builder = (NeuralNetConfiguration.Builder().seed(1).graph_builder()
                   .add_inputs("in").set_input_types(InputType.convolutional(6, 5, 2))
                   .add_layer("a", L.ConvolutionLayer(kernel_size=(3, 3), n_out=4), "in")
                   .add_layer("b", L.ConvolutionLayer(kernel_size=(3, 3), n_out=4), "in").add_vertex("v", vertex, "a", "b")
                   .add_layer("n", L.BatchNormalization(), "v").add_layer("d", L.DenseLayer(n_out=3), "n")
                   .add_layer("out", L.OutputLayer(n_out=2), "d").set_outputs("out"))
        net = ComputationGraph(builder.build()).init()
        return TransferLearning.GraphBuilder(net).n_out_replace("a", 7, "XAVIER").build()
    new = built(L.MergeVertex())
    assert new.get_layer("n").n_in == 11 and new.get_layer("d").n_in == 11 * 4 * 3
    assert new.output(np.zeros((2, 2, 6, 5)))[0].shape == (2, 2)
    with pytest.raises(ConfigurationError, match="replace"):
        built(L.ElementWiseVertex("add"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("series_first", [True, False])
def test_sizes_that_are_not_known_pass_between_rows_and_series(series_first):
    """Of inputs that are joined only the sum of the sizes is known."""
    first, last = (L.LSTM(n_out=3), L.OutputLayer(n_out=2)) if series_first else (L.DenseLayer(n_out=3), L.RnnOutputLayer(n_out=2))
    series = InputType.recurrent(4, 5)
    builder = NeuralNetConfiguration.Builder().seed(1).graph_builder().add_inputs("a", "b").add_layer("first", first, "a", "b")
    if series_first:
        builder.add_layer("last", L.DenseLayer(n_out=2), "first")
        builder.add_layer("out", L.RnnOutputLayer(n_out=2), "last")
    else:
        builder.add_layer("out", last, "first")
    net = ComputationGraph(builder.set_outputs("out").set_input_types(series, series).build()).init()
    new = TransferLearning.GraphBuilder(net).n_out_replace("first", 6, "XAVIER").build()
    assert new.get_layer("last" if series_first else "out").n_in == 6
    x = np.ones((2, 4, 5))
    assert np.asarray(new.output(x, x)[0]).shape == (2, 2, 5)


def test_guessed_sizes_refuse_nothing_that_ran_before():
    """The length of the series is not known; that of one step, which fits all parameters, is too short for the window."""
    series = InputType.recurrent(3, -1)
    builder = (NeuralNetConfiguration.Builder().seed(1).graph_builder().add_inputs("in").set_input_types(series)
               .add_vertex("two", L.SubsetVertex(0, 1), "in").add_layer("window", L.Convolution1D(n_out=1, kernel_size=2), "two", "in")
               .add_layer("cell", L.LSTM(n_out=4), "in").add_layer("out0", L.RnnOutputLayer(n_out=2), "window")
               .add_layer("out1", L.RnnOutputLayer(n_out=2), "cell").set_outputs("out0", "out1"))
    net = ComputationGraph(builder.build()).init()
    new = TransferLearning.GraphBuilder(net).n_out_replace("cell", 1, "XAVIER").build()
    assert [o.shape for o in new.output(np.ones((1, 3, 7)))] == [(1, 2, 6), (1, 2, 7)]


def test_volumes_with_channels_last():
    volumes = InputType.convolutional3d("NDHWC", 3, 2, 4, 2)
    net = network([L.Deconvolution3D(n_out=3, data_format="NDHWC", kernel_size=(1, 2, 3), convolution_mode="Truncate"),
                   L.GlobalPoolingLayer("avg"), L.DenseLayer(n_out=3), L.OutputLayer(n_out=2)], volumes)
    new = TransferLearning.Builder(net).n_out_replace(2, 5, "XAVIER").build()
    assert new.output(sample(volumes)).shape == (2, 2) and new.get_layer(3).n_in == 5


def given_inputs(**sizes: int) -> Any:
    """A change of a builder; layers of lists are l0, l1 …"""
    def change(b: Any) -> Any:
        for name, n in sizes.items():
            b = b.n_in_replace(int(name[1:]) if isinstance(b, TransferLearning.Builder) else name, n, L.WeightInit.XAVIER)
        return b
    return change


@pytest.mark.parametrize("change, width", [
    (given_inputs(l0=7), 7), (given_inputs(l2=5), 4), (lambda b: given_inputs(l2=7)(b.n_out_replace(0, 7, L.WeightInit.XAVIER)), 4),
    (lambda b: given_inputs(l1=7, l2=7)(b.n_out_replace(0, 7, L.WeightInit.XAVIER)), 4),
    (given_inputs(l2=7), None), (given_inputs(l1=7), None),
    (lambda b: given_inputs(l2=6)(b.n_out_replace(0, 7, L.WeightInit.XAVIER)), None)])
def test_lists_with_other_numbers_of_inputs(change, width):
    net = network([L.DenseLayer(n_out=5), L.BatchNormalization(), L.DenseLayer(n_out=3), L.OutputLayer(n_out=2)], InputType.feed_forward(4))
    if width is None:
        with pytest.raises(ConfigurationError, match="another number of inputs"):
            change(TransferLearning.Builder(net)).build()
    else:
        assert change(TransferLearning.Builder(net)).build().output(np.zeros((2, width))).shape == (2, 2)


@pytest.mark.parametrize("change, widths", [
    (given_inputs(x=5), (5, 2)), (lambda b: given_inputs(z=9)(b.n_out_replace("x", 5, L.WeightInit.XAVIER)), (3, 2)),
    (given_inputs(z=5), None),
    (lambda b: given_inputs(z=10)(b.remove_vertex_and_connections("out").set_outputs("z")), None)])
def test_graphs_with_other_numbers_of_inputs(change, widths):
    conf = NeuralNetConfiguration.Builder().graph_builder().add_inputs("a", "b").add_layer("x", L.DenseLayer(n_in=3, n_out=4), "a")
    conf = conf.add_layer("y", L.DenseLayer(n_in=2, n_out=4), "b").add_vertex("m", L.MergeVertex(), "x", "y")
    conf = conf.add_layer("z", L.DenseLayer(n_in=8, n_out=3), "m").add_layer("out", L.OutputLayer(n_in=3, n_out=2), "z")
    builder = TransferLearning.GraphBuilder(ComputationGraph(conf.set_outputs("out").build()).init())
    if widths is None:
        with pytest.raises(ConfigurationError, match="another number of inputs"):
            change(builder).build()
    else:
        assert change(builder).build().output(*(np.zeros((2, n)) for n in widths))[0].shape == (2, 2)
