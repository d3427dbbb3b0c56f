"""The JSON of evaluations that say nothing of it themselves: their attributes, by name."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ConfigurationError

_ARRAY = "array"        # the entry of a written array that holds its type


def written(owner: object) -> dict[str, Any]:
    """All attributes of an object, arrays as nested lists with their type."""
    found = {}
    for name, value in vars(owner).items():
        try:
            found[name] = _written(value)
        except TypeError as error:
            raise ConfigurationError(f"{type(owner).__name__} holds {name} = {value!r:.60}, which no JSON can keep: keep numbers, texts, "
                                     "arrays, lists and dicts with text keys, or write document and restore") from error
    return found


def read(document: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that :func:`written` wrote."""
    return {name: _read(value) for name, value in document.items() if not name.startswith("@")}


def _written(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return {_ARRAY: value.dtype.name, "shape": list(value.shape), "values": value.ravel().tolist()}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict) and all(isinstance(k, str) for k in value) and _ARRAY not in value:
        return {k: _written(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_written(v) for v in value]
    raise TypeError(type(value).__name__)


def _read(value: Any) -> Any:
    if isinstance(value, dict) and _ARRAY in value:
        return np.array([_read(v) for v in value["values"]], value[_ARRAY]).reshape(value["shape"])
    if isinstance(value, dict):
        return {k: _read(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_read(v) for v in value]
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value
