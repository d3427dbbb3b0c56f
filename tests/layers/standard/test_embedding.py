"""Embedding layers: values, and indices that are none."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    Convolution1DLayer,
    Cropping1D,
    EmbeddingLayer,
    EmbeddingSequenceLayer,
    GlobalPoolingLayer,
    InputType,
    LastTimeStep,
    OutputLayer,
    RnnOutputLayer,
    Subsampling1DLayer,
    Upsampling1D,
)
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.errors import DataTypeError, ShapeError
from tests.helpers.networkcheck import network


def single():
    return network(EmbeddingLayer(n_in=9, n_out=5, layer_name="words"), OutputLayer(n_in=5, n_out=3))


def series():
    return network(EmbeddingSequenceLayer(n_in=9, n_out=5, layer_name="words"), RnnOutputLayer(n_in=5, n_out=3))


def test_rows_of_the_table_by_index():
    net = single()
    found = net.feed_forward_to_layer(0, np.array([[8], [0]]))[-1]
    np.testing.assert_array_equal(found, net.get_param("0_W")[[8, 0]])


@pytest.mark.parametrize("make, indices", [(single, lambda i: [[i], [0]]), (series, lambda i: [[0, i, 1]])])
@pytest.mark.parametrize("index, kind, text", [(-1, ShapeError, "index -1"), (9, ShapeError, "index 9"), (1.5, DataTypeError, "1.5"),
                                               (np.nan, DataTypeError, "nan")])
def test_what_is_no_index_of_the_table_is_refused(make, indices, index, kind, text):
    with pytest.raises(kind, match=text) as caught:
        make().output(np.array(indices(index), np.float64))
    assert "words" in str(caught.value)


@pytest.mark.parametrize("behind", [Convolution1DLayer(n_out=4, kernel_size=3), Subsampling1DLayer(kernel_size=2, stride=1), Cropping1D(1),
                                    LastTimeStep(LSTM(n_out=4)), Upsampling1D(2)], ids=lambda made: type(made).__name__)
@pytest.mark.parametrize("kind", [None, InputType.recurrent(9), InputType.recurrent(9, 6), InputType.feed_forward(9)])
def test_windows_over_words_of_any_length(behind, kind):
    """The type of words has a length of 1, as in DL4J, whatever comes; no window fitted there."""
    pool = [] if isinstance(behind, LastTimeStep) else [GlobalPoolingLayer()]
    builder = NeuralNetConfiguration.Builder().list(EmbeddingSequenceLayer(n_in=9, n_out=5), behind, *pool, OutputLayer(n_out=3))
    net = MultiLayerNetwork((builder if kind is None else builder.set_input_type(kind)).build()).init()
    for steps in (6, 4):
        assert np.array(net.output(np.ones((2, steps)))).shape == (2, 3)
