"""One row or more for every layer, vertex, loss and activation that the import of Keras brings along."""
from __future__ import annotations

from typing import Any

import numpy as np

from dl4py.layers import ConvolutionLayer, DenseLayer, InputType, SpatialDropout
from dl4py.layers.types.formats import CNN2DFormat, CNN3DFormat, RNNFormat
from dl4py.networks.keras.own import (
                        activations,
                        attention,
                        channel_dropout,
                        conv_lstm,
                        convolution,
                        losses,
                        masking,
                        merging,
                        normalization,
                        operations,
                        positions,
                        recurrent,
                        shaping,
                        states,
                        steps,
)

RNG = np.random.default_rng(4)
ROWS, SERIES = InputType.feed_forward(4), InputType.recurrent(3, 5, RNNFormat.NWC)
IMAGE = InputType.convolutional(4, 5, 6, CNN2DFormat.NHWC)
FILM = InputType.convolutional3d(CNN3DFormat.NDHWC, 3, 3, 4, 2)
THIN: dict[str, Any] = {"kernel_size": (2, 1), "stride": (1, 1), "dilation": (1, 1), "padding": (0, 0), "convolution_mode": "Same",
                        "data_format": "NHWC", "activation": "tanh"}

LAYERS: list[tuple[Any, Any]] = [
    (masking.Masking(mask_value=0.5), SERIES), (masking.Unmasked(), SERIES),
    (positions.PositionDense(n_in=3, n_out=2, activation="tanh"), SERIES),
    (positions.PositionDense(n_in=4, n_out=2, activation="tanh"), ROWS),
    (positions.PositionDense(n_in=6, n_out=2, activation="softmax"), IMAGE),
    (positions.PositionNormalization(n_in=3, n_out=3, axis=2, use_log_std=False), SERIES),
    (positions.PositionNormalization(n_in=4, n_out=4, center=False), ROWS),
    (positions.EachStep(underlying=DenseLayer(n_in=3, n_out=2, activation="tanh"), steps=5, shape=(3,), result=(2,)), SERIES),
    (positions.SeparableConvolution1D(n_in=3, n_out=2, depth_multiplier=2, **THIN), SERIES),
    (positions.DepthwiseConvolution1D(n_in=3, n_out=6, depth_multiplier=2, **THIN), SERIES),
    (positions.Deconvolution1D(n_in=3, n_out=2, **THIN), SERIES),
    (normalization.LayerNormalization(shape=(3,), axes=(2,)), SERIES),
    (normalization.LayerNormalization(shape=(4,), axes=(1,), centered=False, center=False), ROWS),
    (normalization.GroupNormalization(shape=(1, 1, 6), groups=3, axis=3, sizes=(4, 5, 6)), IMAGE),
    (normalization.UnitNormalization(axes=(2,)), SERIES),
    (normalization.Rescaling(scale=(0.5,), offset=(1.0, 2.0, 3.0)), SERIES),
    (normalization.FixedNormalization(shape=(1, 3)), SERIES), (normalization.FixedNormalization(shape=(4,), invert=True), ROWS),
    (channel_dropout.ChannelDropout(dropout=SpatialDropout(0.5)), SERIES),
    (shaping.ReshapeLayer(sizes=(3, 5)), SERIES), (shaping.ReshapeLayer(sizes=(-1,)), SERIES), (shaping.PermuteLayer(order=(2, 1)), SERIES),
    (shaping.Padding(before=(1, 0), after=(2, 0), value=0.5), SERIES), (shaping.Cropping(before=(1, 0), after=(2, 0)), SERIES),
    (shaping.RepetitionLayer(times=(2, 3, 1)), IMAGE),
    *((shaping.ResizedPictures(size=(3, 7), method=method), IMAGE) for method in ("nearest", "bilinear", "bicubic")),
    *((conv_lstm.ConvolutionalLSTM(n_in=2, n_out=2, kernel_size=(2, 1), activation="tanh", recurrent_activation="sigmoid", **options), FILM)
      for options in ({"same": True, "go_backwards": True}, {"return_sequences": False, "has_bias": False, "stride": (1, 2)})),
    (conv_lstm.ConvolutionalLSTM(n_in=6, n_out=2, kernel_size=(2,), stride=(1,), dilation=(1,), activation="tanh",
                                 recurrent_activation="sigmoid"), IMAGE),
    (convolution.GroupedConvolution(underlying=ConvolutionLayer(
        n_in=3, n_out=4, kernel_size=(2, 2), data_format="NHWC", convolution_mode="Same", activation="tanh"), groups=2), IMAGE),
    (convolution.CutDeconvolution(n_in=3, n_out=2, kernel_size=(3,), stride=(2,), before=(1,), after=(-1,), activation="tanh"), SERIES),
    (convolution.CutDeconvolution(n_in=6, n_out=2, kernel_size=(2, 1), stride=(1, 2), dilation=(2, 1), before=(0, 0), after=(1, -1),
                                  activation="tanh"), IMAGE),
    (positions.EinsumDense(equation="abc,cde->abde", weight_shape=(3, 2, 2), bias_shape=(2, 1), result=(5, 2, 2), activation="tanh"),
     SERIES),
    (steps.FoldSteps(), IMAGE), (states.StepsOf(step=-2), SERIES), (states.StepsOf(without=2), SERIES), (states.ReversedSteps(), SERIES),
    *((recurrent.Recurrent(cell=cell, n_in=3, n_out=2, activation="tanh", **options), SERIES)
      for cell, options in (("lstm", {}), ("simple", {"go_backwards": True}), ("gru", {"return_sequences": False}),
                            ("gru", {"reset_after": False, "has_bias": False})))]

