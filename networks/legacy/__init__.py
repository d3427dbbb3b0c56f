"""Configurations and updater states of older versions of DL4J (0.5.0 ... beta6) in the form of 1.0.0-M2.1.

References
----------
DL4J ``org.deeplearning4j.nn.conf.serde`` (the legacy deserializers) and the field lists of the released versions.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .documents import class_names, is_before_09, layers_of
from .layers import upgraded_layer
from .state import fill_state
from .wrapper_names import unwrapped

__all__ = ["class_names", "fill_state", "is_before_09", "layers_of", "upgraded_graph", "upgraded_list"]

_OBSOLETE_CONF = {"l1ByParam", "l2ByParam", "learningRateByParam", "learningRatePolicy", "lrPolicyDecayRate", "lrPolicyPower",
                  "lrPolicySteps", "leakyreluAlpha", "numIterations", "useDropConnect", "useRegularization", "extraArgs", "pretrain"}
_OBSOLETE = {"backprop", "pretrain", "legacyBatchScaledL2", "redistributeParams"}


def upgraded_list(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a list network in today's form."""
    made = _without(document, _OBSOLETE)
    if isinstance(made.get("confs"), list):
        made["confs"] = [_conf(c) for c in made["confs"]]
    if isinstance(made.get("inputPreProcessors"), Mapping):
        made["inputPreProcessors"] = {key: unwrapped(p, polymorphic=True) for key, p in made["inputPreProcessors"].items()}
    return made


def upgraded_graph(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a graph in today's form."""
    made = _without(document, _OBSOLETE)
    if "defaultConfiguration" in made:
        made["defaultConfiguration"] = _conf(made["defaultConfiguration"])
    if isinstance(made.get("vertices"), Mapping):
        made["vertices"] = {name: _vertex(v) for name, v in made["vertices"].items()}
    return made


def _vertex(document: Any) -> Any:
    vertex = unwrapped(document, polymorphic=True)
    if isinstance(vertex, dict) and isinstance(vertex.get("layerConf"), dict):
        given = document if "layerConf" in document else next(iter(document.values()))
        vertex["layerConf"] = _conf(given["layerConf"])
    return vertex


def _conf(document: Any) -> Any:
    if not isinstance(document, Mapping):
        return document
    made = _without(document, _OBSOLETE_CONF)
    if isinstance(made.get("layer"), Mapping):
        made["layer"] = upgraded_layer(unwrapped(made["layer"], polymorphic=True), document)
    return made


def _without(document: Mapping[str, Any], keys: set[str]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in keys}
