"""Layers of older versions in today's form."""
from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from ...samediff.configuration.classes import is_registered
from ...samediff.configuration.configuration import Configuration
from .updaters import KEYS as UPDATER_KEYS
from .updaters import number, updaters_of

_CONF = "org.deeplearning4j.nn.conf."
_REGULARIZATION = "org.nd4j.linalg.learning.regularization."
_INNER = ("layer", "underlying", "fwd", "bwd")
_LOSSES = {"SQUARED_LOSS": "L2"}
_OBSOLETE = {"activationFunction", "weightInit", "dist", "weightInitRecurrent", "distRecurrent", "l1", "l2", "l1Bias", "l2Bias", "biasL1",
             "biasL2", "dropOut", "pretrain", "legacyBatchScaledL2", "lossFunction", *UPDATER_KEYS}
# what versions before such a key did
_ABSENT: dict[str, dict[str, Any]] = {
    "EmbeddingLayer": {"hasBias": True},
    "EmbeddingSequenceLayer": {"inferInputLength": False},
    "SubsamplingLayer": {"avgPoolIncludePadInDivisor": True},
    "Subsampling1DLayer": {"avgPoolIncludePadInDivisor": True},
}


def upgraded_layer(layer: Mapping[str, Any], conf: Mapping[str, Any]) -> dict[str, Any]:
    """A layer's document, whose objects name their classes, in today's form; ``conf`` is the configuration around it."""
    if "@class" in layer and not is_registered(str(layer["@class"])):
        return dict(layer)          # what of it would be old, nobody knows
    cls = Configuration._class_of(layer) if "@class" in layer else Configuration
    known = {info.json for info in cls._fields.values()}
    made = _ABSENT.get(cls.__name__, {}) | dict(layer)
    for key in _INNER:
        if key in known and isinstance(made.get(key), Mapping):
            made[key] = upgraded_layer(made[key], conf)
    if cls.__name__ == "BatchNormalization":
        made |= _log_std(conf)
    if made.get("regularization") is not None or not (_OBSOLETE - known) & set(made):
        return made
    for key, convert in _CONVERSIONS.items():
        if key in known and made.get(key) is None:
            made |= convert(made, conf)
    if "gainInit" in known:
        made.setdefault("gainInit", 0.0)
    _warn_of_schedules(made, conf)
    return {key: value for key, value in made.items() if key in known or key not in _OBSOLETE}


def _log_std(conf: Mapping[str, Any]) -> dict[str, bool]:
    """Which of the two it is the list of parameters says, in files of every version."""
    stored = conf.get("variables")
    names = {str(v).rsplit("_", 1)[-1] for v in stored} if isinstance(stored, list) else set()
    return {"useLogStd": "var" not in names} if names & {"var", "log10stdev"} else {}


def _activation(layer: Mapping[str, Any], conf: Mapping[str, Any]) -> dict[str, Any]:
    return {"activationFn": layer["activationFunction"]} if "activationFunction" in layer else {}


def _loss(layer: Mapping[str, Any], conf: Mapping[str, Any]) -> dict[str, Any]:
    name = layer.get("lossFunction")
    return {"lossFn": _LOSSES.get(name, name)} if isinstance(name, str) else {}


def _weight_init(layer: Mapping[str, Any], conf: Mapping[str, Any]) -> dict[str, Any]:
    name, dist = layer.get("weightInit"), layer.get("dist")
    if name == "DISTRIBUTION" and dist is not None:
        return {"weightInitFn": {"@class": "org.deeplearning4j.nn.weights.WeightInitDistribution", "distribution": dist}}
    return {} if name in (None, "DISTRIBUTION") else {"weightInitFn": name}


def _penalties(layer: Mapping[str, Any], conf: Mapping[str, Any], suffix: str) -> list[dict[str, Any]]:
    if conf.get("useRegularization") is False:
        return []
    l1, l2 = number(layer, "l1" + suffix), number(layer, "l2" + suffix)
    made: list[dict[str, Any]] = []
    if l1:
        made.append({"@class": _REGULARIZATION + "L1Regularization",
                     "l1": {"@class": "org.nd4j.linalg.schedule.FixedSchedule", "value": l1}})
    if l2:      # it was added behind the updater
        made.append({"@class": _REGULARIZATION + "WeightDecay", "coeff": {"@class": "org.nd4j.linalg.schedule.FixedSchedule", "value": l2},
                     "applyLR": False})
    return made


def _regularization(layer: Mapping[str, Any], conf: Mapping[str, Any]) -> dict[str, Any]:
    return {"regularization": _penalties(layer, conf, "")}


def _bias_regularization(layer: Mapping[str, Any], conf: Mapping[str, Any]) -> dict[str, Any]:
    return {"regularizationBias": _penalties(layer, conf, "Bias")}


def _updater(layer: Mapping[str, Any], conf: Mapping[str, Any]) -> dict[str, Any]:
    return updaters_of(layer) if isinstance(layer.get("updater"), str) else {}


def _dropout(layer: Mapping[str, Any], conf: Mapping[str, Any]) -> dict[str, Any]:
    keep = number(layer, "dropOut")
    if not keep:
        return {}
    if conf.get("useDropConnect"):
        return {"weightNoise": {"@class": _CONF + "weightnoise.DropConnect", "weightRetainProb": keep, "applyToBiases": False}}
    return {"idropout": {"@class": _CONF + "dropout.Dropout", "p": keep}}


_CONVERSIONS = {"activationFn": _activation, "lossFn": _loss, "weightInitFn": _weight_init, "regularization": _regularization,
                "regularizationBias": _bias_regularization, "iupdater": _updater, "idropout": _dropout}


def _warn_of_schedules(layer: Mapping[str, Any], conf: Mapping[str, Any]) -> None:
    policy = conf.get("learningRatePolicy")
    dropped = [key for key in ("learningRateSchedule", "momentumSchedule") if layer.get(key)]
    if policy not in (None, "None"):
        dropped.append(f"learningRatePolicy {policy}")
    if dropped:
        name = layer.get("layerName") or str(layer.get("@class")).rsplit(".", 1)[-1]
        warnings.warn(f"layer {name}: {', '.join(dropped)} of the old configuration is dropped, as DL4J does since beta5; "
                      "set the updater's learning_rate_schedule to train on", stacklevel=2)
