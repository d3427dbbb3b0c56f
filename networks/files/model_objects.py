"""Values that are stored with a model, in the entries ``objects/KEY`` of its file."""
from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from ...samediff.codecs.java_values import java_value, read_java_value
from ...samediff.errors import ConfigurationError, UnknownNameError, did_you_mean
from .model_zip import RESERVED, read_model_zip, write_model_zip

_FOLDER = "objects/"
Path = str | os.PathLike[str]


def _objects(path: Path) -> dict[str, bytes]:
    extra = read_model_zip(path, load_updater=False).extra
    return {name.removeprefix(_FOLDER): data for name, data in extra.items() if name.startswith(_FOLDER)}


def stored_keys(path: Path) -> list[str]:
    """The keys, in the order of the file."""
    return list(_objects(path))


def stored_object(path: Path, key: str) -> Any:
    """The value of a key."""
    found = _objects(path)
    if key not in found:
        known = ", ".join(found) or "none"
        raise UnknownNameError(f"{os.fspath(path)} has no object {key!r}{did_you_mean(key, found)}; its objects: {known}")
    return read_java_value(found[key], f"{os.fspath(path)}: object {key}")


def add_object(path: Path, key: str, value: Any) -> None:
    """Store a value under a new key."""
    if not isinstance(key, str) or not key or key in RESERVED:
        raise ConfigurationError(f"the key of an object is a text other than {', '.join(RESERVED)}; got {key!r}")
    model = read_model_zip(path)
    if _FOLDER + key in model.extra:
        raise ConfigurationError(f"{os.fspath(path)} has an object {key!r} already; choose another key")
    write_model_zip(path, replace(model, extra={**model.extra, _FOLDER + key: java_value(value)}))
