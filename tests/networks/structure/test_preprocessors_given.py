"""Preprocessors that the user puts in front of layers, where input types are given, inferred or unknown."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    ConvolutionLayer,
    DenseLayer,
    EmbeddingLayer,
    FeedForwardToCnnPreProcessor,
    FeedForwardToRnnPreProcessor,
    InputType,
    OutputLayer,
    RnnOutputLayer,
    RnnToFeedForwardPreProcessor,
)
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.errors import ConfigurationError

TO_ROWS, TO_SERIES = RnnToFeedForwardPreProcessor(), FeedForwardToRnnPreProcessor()


def looked_up(n=3):
    return EmbeddingLayer(n_in=n, n_out=5), LSTM(n_in=5, n_out=7), RnnOutputLayer(n_in=7, n_out=4)


def a_list(layers, preprocessors, input_type=None):
    builder = NeuralNetConfiguration.Builder().seed(1).list(*layers)
    for index, preprocessor in preprocessors.items():
        builder.input_pre_processor(index, preprocessor)
    return (builder if input_type is None else builder.set_input_type(input_type)).build()


@pytest.mark.parametrize("layers, given, input_type, sizes, found", [      # as DL4J 1.0.0-M2.1 builds them
    (looked_up(), {0: TO_ROWS, 1: TO_SERIES}, None, [3, 5, 7], {0: TO_ROWS, 1: TO_SERIES}),
    (looked_up(), {0: TO_ROWS}, None, [3, 5, 7], {0: TO_ROWS}),
    (looked_up(), {1: TO_SERIES}, None, [3, 5, 7], {1: TO_SERIES}),
    (looked_up(), {0: TO_ROWS, 1: TO_SERIES}, InputType.recurrent(1), [1, 5, 7], {0: TO_ROWS, 1: TO_SERIES}),
    ((LSTM(n_in=3, n_out=7), RnnOutputLayer(n_in=7, n_out=4)), {0: TO_SERIES}, None, [3, 7], {0: TO_SERIES}),
    ((DenseLayer(n_in=3, n_out=5), OutputLayer(n_in=5, n_out=2)), {0: TO_ROWS}, None, [3, 5], {0: TO_ROWS}),
    ((ConvolutionLayer(kernel_size=1, n_in=1, n_out=3), OutputLayer(n_in=12, n_out=2)), {0: FeedForwardToCnnPreProcessor(2, 2, 1)}, None,
     [1, 12], {0: FeedForwardToCnnPreProcessor(2, 2, 1)}),
], ids=["embedding", "first", "second", "type", "series", "rows", "images"])
def test_first_preprocessor_tells_that_data_are_of_another_type(layers, given, input_type, sizes, found):
    conf = a_list(layers, given, input_type)
    assert [layer.n_in for layer in conf.layers] == sizes and conf.input_pre_processors == found


def test_series_of_indices_are_learned_from():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 3, (2, 1, 6)).astype(np.float32)
    y = np.eye(4, dtype=np.float32)[rng.integers(0, 4, (2, 6))].transpose(0, 2, 1)
    conf = a_list(looked_up(), {0: TO_ROWS, 1: TO_SERIES})
    net = MultiLayerNetwork(conf).init()
    rows = net.get_param("0_W")[x[0, 0].astype(int)]
    np.testing.assert_allclose(net.feed_forward(x)[1][0::2], rows, rtol=1e-6)       # step t of example n is row 2 t + n
    net.fit(x, y)
    before = net.score()
    for _ in range(20):
        net.fit(x, y)
    assert net.score() < before and net.output(x).shape == (2, 4, 6)


def graph(change):
    embedding, lstm, output = looked_up()
    builder = (NeuralNetConfiguration.Builder().seed(1).graph_builder().add_inputs("in").add_layer("e", embedding, "in")
               .add_layer("l", lstm, "e").add_layer("o", output, "l").set_outputs("o"))
    return change(builder).build()


def test_maps_of_preprocessors_take_the_place_of_those_before():
    expected = graph(lambda b: b.input_pre_processor("e", TO_ROWS).input_pre_processor("l", TO_SERIES))
    both = {"e": TO_ROWS, "l": TO_SERIES}
    for name in ("input_pre_processors", "inputPreProcessors", "setInputPreProcessors", "set_input_pre_processors"):
        assert graph(lambda b, name=name: getattr(b.input_pre_processor("o", TO_ROWS), name)(both)) == expected
    for name in ("inputPreProcessors", "setInputPreProcessors"):
        builder = NeuralNetConfiguration.Builder().list(*looked_up()).input_pre_processor(2, TO_ROWS)
        assert getattr(builder, name)({0: TO_ROWS, 1: TO_SERIES}).build().input_pre_processors == {0: TO_ROWS, 1: TO_SERIES}


def test_a_removed_vertex_takes_its_preprocessor_along():
    conf = graph(lambda b: b.input_pre_processor("e", TO_ROWS).input_pre_processor("l", TO_SERIES).remove_vertex("e", False)
                 .add_layer("e", DenseLayer(n_in=3, n_out=5), "in"))
    assert conf.vertices["e"].pre_processor is None and conf.vertices["l"].pre_processor == TO_SERIES
    assert ComputationGraph(conf).init().num_params() > 0


@pytest.mark.parametrize("make, said", [
    (lambda: a_list(looked_up(), {7: TO_ROWS}), "in front of 7, which is no layer; layers: 0, 1, 2"),
    (lambda: graph(lambda b: b.input_pre_processor("nobody", TO_ROWS)), "in front of 'nobody', which is no layer; layers: 'e', 'l', 'o'"),
    (lambda: graph(lambda b: b.input_pre_processor("in", TO_ROWS)), "in front of 'in', which is no layer"),
    (lambda: NeuralNetConfiguration.Builder().list(*looked_up()).data_type("DOUBLE").build(), "comes too late"),
    (lambda: graph(lambda b: b.data_type("DOUBLE")), "comes too late"),
    (lambda: NeuralNetConfiguration.Builder().list().confs([]), "ListBuilder has no option 'confs'"),
    (lambda: NeuralNetConfiguration.Builder().graph_builder().vertices({}), "GraphBuilder has no option 'vertices'.*add_vertex"),
])
def test_what_would_be_ignored_is_refused(make, said):
    with pytest.raises(ConfigurationError, match=said):
        make()
