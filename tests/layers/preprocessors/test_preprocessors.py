"""Preprocessors: rearrange values without loss, types, masks."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    Cnn3DToFeedForwardPreProcessor,
    CnnToFeedForwardPreProcessor,
    CnnToRnnPreProcessor,
    ComposableInputPreProcessor,
    Convolution3D,
    FeedForwardToCnn3DPreProcessor,
    FeedForwardToCnnPreProcessor,
    FeedForwardToRnnPreProcessor,
    InputPreProcessor,
    InputType,
    KerasFlattenRnnPreprocessor,
    MaskState,
    OutputLayer,
    PermutePreprocessor,
    ReshapePreprocessor,
    RNNFormat,
    RnnToCnnPreProcessor,
    RnnToFeedForwardPreProcessor,
    TensorFlowCnnToFeedForwardPreProcessor,
)
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet
from dl4py.samediff.errors import ConfigurationError, ShapeError

N, T = 2, 3
CASES = [
    (CnnToFeedForwardPreProcessor(3, 2, 4), (N, 4, 3, 2)),
    (CnnToFeedForwardPreProcessor(3, 2, 4, "NHWC"), (N, 3, 2, 4)),
    (TensorFlowCnnToFeedForwardPreProcessor(3, 2, 4), (N, 4, 3, 2)),
    (Cnn3DToFeedForwardPreProcessor(2, 3, 2, 4), (N, 4, 2, 3, 2)),
    (FeedForwardToCnnPreProcessor(3, 2, 4), (N, 24)),
    (FeedForwardToCnn3DPreProcessor(2, 3, 2, 2, False), (N, 24)),
    (RnnToFeedForwardPreProcessor(), (N, 5, T)),
    (RnnToFeedForwardPreProcessor("NWC"), (N, T, 5)),
    (FeedForwardToRnnPreProcessor(), (N * T, 5)),
    (FeedForwardToRnnPreProcessor(RNNFormat.NWC), (N * T, 5)),
    (CnnToRnnPreProcessor(3, 2, 4), (N * T, 4, 3, 2)),
    (RnnToCnnPreProcessor(3, 2, 4), (N, 24, T)),
    (ComposableInputPreProcessor(CnnToFeedForwardPreProcessor(3, 2, 4), FeedForwardToRnnPreProcessor()), (N * T, 4, 3, 2)),
    (KerasFlattenRnnPreprocessor(5, T), (N, 5, T)),
    (PermutePreprocessor(2, 1), (N, 5, T)),
    (ReshapePreprocessor((24,), (2, 3, 4)), (N, 24)),
]


@pytest.mark.parametrize(("preprocessor", "shape"), CASES, ids=lambda v: type(v).__name__ if not isinstance(v, tuple) else "")
def test_backprop_undoes_pre_process(preprocessor, shape):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    y = preprocessor.pre_process(x, N)
    assert sorted(y.ravel()) == sorted(x.ravel())
    np.testing.assert_array_equal(preprocessor.backprop(y, N), x)
    assert InputPreProcessor.from_json(preprocessor.to_json()) == preprocessor


def test_rows_of_series_are_time_major():
    x = np.arange(12).reshape(2, 2, 3)                   # two series of three steps of two values
    rows = RnnToFeedForwardPreProcessor().pre_process(x, 2)
    np.testing.assert_array_equal(rows[1], x[1, :, 0])   # step 0 of series 1
    np.testing.assert_array_equal(rows[2], x[0, :, 1])   # step 1 of series 0
    mask, state = RnnToFeedForwardPreProcessor().feed_forward_mask_array(np.array([[1, 1, 0], [1, 0, 0]]), MaskState.Active, 2)
    assert mask.tolist() == [[1], [1], [1], [0], [0], [0]] and state is MaskState.Active
    assert FeedForwardToRnnPreProcessor().mask(mask, 2).tolist() == [[1, 1, 0], [1, 0, 0]]


IMAGE = InputType.convolutional(6, 5, 2, "NCHW")


@pytest.mark.parametrize(("given", "target", "form", "kind", "result"), [
    ((6,), (1, 2, 3), None, InputType.feed_forward(6), InputType.convolutional(1, 2, 3, "NHWC")),
    ((3, 2), (1, 2, 3), None, InputType.recurrent(3, 2), InputType.convolutional(1, 2, 3, "NHWC")),
    ((2, 5, 6), (2, 6, 5), None, InputType.convolutional(5, 6, 2), IMAGE),
    ((2, 5, 6), (2, 6, 5), None, InputType.convolutional(5, 6, 2, "NHWC"), IMAGE),
    ((2, 5, 6), (2, 6, 5), None, InputType.convolutional_flat(5, 6, 2), IMAGE),
    ((2, 5, 6), (2, 6, 5), "NCHW", InputType.convolutional(5, 6, 2), IMAGE),
    ((2, 5, 6), (2, 6, 5), "NHWC", InputType.convolutional(5, 6, 2), InputType.convolutional(2, 6, 5, "NHWC")),
    ((6,), (2, 3), None, InputType.feed_forward(6), InputType.recurrent(3, 2, "NWC")),
    ((2, 3), (3, 2), "NWC", InputType.recurrent(2, 3), InputType.recurrent(2, 3, "NWC")),
    ((1, 2, 3), (6,), None, InputType.convolutional(2, 3, 1), InputType.feed_forward(6)),
])
def test_types_of_reshaped_activations_are_dl4js(given, target, form, kind, result):
    assert ReshapePreprocessor(given, target, format=form).output_type(kind) == result


def test_output_types():
    image, series = InputType.convolutional(3, 2, 4), InputType.recurrent(24, 5)
    assert CnnToFeedForwardPreProcessor(3, 2, 4).output_type(image) == InputType.feed_forward(24)
    assert RnnToFeedForwardPreProcessor().get_output_type(series) == InputType.feed_forward(24, RNNFormat.NCW)
    assert RnnToCnnPreProcessor(3, 2, 4).output_type(series) == image
    assert FeedForwardToCnnPreProcessor(3, 2, 4).output_type(InputType.feed_forward(24)) == image


def test_what_does_not_fit_is_refused():
    with pytest.raises(ShapeError):
        CnnToFeedForwardPreProcessor(4, 2, 4).pre_process(np.zeros((2, 4, 3, 2)), 2)
    with pytest.raises(ShapeError):
        FeedForwardToRnnPreProcessor().pre_process(np.zeros((5, 3)), 2)
    for wrong in (lambda: RnnToFeedForwardPreProcessor().output_type(InputType.feed_forward(3)), lambda: PermutePreprocessor(1, 3),
                  lambda: FeedForwardToCnnPreProcessor(3, 2, 4).output_type(InputType.feed_forward(23))):
        with pytest.raises(ConfigurationError):
            wrong()


def test_volumes_in_any_order_of_sizes_become_rows(rng):
    """DL4J's types of Convolution3D name the sizes of NCDHW volumes in the order of NDHWC."""
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater("sgd").data_type("DOUBLE").list()
                            .layer(Convolution3D(n_out=2, kernel_size=(2, 2, 2), activation="tanh"))
                            .layer(OutputLayer(n_out=2, activation="identity", loss="mse"))
                            .set_input_type(InputType.convolutional3d("NCDHW", 3, 4, 3, 2)).build()).init()
    x, y = rng.normal(size=(2, 2, 3, 4, 3)), rng.normal(size=(2, 2))
    gradient, _ = net.calculate_gradients(x, y)
    before, k = net.params().copy().ravel(), 3
    scores = []
    for step in (1e-5, -1e-5):
        moved = before.copy()
        moved[k] += step
        net.set_params(moved)
        scores.append(net.score(DataSet(x, y)))
    assert gradient.gradient().ravel()[k] / 2 == pytest.approx((scores[0] - scores[1]) / 2e-5, rel=1e-5)


def test_volumes_of_another_number_of_values_are_refused():
    rows = Cnn3DToFeedForwardPreProcessor(2, 3, 4, 1)
    with pytest.raises(ShapeError):
        rows.pre_process(np.zeros((1, 1, 2, 3, 5)), 1)
