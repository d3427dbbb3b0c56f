"""DL4J's kinds of layers."""
from __future__ import annotations

from enum import Enum
from typing import Any

from ...samediff.base.javanames import JavaSpelling


class LayerType(JavaSpelling, Enum):
    """What ``net.get_layer(0).type()`` answers."""

    FEED_FORWARD = "FEED_FORWARD"
    RECURRENT = "RECURRENT"
    CONVOLUTIONAL = "CONVOLUTIONAL"
    CONVOLUTIONAL3D = "CONVOLUTIONAL3D"
    SUBSAMPLING = "SUBSAMPLING"
    UPSAMPLING = "UPSAMPLING"
    RECURSIVE = "RECURSIVE"
    MULTILAYER = "MULTILAYER"
    NORMALIZATION = "NORMALIZATION"


# As DL4J answers, irregularities included; all others are FEED_FORWARD.
_NAMES = {
    LayerType.RECURRENT: "AbstractLSTM LSTM GravesLSTM GravesBidirectionalLSTM SimpleRnn Bidirectional RnnOutputLayer RnnLossLayer "
                         "EmbeddingSequenceLayer ZeroPadding1DLayer",
    LayerType.CONVOLUTIONAL: "ConvolutionLayer Convolution1DLayer Convolution3D Deconvolution2D DepthwiseConvolution2D "
                             "SeparableConvolution2D CnnLossLayer Cropping1D Cropping2D SpaceToBatchLayer SpaceToDepthLayer "
                             "ZeroPaddingLayer ZeroPadding3DLayer",
    LayerType.CONVOLUTIONAL3D: "Cnn3DLossLayer Cropping3D",
    LayerType.SUBSAMPLING: "SubsamplingLayer Subsampling1DLayer Subsampling3DLayer GlobalPoolingLayer",
    LayerType.UPSAMPLING: "Upsampling1D Upsampling2D Upsampling3D RepeatVector",
    LayerType.NORMALIZATION: "BatchNormalization LocalResponseNormalization",
    LayerType.FEED_FORWARD: "Deconvolution3D LastTimeStep",
}
_TYPES = {name: kind for kind, names in _NAMES.items() for name in names.split()}


def type_of(conf: Any) -> LayerType:
    """The kind of a layer, by its class or a base of it; wrappers have that of the layer inside."""
    for cls in type(conf).__mro__:
        if cls.__name__ in _TYPES:
            return _TYPES[cls.__name__]
    inside = getattr(conf, "underlying", None) or getattr(conf, "layer", None)
    return LayerType.FEED_FORWARD if inside is None else type_of(inside)