#: Their inputs are whole numbers.
EMBEDDING = masking.MaskedEmbedding(n_in=6, n_out=3, activation="identity", output_format=RNNFormat.NWC)

CELL = recurrent.Recurrent(cell="lstm", n_in=3, n_out=2, activation="tanh")
VERTICES: list[tuple[Any, tuple[Any, ...]]] = [
    *((merging.ArithmeticVertex(function), (ROWS, RNG.normal(size=(3, 4)) + 3)) for function in merging.METHODS),
    (merging.ArithmeticVertex("add"), (SERIES, InputType.feed_forward(3))),
    (merging.DotProduct((2, 2), True), (SERIES, SERIES)), (merging.DotProduct((1, 2)), (InputType.feed_forward(3), SERIES)),
    (merging.AffineVertex(2.0, 1.0), (ROWS,)), (merging.AffineVertex(2.0, 1.0, True), (ROWS,)),
    (attention.MultiHeadAttention(n_in_queries=3, n_in_keys=3, n_in_values=3, n_heads=2, head_size=2, value_size=2, n_out=4),
     (SERIES, SERIES)),
    (attention.MultiHeadAttention(n_in_queries=3, n_in_keys=3, n_in_values=3, n_heads=4, key_heads=2, head_size=2, value_size=3, n_out=4,
                                  causal=True, has_bias=False), (SERIES, SERIES)),
    (attention.Attention(scores=True, causal=True), (SERIES, SERIES)),
    (states.RecurrentVertex(CELL, True), (SERIES, InputType.feed_forward(2), InputType.feed_forward(2))),
    (steps.UnfoldSteps(), (RNG.normal(size=(15, 4)), RNG.normal(size=(3, 5, 2)))),
    (operations.OperationVertex("Mean", '{"args": [{"input": 0}], "kwargs": {"axis": 1}}'), (SERIES,)),
    (attention.Attention(scale_shape=()), (SERIES, SERIES)), (attention.Attention(additive=True, scale_shape=(3,)), (SERIES, SERIES))]

#: All but "exponential", which grows beyond float32.
ACTIVATIONS: list[Any] = [
    *(activations.KerasActivation(name) for name in activations.FORMULAS if name != "exponential"), activations.SoftmaxAlong(-1)]

N, K = 4, 3
Z, ONE_HOT = RNG.normal(size=(N, K)), np.eye(K)[RNG.integers(0, K, N)]
LOSSES: list[tuple[Any, Any, Any, str]] = [
    *((losses.KerasLoss(name), RNG.random((N, K)), Z, "tanh") for name in ("huber", "log_cosh")),
    *((losses.KerasLoss(name, classes=K), ONE_HOT, Z, "softmax")
      for name in ("binary_crossentropy", "categorical_crossentropy", "categorical_hinge")),
    *((losses.KerasLoss(name, from_logits=True, label_smoothing=0.1, classes=K), ONE_HOT, Z, "identity")
      for name in ("binary_crossentropy", "categorical_crossentropy")),
    *((losses.KerasLoss(name), np.sign(Z[::-1]), Z, "tanh") for name in ("hinge", "squared_hinge")),
    (losses.KerasLoss("poisson"), RNG.random((N, K)), Z, "softplus"),
    (losses.KerasLoss("sparse_categorical_crossentropy"), RNG.integers(0, K, (N, 1)), Z, "softmax")]
