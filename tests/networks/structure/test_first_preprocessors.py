"""Preprocessors in front of the first layer where nobody says an input type: they act, in lists and graphs, by closed form."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from dl4py import layers as L
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.training import Sgd


class Case(NamedTuple):
    """A preprocessor, the first layer, the shape that the network is fed, and what the layer then sees."""

    preprocessor: L.InputPreProcessor
    layer: Any
    shape: tuple[int, ...]
    seen: Callable[[Any], Any]


def dense(n: int) -> Any:
    return L.DenseLayer(n_in=n, n_out=4, activation="tanh")


def image(n: int) -> Any:
    return L.ConvolutionLayer(n_in=n, n_out=4, kernel_size=(1, 1), activation="tanh")


def series(n: int) -> Any:
    return L.SimpleRnn(n_in=n, n_out=4)


CASES: dict[str, Case] = {
    "series to rows": Case(L.RnnToFeedForwardPreProcessor(), dense(3), (5, 3, 2), lambda x: x.transpose(2, 0, 1).reshape(-1, 3)),
    "series to rows, features last": Case(L.RnnToFeedForwardPreProcessor("NWC"), dense(3), (5, 2, 3),
                                          lambda x: x.transpose(1, 0, 2).reshape(-1, 3)),
    "rows to series": Case(L.FeedForwardToRnnPreProcessor(), series(3), (5, 3), lambda x: x[:, :, None]),
    "images to rows": Case(L.CnnToFeedForwardPreProcessor(2, 3, 2), dense(12), (5, 2, 2, 3), lambda x: x.reshape(5, -1)),
    "TensorFlow's images to rows": Case(L.TensorFlowCnnToFeedForwardPreProcessor(2, 3, 2), dense(12), (5, 2, 2, 3),
                                        lambda x: x.transpose(0, 2, 3, 1).reshape(5, -1)),
    "rows that are no images": Case(L.CnnToFeedForwardPreProcessor(2, 3, 2), dense(12), (5, 12), lambda x: x),
    "volumes to rows": Case(L.Cnn3DToFeedForwardPreProcessor(2, 1, 3, 2, True), dense(12), (5, 2, 2, 1, 3), lambda x: x.reshape(5, -1)),
    "rows to images": Case(L.FeedForwardToCnnPreProcessor(2, 3, 2), image(2), (5, 12), lambda x: x.reshape(5, 2, 2, 3)),
    "rows to volumes": Case(L.FeedForwardToCnn3DPreProcessor(2, 1, 3, 2, True), L.Convolution3D(
        n_in=2, n_out=4, kernel_size=(1, 1, 1), activation="tanh"), (5, 12), lambda x: x.reshape(5, 2, 2, 1, 3)),
    "series to images": Case(L.RnnToCnnPreProcessor(2, 3, 2), image(2), (5, 12, 2), lambda x: x.transpose(2, 0, 1).reshape(-1, 2, 2, 3)),
    "images to series": Case(L.CnnToRnnPreProcessor(2, 3, 2), series(12), (5, 2, 2, 3), lambda x: x.reshape(5, 12, 1)),
    "permuted": Case(L.PermutePreprocessor(2, 1), series(3), (5, 4, 3), lambda x: x.transpose(0, 2, 1)),
    "reshaped": Case(L.ReshapePreprocessor((2, 3), (6,)), dense(6), (5, 2, 3), lambda x: x.reshape(5, 6)),
    "Keras's flattened series": Case(L.KerasFlattenRnnPreprocessor(3, 2), dense(6), (5, 3, 2), lambda x: x.reshape(5, 6)),
    "one after the other": Case(L.ComposableInputPreProcessor(L.PermutePreprocessor(2, 1), L.RnnToFeedForwardPreProcessor()), dense(3),
                                (5, 2, 3), lambda x: x.transpose(1, 0, 2).reshape(-1, 3)),
}


def network(layer: Any, preprocessor: L.InputPreProcessor | None, as_graph: bool) -> Any:
    """Without an output layer, as that would need another preprocessor for some."""
    builder = NeuralNetConfiguration.Builder().seed(1).updater(Sgd(0.1)).data_type("DOUBLE")
    if as_graph:
        graph = builder.graph_builder().add_inputs("in").add_layer("0", layer, "in").set_outputs("0").validate_output_layer_config(False)
        return ComputationGraph((graph if preprocessor is None else graph.input_pre_processor("0", preprocessor)).build()).init()
    plain = builder.list(layer).validate_output_layer_config(False)
    return MultiLayerNetwork((plain if preprocessor is None else plain.input_pre_processor(0, preprocessor)).build()).init()


def with_head(layer: Any, preprocessor: L.InputPreProcessor | None, as_graph: bool) -> Any:
    """A dense layer with one that has a loss."""
    builder = NeuralNetConfiguration.Builder().seed(1).updater(Sgd(0.1)).data_type("DOUBLE")
    head = L.OutputLayer(n_in=4, n_out=2)
    if as_graph:
        graph = builder.graph_builder().add_inputs("in").add_layer("0", layer, "in").add_layer("1", head, "0").set_outputs("1")
        return ComputationGraph((graph if preprocessor is None else graph.input_pre_processor("0", preprocessor)).build()).init()
    plain = builder.list(layer, head)
    return MultiLayerNetwork((plain if preprocessor is None else plain.input_pre_processor(0, preprocessor)).build()).init()


def outcome(net: Any, x: Any) -> Any:
    found = net.output(x)
    return found[0] if isinstance(net, ComputationGraph) else found


@pytest.mark.parametrize("as_graph", [False, True], ids=["list", "graph"])
@pytest.mark.parametrize("name", CASES)
def test_it_acts(name, as_graph, rng):
    preprocessor, layer, shape, seen = CASES[name]
    x = rng.normal(size=shape)
    net, plain = network(layer, preprocessor, as_graph), network(layer, None, as_graph)
    assert np.array_equal(net.params(), plain.params())
    np.testing.assert_allclose(outcome(net, x), outcome(plain, seen(x)), 1e-12, 1e-12)
    if isinstance(layer, L.DenseLayer):
        np.testing.assert_allclose(outcome(net, x), np.tanh(seen(x) @ net.get_param("0_W") + net.get_param("0_b")), 1e-12, 1e-12)
        net, plain = with_head(layer, preprocessor, as_graph), with_head(layer, None, as_graph)
        y = np.eye(2)[np.arange(len(seen(x))) % 2]
        net.fit(x, y), plain.fit(seen(x), y)
        np.testing.assert_allclose(net.params(), plain.params(), 1e-12, 1e-12)
