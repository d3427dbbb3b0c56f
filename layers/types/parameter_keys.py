"""Names of the parameters of each layer, where DL4J keeps them: ``net.get_param("0_" + DefaultParamInitializer.WEIGHT_KEY)``."""
from __future__ import annotations

from typing import ClassVar

__all__ = [
    "BatchNormalizationParamInitializer", "BidirectionalParamInitializer", "CenterLossParamInitializer", "Convolution3DParamInitializer",
    "ConvolutionParamInitializer", "Deconvolution3DParamInitializer", "DeconvolutionParamInitializer", "DefaultParamInitializer",
    "DepthwiseConvolutionParamInitializer", "ElementWiseParamInitializer", "EmbeddingLayerParamInitializer",
    "GravesBidirectionalLSTMParamInitializer", "GravesLSTMParamInitializer", "LSTMParamInitializer", "OCNNParamInitializer",
    "PReLUParamInitializer", "PretrainParamInitializer", "SeparableConvolutionParamInitializer", "SimpleRnnParamInitializer",
    "VariationalAutoencoderParamInitializer",
]


class DefaultParamInitializer:
    """Keys of the parameters of dense, output and embedding layers: weights, biases, gains of layer normalization."""

    WEIGHT_KEY: ClassVar[str] = "W"
    BIAS_KEY: ClassVar[str] = "b"
    GAIN_KEY: ClassVar[str] = "g"


class EmbeddingLayerParamInitializer(DefaultParamInitializer):
    """Keys of the parameters of embedding layers."""


class ElementWiseParamInitializer(DefaultParamInitializer):
    """Keys of the parameters of ElementWiseMultiplicationLayer."""


class ConvolutionParamInitializer:
    """Keys of the parameters of convolutions."""

    WEIGHT_KEY: ClassVar[str] = "W"
    BIAS_KEY: ClassVar[str] = "b"


class Convolution3DParamInitializer(ConvolutionParamInitializer):
    """Keys of the parameters of Convolution3D."""


class DeconvolutionParamInitializer(ConvolutionParamInitializer):
    """Keys of the parameters of Deconvolution2D."""


class Deconvolution3DParamInitializer(ConvolutionParamInitializer):
    """Keys of the parameters of Deconvolution3D."""


class DepthwiseConvolutionParamInitializer(ConvolutionParamInitializer):
    """Keys of the parameters of DepthwiseConvolution2D."""


class SeparableConvolutionParamInitializer:
    """Keys of the parameters of SeparableConvolution2D: one filter for each channel, then weights between channels."""

    DEPTH_WISE_WEIGHT_KEY: ClassVar[str] = "W"
    POINT_WISE_WEIGHT_KEY: ClassVar[str] = "pW"
    BIAS_KEY: ClassVar[str] = "b"


class PReLUParamInitializer:
    """Keys of the parameters of PReLULayer."""

    WEIGHT_KEY: ClassVar[str] = "W"


class PretrainParamInitializer(DefaultParamInitializer):
    """Keys of the parameters of AutoEncoder: with biases of the visible units."""

    VISIBLE_BIAS_KEY: ClassVar[str] = "vb"


class BatchNormalizationParamInitializer:
    """Keys of the parameters of BatchNormalization; the variance is kept as such or as log10 of the deviation."""

    GAMMA: ClassVar[str] = "gamma"
    BETA: ClassVar[str] = "beta"
    GLOBAL_MEAN: ClassVar[str] = "mean"
    GLOBAL_VAR: ClassVar[str] = "var"
    GLOBAL_LOG_STD: ClassVar[str] = "log10stdev"


class CenterLossParamInitializer(DefaultParamInitializer):
    """Keys of the parameters of CenterLossOutputLayer: with one center for each class."""

    CENTER_KEY: ClassVar[str] = "cL"


class SimpleRnnParamInitializer(DefaultParamInitializer):
    """Keys of the parameters of SimpleRnn."""

    RECURRENT_WEIGHT_KEY: ClassVar[str] = "RW"


class LSTMParamInitializer:
    """Keys of the parameters of LSTM."""

    INPUT_WEIGHT_KEY: ClassVar[str] = "W"
    RECURRENT_WEIGHT_KEY: ClassVar[str] = "RW"
    BIAS_KEY: ClassVar[str] = "b"


class GravesLSTMParamInitializer(LSTMParamInitializer):
    """Keys of the parameters of GravesLSTM; the peepholes are the last columns of the recurrent weights."""


class GravesBidirectionalLSTMParamInitializer:
    """Keys of the parameters of GravesBidirectionalLSTM, for both directions."""

    INPUT_WEIGHT_KEY_FORWARDS: ClassVar[str] = "WF"
    RECURRENT_WEIGHT_KEY_FORWARDS: ClassVar[str] = "RWF"
    BIAS_KEY_FORWARDS: ClassVar[str] = "bF"
    INPUT_WEIGHT_KEY_BACKWARDS: ClassVar[str] = "WB"
    RECURRENT_WEIGHT_KEY_BACKWARDS: ClassVar[str] = "RWB"
    BIAS_KEY_BACKWARDS: ClassVar[str] = "bB"


class BidirectionalParamInitializer:
    """Keys of the parameters of Bidirectional: what stands in front of the names of the wrapped layer."""

    FORWARD_PREFIX: ClassVar[str] = "f"
    BACKWARD_PREFIX: ClassVar[str] = "b"


class VariationalAutoencoderParamInitializer(DefaultParamInitializer):
    """Keys of the parameters of VariationalAutoencoder: encoder layers ``e0W`` …, decoder layers ``d0W`` …, p(z|x) and p(x|z)."""

    WEIGHT_KEY_SUFFIX: ClassVar[str] = "W"
    BIAS_KEY_SUFFIX: ClassVar[str] = "b"
    ENCODER_PREFIX: ClassVar[str] = "e"
    DECODER_PREFIX: ClassVar[str] = "d"
    PZX_PREFIX: ClassVar[str] = "pZX"
    PZX_MEAN_PREFIX: ClassVar[str] = "pZXMean"
    PZX_LOGSTD2_PREFIX: ClassVar[str] = "pZXLogStd2"
    PZX_MEAN_W: ClassVar[str] = "pZXMeanW"
    PZX_MEAN_B: ClassVar[str] = "pZXMeanb"
    PZX_LOGSTD2_W: ClassVar[str] = "pZXLogStd2W"
    PZX_LOGSTD2_B: ClassVar[str] = "pZXLogStd2b"
    PXZ_PREFIX: ClassVar[str] = "pXZ"
    PXZ_W: ClassVar[str] = "pXZW"
    PXZ_B: ClassVar[str] = "pXZb"


class OCNNParamInitializer:
    """Keys of the parameters of OCNNOutputLayer: weights of the hidden layer, of its output, and the margin."""

    V_KEY: ClassVar[str] = "v"
    W_KEY: ClassVar[str] = "w"
    R_KEY: ClassVar[str] = "r"
