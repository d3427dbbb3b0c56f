"""Layers with parameters, and the modules of PyTorch that are the same; PyTorch is imported by those who ask for modules."""
from __future__ import annotations

from typing import Any

from dl4py.layers import (
    LSTM,
    BatchNormalization,
    Bidirectional,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    Deconvolution2D,
    Deconvolution3D,
    DenseLayer,
    DepthwiseConvolution2D,
    EmbeddingSequenceLayer,
    PReLULayer,
    SelfAttentionLayer,
    SimpleRnn,
)
from dl4py.networks.keras.own.normalization import GroupNormalization, LayerNormalization
from dl4py.networks.keras.own.recurrent import Recurrent

IDENTITY: dict[str, Any] = {"activation": "identity"}
#: Name: the layer, the module as text, the shape of the input (whole numbers: below that), and the order of axes here of what PyTorch has.
LAYERS: dict[str, tuple[Any, str, tuple[int, ...], tuple[int, ...]]] = {
    "Linear": (DenseLayer(n_in=4, n_out=3, **IDENTITY), "Linear(4, 3)", (2, 4), (0, 1)),
    "Conv1d": (Convolution1DLayer(n_in=2, n_out=3, kernel_size=3, convolution_mode="Truncate", **IDENTITY), "Conv1d(2, 3, 3)", (2, 2, 6),
               (0, 1, 2)),
    "Conv2d": (ConvolutionLayer(n_in=2, n_out=3, kernel_size=(3, 2), convolution_mode="Truncate", **IDENTITY), "Conv2d(2, 3, (3, 2))",
               (2, 2, 5, 4), (0, 1, 2, 3)),
    "depthwise Conv2d": (DepthwiseConvolution2D(n_in=2, n_out=4, depth_multiplier=2, kernel_size=2, convolution_mode="Truncate",
                                                has_bias=False, **IDENTITY), "Conv2d(2, 4, 2, groups=2, bias=False)", (2, 2, 4, 4),
                         (0, 1, 2, 3)),
    "Conv3d": (Convolution3D(n_in=2, n_out=3, kernel_size=2, convolution_mode="Truncate", **IDENTITY), "Conv3d(2, 3, 2)", (2, 2, 3, 3, 3),
               (0, 1, 2, 3, 4)),
    "ConvTranspose2d": (Deconvolution2D(n_in=2, n_out=3, kernel_size=3, stride=2, padding=1, convolution_mode="Truncate", **IDENTITY),
                        "ConvTranspose2d(2, 3, 3, 2, 1)", (2, 2, 4, 4), (0, 1, 2, 3)),
    "ConvTranspose3d": (Deconvolution3D(n_in=2, n_out=3, kernel_size=2, convolution_mode="Truncate", **IDENTITY),
                        "ConvTranspose3d(2, 3, 2)", (2, 2, 3, 3, 3), (0, 1, 2, 3, 4)),
    "BatchNorm": (BatchNormalization(n_in=3, n_out=3), "BatchNorm2d(3)", (2, 3, 2, 2), (0, 1, 2, 3)),
    "LayerNorm": (LayerNormalization(axes=(1,), shape=(4,), eps=1e-5), "LayerNorm(4)", (2, 4), (0, 1)),
    "GroupNorm": (GroupNormalization(groups=2, axis=1, sizes=(4, 3, 3), shape=(4, 1, 1), eps=1e-5), "GroupNorm(2, 4)", (2, 4, 3, 3),
                  (0, 1, 2, 3)),
    "Embedding": (EmbeddingSequenceLayer(n_in=7, n_out=3, input_length=4, **IDENTITY), "Embedding(7, 3)", (2, 4, -7), (0, 2, 1)),
    "PReLU": (PReLULayer(input_shape=(3, 2, 2), shared_axes=(2, 3)), "PReLU(3)", (2, 3, 2, 2), (0, 1, 2, 3)),
    "LSTM": (LSTM(n_in=3, n_out=2, activation="tanh"), "LSTM(3, 2, batch_first=True)", (2, 5, 3), (0, 2, 1)),
    "RNN": (SimpleRnn(n_in=3, n_out=2, activation="tanh"), "RNN(3, 2, batch_first=True)", (2, 5, 3), (0, 2, 1)),
    "GRU": (Recurrent(cell="gru", n_in=3, n_out=2, activation="tanh"), "GRU(3, 2, batch_first=True)", (2, 5, 3), (0, 1, 2)),
    "both directions": (Bidirectional(LSTM(n_in=3, n_out=2, activation="tanh")), "LSTM(3, 2, batch_first=True, bidirectional=True)",
                        (2, 5, 3), (0, 2, 1)),
    "attention": (SelfAttentionLayer(n_in=4, n_out=4, n_heads=2, project_input=True), "MultiheadAttention(4, 2, batch_first=True)",
                  (2, 3, 4), (0, 2, 1))}
