"""Version of DL4J that wrote a configuration."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .documents import layer_documents


def written_by(document: Mapping[str, Any], rank: int = 2) -> str:
    """The versions that write such a configuration; ``rank`` is the number of axes of the stored parameters."""
    layers = [layer for _, layer in layer_documents(document)]
    keys = {key for layer in layers for key in layer}
    if any("." not in str(layer.get("@class")) for layer in layers):        # named by wrappers
        named = any(isinstance(layer.get("updater"), str) for layer in layers)
        return ("0.5.0 ... 0.7.1" if "activationFunction" in keys else "0.7.2 ... 0.8.0" if named and "iupdater" not in keys
                else "0.9.0 ... 0.9.1" if named else "1.0.0-alpha")
    if keys & {"weightInit", "l1", "dist"} and "weightInitFn" not in keys:
        return "1.0.0-beta ... beta3"
    if not keys & {"rnnDataFormat", "cnn2dDataFormat", "cnn2DFormat", "timeDistributedFormat", "format", "dataFormat"}:
        return "1.0.0-beta4 ... beta6"
    return "1.0.0-M2.1" if rank == 1 else "1.0.0-beta7 or later"
