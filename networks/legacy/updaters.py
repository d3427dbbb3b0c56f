"""Updaters of versions up to 0.8: a name beside numbers of the layer."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ...samediff.errors import ConfigurationError

_ADAM = {"learningRate": "learningRate", "beta1": "adamMeanDecay", "beta2": "adamVarDecay", "epsilon": "epsilon"}
_UPDATERS: dict[str, tuple[str, dict[str, str]]] = {    # class, and the key of the layer that each of its numbers has
    "SGD": ("Sgd", {"learningRate": "learningRate"}),
    "ADAM": ("Adam", _ADAM),
    "ADAMAX": ("AdaMax", _ADAM),
    "NADAM": ("Nadam", _ADAM),
    "ADADELTA": ("AdaDelta", {"rho": "rho", "epsilon": "epsilon"}),
    "NESTEROVS": ("Nesterovs", {"learningRate": "learningRate", "momentum": "momentum"}),
    "ADAGRAD": ("AdaGrad", {"learningRate": "learningRate", "epsilon": "epsilon"}),
    "RMSPROP": ("RmsProp", {"learningRate": "learningRate", "rmsDecay": "rmsDecay", "epsilon": "epsilon"}),
    "NONE": ("NoOp", {}),
}
KEYS = {"updater", "biasLearningRate", "learningRateSchedule", "momentumSchedule",
        *(key for _, numbers in _UPDATERS.values() for key in numbers.values())}
PACKAGE = "org.nd4j.linalg.learning.config."


def number(document: Mapping[str, Any], key: str) -> float | None:
    """The number under a key, None where there is none or NaN (how old versions said "not set")."""
    value = document.get(key)
    if value is None:
        return None
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise ConfigurationError(f"{key}: expected a number; got {value!r:.60}") from None
    return None if math.isnan(found) else found


def updaters_of(layer: Mapping[str, Any]) -> dict[str, Any]:
    """``iupdater`` of a layer, and ``biasUpdater`` where biases have a learning rate of their own."""
    name = str(layer["updater"]).upper()
    if name not in _UPDATERS:
        raise ConfigurationError(f"updater {name} of an old configuration has no equivalent; known are {', '.join(_UPDATERS)}")
    cls, numbers = _UPDATERS[name]
    values = {key: found for key, old in numbers.items() if (found := number(layer, old)) is not None}
    made: dict[str, Any] = {"iupdater": {"@class": PACKAGE + cls, **values}}
    bias = number(layer, "biasLearningRate")
    if bias is not None and bias != values.get("learningRate", bias):
        made["biasUpdater"] = {"@class": PACKAGE + cls, **values, "learningRate": bias}
    return made
