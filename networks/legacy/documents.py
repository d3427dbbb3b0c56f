"""Configurations of any version as documents, for what must not depend on the classes that are registered."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...samediff.configuration.missing_class import named_classes
from .wrapper_names import unwrapped


def is_before_09(document: Mapping[str, Any]) -> bool:
    """Whether a configuration is of 0.5.0 ... 0.8.0: its layers name updaters, but hold no object of one."""
    named = False
    for _, layer in layer_documents(document):
        if "iupdater" in layer:
            return False
        named = named or isinstance(layer.get("updater"), str)
    return named


def layers_of(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and class of each layer of a configuration of any version, whether the class is known here or not."""
    return [(str(layer.get("layerName") or key), str(layer.get("@class")).rpartition(".")[2]) for key, layer in layer_documents(document)]


def class_names(document: Mapping[str, Any]) -> Iterator[str]:
    """All classes that a configuration of any version names."""
    for _, layer in layer_documents(document):
        yield from named_classes(layer)
    confs = document.get("confs")
    for conf in confs if isinstance(confs, list) else ():
        yield from named_classes({k: v for k, v in conf.items() if k != "layer"} if isinstance(conf, Mapping) else None)
    vertices, preprocessors = document.get("vertices"), document.get("inputPreProcessors")
    for part in (vertices, preprocessors):
        for value in part.values() if isinstance(part, Mapping) else ():
            found = unwrapped(value, polymorphic=True)
            inner = found.pop("layerConf", None) if isinstance(found, dict) else None
            yield from named_classes(found)
            if isinstance(inner, Mapping):
                yield from named_classes({k: v for k, v in inner.items() if k != "layer"})


def layer_documents(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Key and document of each layer, with its class named."""
    confs = document.get("confs")
    found = [(str(i), c) for i, c in enumerate(confs)] if isinstance(confs, list) else []
    vertices = document.get("vertices")
    for name, vertex in vertices.items() if isinstance(vertices, Mapping) else ():
        body = vertex if not isinstance(vertex, Mapping) or "@class" in vertex else next(iter(vertex.values()), None)
        found.append((name, body.get("layerConf") if isinstance(body, Mapping) else None))
    for key, conf in found:
        layer = conf.get("layer") if isinstance(conf, Mapping) else None
        if isinstance(layer, Mapping):
            yield key, unwrapped(layer, polymorphic=True)
