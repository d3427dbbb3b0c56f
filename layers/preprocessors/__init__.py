"""Preprocessors: what stands between a layer and the next one when their shapes differ."""

# The rest is written by `python -m dl4py.samediff.tools.exports`: do not edit.
from .base import InputPreProcessor
from .flatten import Cnn3DToFeedForwardPreProcessor, CnnToFeedForwardPreProcessor, TensorFlowCnnToFeedForwardPreProcessor
from .general import ComposableInputPreProcessor, KerasFlattenRnnPreprocessor, PermutePreprocessor, ReshapePreprocessor
from .time_series import CnnToRnnPreProcessor, FeedForwardToRnnPreProcessor, RnnToCnnPreProcessor, RnnToFeedForwardPreProcessor
from .unflatten import FeedForwardToCnn3DPreProcessor, FeedForwardToCnnPreProcessor

__all__ = [
    "Cnn3DToFeedForwardPreProcessor", "CnnToFeedForwardPreProcessor", "CnnToRnnPreProcessor", "ComposableInputPreProcessor",
    "FeedForwardToCnn3DPreProcessor", "FeedForwardToCnnPreProcessor", "FeedForwardToRnnPreProcessor", "InputPreProcessor",
    "KerasFlattenRnnPreprocessor", "PermutePreprocessor", "ReshapePreprocessor", "RnnToCnnPreProcessor", "RnnToFeedForwardPreProcessor",
    "TensorFlowCnnToFeedForwardPreProcessor",
]
