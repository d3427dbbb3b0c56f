"""One row or more for every registered layer, vertex and preprocessor, which ``test_every_layer`` checks."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dl4py import layers as L
from dl4py.layers import InputType
from tests.helpers.custom_classes import Product

RNG = np.random.default_rng(11)
FF, RNN, CNN, CNN3D = InputType.feed_forward, InputType.recurrent, InputType.convolutional, InputType.convolutional3d
IMAGE, SERIES, ROWS = CNN(5, 6, 2), RNN(3), FF(4)


@dataclass
class Row:
    """An example: what is checked, its inputs, and further arguments of the check."""

    made: Any
    inputs: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)


LAYERS: list[Row] = []
VERTICES: list[Row] = []
PREPROCESSORS: list[Row] = []


def layer(made: Any, *inputs: Any, **options: Any) -> None:
    LAYERS.append(Row(made, inputs, options))


def vertex(made: Any, *inputs: Any, **options: Any) -> None:
    VERTICES.append(Row(made, inputs, options))


def preprocessor(made: Any, *inputs: Any, **options: Any) -> None:
    PREPROCESSORS.append(Row(made, inputs, options))


# Rows

layer(L.DenseLayer(n_out=3, activation="tanh"), ROWS)
layer(L.DenseLayer(n_out=3, activation="softplus", has_layer_norm=True, has_bias=False, l2=0.01, weight_noise=L.DropConnect(0.8)), ROWS)
layer(L.DenseLayer(n_out=2, activation="tanh", dropout=0.7), CNN(2, 2, 3))
layer(L.ActivationLayer("swish"), ROWS)
layer(L.DropoutLayer(0.6), ROWS)
layer(L.ElementWiseMultiplicationLayer(n_in=4, n_out=4, activation="tanh"), ROWS)
layer(L.PReLULayer(), ROWS)
layer(L.PReLULayer(shared_axes=(2, 3)), IMAGE)
layer(L.EmbeddingLayer(n_out=3, activation="tanh", has_bias=True), np.array([[1], [0], [4]]), input_type=FF(6))
layer(L.EmbeddingSequenceLayer(n_in=6, n_out=3, activation="tanh"), np.array([[1, 0, 5, 2], [4, 4, 2, 1], [0, 1, 3, 3]]),
      input_type=RNN(6, 4))
layer(L.AutoEncoder(n_out=3, activation="tanh", corruption_level=0.0), ROWS)
layer(L.VariationalAutoencoder(n_out=2, encoder_layer_sizes=(4,), decoder_layer_sizes=(4,), activation="tanh"), ROWS)
layer(L.RepeatVector(n=3), ROWS)

# Normalization

layer(L.BatchNormalization(), ROWS)
layer(L.BatchNormalization(use_log_std=False, eps=1e-3), IMAGE)
layer(L.BatchNormalization(lock_gamma_beta=True), CNN(3, 3, 2, "NHWC"))
layer(L.LocalResponseNormalization(n=3), IMAGE)

# Images, series, volumes

layer(L.ConvolutionLayer(kernel_size=(2, 3), n_out=3, activation="tanh"), IMAGE)
layer(L.ConvolutionLayer(kernel_size=3, stride=2, dilation=1, n_out=2, convolution_mode="Same", has_bias=False, activation="tanh"),
      CNN(5, 6, 2, "NHWC"))
layer(L.Convolution2D(kernel_size=2, dilation=2, padding=1, n_out=2, activation="tanh"), IMAGE)
layer(L.Convolution1D(kernel_size=2, n_out=2, activation="tanh"), SERIES)
layer(L.Convolution1DLayer(kernel_size=3, stride=2, n_out=2, convolution_mode="Same", activation="tanh"), SERIES)
layer(L.Convolution1DLayer(kernel_size=2, dilation=2, n_out=2, convolution_mode="Causal", activation="tanh"), SERIES)
layer(L.Convolution3D(kernel_size=2, n_out=2, activation="tanh"), CNN3D("NCDHW", 3, 3, 3, 2))
layer(L.Convolution3D(kernel_size=2, n_out=2, activation="tanh", data_format="NDHWC", convolution_mode="Same"), CNN3D("NDHWC", 2, 3, 2, 2))
layer(L.Deconvolution2D(kernel_size=2, stride=2, n_out=2, activation="tanh"), CNN(2, 3, 2))
layer(L.Deconvolution3D(kernel_size=2, stride=2, n_out=2, activation="tanh"), CNN3D("NCDHW", 2, 2, 2, 2))
layer(L.DepthwiseConvolution2D(kernel_size=2, depth_multiplier=2, activation="tanh"), IMAGE)
layer(L.SeparableConvolution2D(kernel_size=2, n_out=3, activation="tanh"), IMAGE)
layer(L.LocallyConnected1D(kernel=2, n_out=2, activation="tanh", cm="Truncate"), RNN(3, 5))
layer(L.LocallyConnected2D(kernel=(2, 2), n_out=2, activation="tanh", cm="Truncate"), CNN(4, 3, 2))
layer(L.SubsamplingLayer(kernel_size=2, stride=2), IMAGE)
layer(L.SubsamplingLayer(kernel_size=2, stride=1, pooling_type="AVG", convolution_mode="Same"), CNN(4, 4, 2, "NHWC"))
layer(L.SubsamplingLayer(kernel_size=2, stride=2, pooling_type="PNORM", pnorm=2), CNN(4, 4, 2))
layer(L.Pooling2D(kernel_size=2, stride=1), IMAGE)
layer(L.Subsampling1DLayer(kernel_size=2, stride=2), SERIES)
layer(L.Pooling1D(kernel_size=2, stride=1, pooling_type="AVG"), SERIES)
layer(L.Subsampling3DLayer(kernel_size=2, stride=2), CNN3D("NCDHW", 4, 4, 4, 2))
layer(L.GlobalPoolingLayer("MAX"), SERIES)
layer(L.GlobalPoolingLayer("AVG"), SERIES)
layer(L.GlobalPoolingLayer("PNORM", pnorm=3), SERIES)
layer(L.GlobalPoolingLayer("SUM"), IMAGE)
layer(L.GlobalPoolingLayer("MAX"), RNN(3, -1, "NWC"))
layer(L.GlobalPoolingLayer("AVG", collapse_dimensions=False), SERIES)
layer(L.GlobalPoolingLayer("AVG"), CNN3D("NCDHW", 2, 3, 2, 2))
layer(L.Upsampling1D(2), SERIES)
layer(L.Upsampling2D(size=(2, 3)), IMAGE)
layer(L.Upsampling3D(2), CNN3D("NCDHW", 2, 2, 2, 2))
layer(L.ZeroPadding1DLayer(1, 2), SERIES)
layer(L.ZeroPaddingLayer(1, 2, 0, 1), IMAGE)
layer(L.ZeroPadding3DLayer(1), CNN3D("NCDHW", 2, 2, 2, 2))
layer(L.Cropping1D(1, 1), SERIES)
layer(L.Cropping2D(1, 0, 1, 2), IMAGE)
layer(L.Cropping3D(1, 0, 1, 1, 0, 1), CNN3D("NCDHW", 4, 4, 4, 2))
layer(L.SpaceToDepthLayer(2), CNN(4, 4, 2))
layer(L.SpaceToBatchLayer((2, 2)), CNN(4, 4, 2))

# Capsules

layer(L.PrimaryCapsules(2, 2, kernel_size=(2, 2), stride=(2, 2)), CNN(4, 4, 1))
layer(L.CapsuleLayer(capsules=3, capsule_dimensions=2, routings=2), RNN(4, 3))
layer(L.CapsuleStrengthLayer(), RNN(4, 3))

# Series

for kind in (L.LSTM, L.GravesLSTM, L.SimpleRnn, L.GravesBidirectionalLSTM):
    layer(kind(n_out=2, activation="tanh"), SERIES)
layer(L.LSTM(n_out=2, activation="softsign", gate_activation_function="hardsigmoid"), RNN(3, -1, "NWC"))
layer(L.Bidirectional("CONCAT", L.LSTM(n_out=2, activation="tanh")), SERIES)
layer(L.Bidirectional("MUL", L.SimpleRnn(n_out=2, activation="tanh")), SERIES)
layer(L.LastTimeStep(L.LSTM(n_out=2, activation="tanh")), SERIES)
layer(L.LastTimeStep(L.SimpleRnn(n_out=2, activation="tanh")), SERIES)
layer(L.TimeDistributed(L.DenseLayer(n_out=2, activation="tanh")), SERIES)
layer(L.MaskLayer(), SERIES)
layer(L.MaskZeroLayer(L.LSTM(n_out=2, activation="tanh"), 0.0), SERIES)
layer(L.SelfAttentionLayer(n_out=4, n_heads=2, head_size=2, project_input=True), SERIES)
layer(L.SelfAttentionLayer(n_out=3, n_heads=1, project_input=False), SERIES)
layer(L.LearnedSelfAttentionLayer(n_out=4, n_heads=2, head_size=2, n_queries=2, project_input=True), SERIES)
layer(L.RecurrentAttentionLayer(n_out=3, n_heads=1, head_size=3, activation="tanh"), RNN(3, 5))

# Frozen

layer(L.FrozenLayer(L.DenseLayer(n_out=3, activation="tanh")), ROWS)
layer(L.FrozenLayerWithBackprop(L.DenseLayer(n_out=3, activation="tanh")), ROWS)
layer(L.FrozenLayerWithBackprop(L.BatchNormalization()), IMAGE)

# Losses

boxes = np.zeros((3, 4 + 2, 4, 4))
for i, (x, y) in enumerate([(0.4, 0.6), (1.6, 2.3), (2.5, 1.4)]):
    boxes[i, :4, int(y), int(x)] = [x - 0.5, y - 0.4, x + 0.5, y + 0.4]
    boxes[i, 4 + i % 2, int(y), int(x)] = 1

layer(L.OutputLayer(n_out=3), ROWS)
layer(L.OutputLayer(n_out=3, activation="tanh", loss_function="mse", l1=0.01), ROWS)
layer(L.LossLayer(loss_function="mse", activation="sigmoid"), ROWS)
layer(L.CenterLossOutputLayer(n_out=3, alpha=0.1, lambda_=0.1), ROWS)
layer(L.RnnOutputLayer(n_out=3), SERIES)
layer(L.RnnOutputLayer(n_out=2, activation="sigmoid", loss_function="xent"), RNN(3, -1, "NWC"))
layer(L.RnnLossLayer(loss_function="mse", activation="tanh"), SERIES)
layer(L.CnnLossLayer(activation="softmax"), CNN(2, 3, 3))
layer(L.CnnLossLayer(activation="softmax"), CNN(2, 3, 3), mask=RNG.integers(0, 2, (3, 1, 2, 3)).astype(float))
layer(L.Cnn3DLossLayer("NCDHW", loss_function="mse", activation="identity"), CNN3D("NCDHW", 2, 2, 2, 2))
layer(L.OCNNOutputLayer(hidden_size=3, nu=0.3), ROWS, np.zeros((3, 1)))
layer(L.Yolo2OutputLayer(bounding_boxes=np.array([[1.0, 1.5], [2.0, 0.7]])), RNG.normal(scale=0.7, size=(3, 14, 4, 4)), boxes,
      input_type=CNN(4, 4, 14))

# Vertices

A = RNG.normal(size=(4, 3))
vertex(L.MergeVertex(), FF(3), FF(2))
vertex(L.MergeVertex(), SERIES, RNN(2))
vertex(L.MergeVertex(), IMAGE, CNN(5, 6, 3))
for name in ("Add", "Subtract", "Product", "Average", "Max"):
    vertex(L.ElementWiseVertex(name), FF(3), RNG.normal(size=(3, 3)))
vertex(L.ScaleVertex(2.5), SERIES)
vertex(L.ShiftVertex(-1.0), IMAGE)
vertex(L.L2Vertex(), FF(3), RNG.normal(size=(3, 3)))
vertex(L.L2NormalizeVertex(), FF(3))
vertex(L.SubsetVertex(1, 2), FF(4))
vertex(L.SubsetVertex(0, 1), SERIES)
vertex(L.ReshapeVertex(-1, 6), CNN(1, 2, 3))
vertex(L.StackVertex(), FF(3), RNG.normal(size=(3, 3)))
vertex(L.UnstackVertex(1, 2), A)
vertex(L.PoolHelperVertex(), IMAGE)
vertex(L.PreprocessorVertex(L.CnnToFeedForwardPreProcessor(5, 6, 2)), IMAGE)
vertex(L.FrozenVertex(L.ScaleVertex(2.0)), FF(3))
vertex(L.LastTimeStepVertex(), SERIES)
vertex(L.LastTimeStepVertex("series"), SERIES, RNN(2))
vertex(L.DuplicateToTimeSeriesVertex("series"), FF(3), RNN(2))
vertex(L.ReverseTimeSeriesVertex(), SERIES)
vertex(L.ReverseTimeSeriesVertex("series"), SERIES, RNN(2))
vertex(L.AttentionVertex(n_out=4, n_heads=2, head_size=2, project_input=True), RNN(3), RNN(2), RNN(4))
vertex(L.AttentionVertex(n_out=3, n_heads=1, project_input=False), SERIES, RNG.normal(size=(3, 3, 5)), RNG.normal(size=(3, 3, 5)))

# Preprocessors

preprocessor(L.CnnToFeedForwardPreProcessor(2, 3, 4), CNN(2, 3, 4))
preprocessor(L.CnnToFeedForwardPreProcessor(2, 3, 4, "NHWC"), CNN(2, 3, 4, "NHWC"))
preprocessor(L.TensorFlowCnnToFeedForwardPreProcessor(2, 3, 4), CNN(2, 3, 4))
preprocessor(L.CnnToRnnPreProcessor(2, 3, 4), RNG.normal(size=(6, 4, 2, 3)), minibatch=2)
preprocessor(L.Cnn3DToFeedForwardPreProcessor(2, 2, 3, 4, True), CNN3D("NCDHW", 2, 2, 3, 4))
preprocessor(L.FeedForwardToCnnPreProcessor(2, 3, 4), FF(24))
preprocessor(L.FeedForwardToCnn3DPreProcessor(2, 2, 3, 2, True), FF(24))
preprocessor(L.FeedForwardToRnnPreProcessor(), RNG.normal(size=(6, 4)), minibatch=2)
preprocessor(L.RnnToFeedForwardPreProcessor(), SERIES)
preprocessor(L.RnnToFeedForwardPreProcessor("NWC"), RNN(3, -1, "NWC"))
preprocessor(L.RnnToCnnPreProcessor(2, 3, 2), RNN(12))
preprocessor(L.ComposableInputPreProcessor(L.RnnToFeedForwardPreProcessor(), L.FeedForwardToCnnPreProcessor(1, 3, 1)), SERIES)
preprocessor(L.KerasFlattenRnnPreprocessor(3, 5), RNN(3, 5))
preprocessor(L.PermutePreprocessor(2, 1), RNN(3, 5), allow={"masks"})      # as in DL4J, those of the steps before
preprocessor(L.PermutePreprocessor(3, 1, 2), CNN(2, 3, 4))
preprocessor(L.ReshapePreprocessor((12,), (3, 4), False), FF(12))

# As users write them

vertex(Product(), FF(3), RNG.normal(size=(3, 3)))
