"""Configurations with changed layers."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...samediff.training import Schedule
from ...samediff.training.updaters.updater import IUpdater
from .configuration import ComputationGraphConfiguration, LayerVertex, MultiLayerConfiguration


def with_layers(configuration: MultiLayerConfiguration | ComputationGraphConfiguration, change: Callable[[str, Any], Any]) -> Any:
    """The configuration with every layer replaced by ``change(key, layer)``."""
    if isinstance(configuration, MultiLayerConfiguration):
        return configuration.replace(confs=tuple(c.replace(layer=change(str(i), c.layer)) for i, c in enumerate(configuration.confs)))

    def changed(name: str, vertex: Any) -> Any:
        if not isinstance(vertex, LayerVertex):
            return vertex
        return vertex.replace(layer_conf=vertex.layer_conf.replace(layer=change(name, vertex.layer)))
    return configuration.replace(vertices={n: changed(n, v) for n, v in configuration.vertices.items()})


def with_rate(layer: Any, rate: float | Schedule) -> Any:
    """A layer, and layers inside it, with another learning rate in every updater that has one."""
    changes: dict[str, Any] = {}
    for name in type(layer)._fields:
        value = getattr(layer, name)
        if isinstance(value, IUpdater) and value.has_learning_rate():
            changes[name] = value.with_learning_rate(rate)  # type: ignore[attr-defined]  # all that have a rate
        elif hasattr(value, "parameter_table"):
            changes[name] = with_rate(value, rate)
    return layer.replace(**changes) if changes else layer
