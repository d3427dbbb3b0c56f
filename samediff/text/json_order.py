"""The order of keys in DL4J's JSON: what a class's JSON constructor takes stands first, the rest follows by the alphabet."""
from __future__ import annotations

from collections.abc import Iterable

_SIZES = ("inputDepth", "inputHeight", "inputWidth", "numChannels")
_LAYERS, _PREPROCESSORS = "org.deeplearning4j.nn.conf.layers.", "org.deeplearning4j.nn.conf.preprocessor."
_KERAS = "org.deeplearning4j.nn.modelimport.keras.preprocessors."

#: The classes of 1.0.0-M2.1 whose keys are not simply sorted.
_FIRST: dict[str, tuple[str, ...]] = {
    "org.nd4j.linalg.learning.config.Nesterovs": ("learningRate", "learningRateSchedule", "momentum", "momentumSchedule"),
    "org.nd4j.linalg.schedule.CycleSchedule": ("annealingDecay", "annealingLength", "cycleLength", "initialLearningRate",
                                               "maxLearningRate", "scheduleType"),
    "org.deeplearning4j.nn.conf.dropout.Dropout": ("p",),
    "org.deeplearning4j.nn.conf.weightnoise.DropConnect": ("applyToBiases", "weightRetainProbSchedule"),
    "org.deeplearning4j.nn.conf.ocnn.OCNNOutputLayer": ("configureR", "hiddenSize", "initialRValue", "nu", "windowSize"),
    "org.deeplearning4j.preprocessors.ReshapePreprocessor": ("hasMiniBatchDimension", "inputShape", "targetShape"),
    _LAYERS + "misc.FrozenLayer": ("layer",),
    _LAYERS + "recurrent.TimeDistributed": ("rnnDataFormat", "underlying"),
    _LAYERS + "util.MaskZeroLayer": ("maskingValue", "underlying"),
    _PREPROCESSORS + "Cnn3DToFeedForwardPreProcessor": _SIZES,
    _PREPROCESSORS + "FeedForwardToCnn3DPreProcessor": _SIZES,
    _KERAS + "TensorFlowCnnToFeedForwardPreProcessor": _SIZES[1:],
}


def key_order(java_name: str | None, keys: Iterable[str]) -> list[str]:
    """The keys of an object of that class as Jackson writes them.

    Examples
    --------
    >>> key_order("org.deeplearning4j.nn.conf.dropout.Dropout", ["pschedule", "helperAllowFallback", "p"])
    ['p', 'helperAllowFallback', 'pschedule']
    """
    first = _FIRST.get(java_name or "", ())
    return sorted(keys, key=lambda key: (first.index(key) if key in first else len(first), key))
