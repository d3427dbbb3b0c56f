"""Class names of versions up to alpha: ``{"dense": {...}}`` instead of ``{"@class": "...", ...}``."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LAYERS = {
    "autoEncoder": "AutoEncoder", "convolution": "ConvolutionLayer", "convolution1d": "Convolution1DLayer", "gravesLSTM": "GravesLSTM",
    "LSTM": "LSTM", "gravesBidirectionalLSTM": "GravesBidirectionalLSTM", "output": "OutputLayer",
    "CenterLossOutputLayer": "CenterLossOutputLayer", "rnnoutput": "RnnOutputLayer", "loss": "LossLayer", "dense": "DenseLayer",
    "subsampling": "SubsamplingLayer", "subsampling1d": "Subsampling1DLayer", "batchNormalization": "BatchNormalization",
    "localResponseNormalization": "LocalResponseNormalization", "embedding": "EmbeddingLayer", "activation": "ActivationLayer",
    "VariationalAutoencoder": "VariationalAutoencoder", "dropout": "DropoutLayer", "GlobalPooling": "GlobalPoolingLayer",
    "zeroPadding": "ZeroPaddingLayer", "zeroPadding1d": "ZeroPadding1DLayer", "FrozenLayer": "FrozenLayer", "Upsampling2D": "Upsampling2D",
    "Yolo2OutputLayer": "Yolo2OutputLayer", "RnnLossLayer": "RnnLossLayer", "CnnLossLayer": "CnnLossLayer",
    "Bidirectional": "Bidirectional", "SimpleRnn": "SimpleRnn", "ElementWiseMult": "ElementWiseMultiplicationLayer",
    "MaskLayer": "MaskLayer", "MaskZeroLayer": "MaskZeroLayer", "Cropping1D": "Cropping1D", "Cropping2D": "Cropping2D"}
_VERTICES = ("ElementWiseVertex", "MergeVertex", "SubsetVertex", "LayerVertex", "LastTimeStepVertex", "ReverseTimeSeriesVertex",
             "DuplicateToTimeSeriesVertex", "PreprocessorVertex", "StackVertex", "UnstackVertex", "L2Vertex", "ScaleVertex",
             "L2NormalizeVertex")
_PREPROCESSORS = ("cnnToFeedForward", "cnnToRnn", "composableInput", "feedForwardToCnn", "feedForwardToRnn", "rnnToFeedForward", "rnnToCnn")
_ACTIVATIONS = ("Cube", "ELU", "HardSigmoid", "Identity", "LReLU", "RationalTanh", "RectifiedTanh", "SELU", "ReLU", "RReLU", "Sigmoid",
                "Softmax", "SoftPlus", "SoftSign", "TanH")
_LOSSES = ("BinaryXENT", "CosineProximity", "Hinge", "KLD", "MAE", "L1", "MAPE", "MCXENT", "MSE", "L2", "MSLE", "NegativeLogLikelihood",
           "Poisson", "SquaredHinge", "FMeasure")
_RECONSTRUCTIONS = ("Gaussian", "Bernoulli", "Exponential", "Composite")
_DISTRIBUTIONS = ("normal", "gaussian", "uniform", "binomial", "orthogonal", "constant", "logNormal", "truncatedNormal")

WRAPPERS = {
    **_LAYERS, **{n: n for n in _VERTICES},
    **{n: n[0].upper() + n[1:] + "PreProcessor" for n in _PREPROCESSORS},
    **{n: "Activation" + n for n in _ACTIVATIONS}, "HardTanh": "ActivationHardTanH", "SWISH": "ActivationSwish",
    **{n: "Loss" + n for n in _LOSSES},
    **{n: n + "ReconstructionDistribution" for n in _RECONSTRUCTIONS}, "LossWrapper": "LossFunctionWrapper"}
DISTRIBUTIONS = {n: n[0].upper() + n[1:] + "Distribution" for n in _DISTRIBUTIONS}
_ABSENT = {"LossMCXENT": {"softmaxClipEps": 0.0}}      # what wrapped objects lack, and readers since beta5 take
_OBSOLETE = ("configProperties", "numOutputs")          # keys of losses without a meaning


def unwrapped(value: Any, polymorphic: bool = False) -> Any:
    """Give every object in a JSON document the key that names its class.

    ``polymorphic`` says that ``value`` itself names a class in one form or the other: then a wrapper may have any name (those
    of user classes).
    """
    if isinstance(value, list):
        return [unwrapped(v) for v in value]
    if isinstance(value, (str, int, float)) or not isinstance(value, Mapping):      # most are plain
        return value
    if len(value) == 1:
        ((name, body),) = value.items()
        if isinstance(body, Mapping) and (polymorphic or name in WRAPPERS or name in DISTRIBUTIONS):
            value = _named(name, body)
    is_loss = str(value.get("@class")).rpartition(".")[2].startswith("Loss")
    return {key: unwrapped(v) for key, v in value.items() if not (is_loss and key in _OBSOLETE)}


def _named(name: str, body: Mapping[str, Any]) -> dict[str, Any]:
    if name in DISTRIBUTIONS:
        return {"type": DISTRIBUTIONS[name], **body}
    found = WRAPPERS.get(name, name)
    return {"@class": found, **_ABSENT.get(found, {}), **body}
