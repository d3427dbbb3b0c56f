"""Values of configuration fields: conversion by annotation, comparison, and their form in JSON and YAML."""
from __future__ import annotations

import dataclasses
import inspect
import math
import sys
import types
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, Union, get_args, get_origin

import numpy as np

from ..base.datatype import DataType, is_floating
from ..base.home import module_of
from ..base.javanames import squash, to_camel
from ..errors import ConfigurationError, did_you_mean
from ..expressions.arrays import to_numpy
from ..text import java_yaml
from ..text.java_text import layout
from .classes import find_class, read_named

_LONG = 2**63


class FieldInfo:
    """One field of a configuration class."""

    def __init__(self, source: dataclasses.Field[Any], owner: type) -> None:
        self.name = source.name
        self.annotation = source.type
        self.source = source
        self.owner = owner
        self.json: str = source.metadata.get("json") or jackson_key(self.name)
        self.aliases: tuple[str, ...] = source.metadata.get("aliases", ())
        self.omit_none: bool = source.metadata.get("omit_none", False)
        self.saved: bool = source.metadata.get("saved", True)
        self.required = source.default is dataclasses.MISSING and source.default_factory is dataclasses.MISSING
        self._hint: Any = None
        self._default: Any = dataclasses.MISSING

    def default(self) -> Any:
        """The default as the annotation wants it."""
        if self.source.default_factory is not dataclasses.MISSING:
            return self.source.default_factory()
        if self._default is dataclasses.MISSING:
            given = self.source.default
            self._default = given if given is None or self.required else convert(given, self.hint(), f"{self.owner.__name__}.{self.name}")
        return self._default

    def hint(self) -> Any:
        """The annotation as a type; names that exist for type checkers only mean that anything goes."""
        if self._hint is None:
            home = next(c for c in self.owner.__mro__ if self.name in inspect.get_annotations(c))
            text = inspect.get_annotations(home)[self.name]
            try:
                self._hint = eval(text, vars(sys.modules[module_of(home)])) if isinstance(text, str) else text
            except (NameError, AttributeError, TypeError):
                self._hint = Any
        return self._hint

    def optional(self) -> bool:
        """True when None is one of the values."""
        return self.hint() is Any or type(None) in get_args(self.hint()) or self.default_is_none()

    def default_is_none(self) -> bool:
        return not self.required and self.source.default is None


@lru_cache(maxsize=4096)
def jackson_key(name: str) -> str:
    """Return Jackson's key for a getter: all leading capitals of ``NIn`` go lower case (``nin``)."""
    camel = to_camel(name)
    if camel[1:2].isupper():
        end = next((i for i in range(1, len(camel)) if not camel[i].isupper()), len(camel))
        camel = camel[:end].lower() + camel[end:]
    return camel


def convert(value: Any, hint: Any, where: str) -> Any:
    """Return ``value`` as the annotation ``hint`` wants it; a :class:`ConfigurationError` names ``where``."""
    if value is None or hint is Any:
        return value if not isinstance(value, Mapping) else _convert_named(value)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _convert_union(value, [a for a in get_args(hint) if a is not type(None)], where)
    if origin is tuple or hint is tuple:
        return _convert_tuple(value, get_args(hint), where)
    if origin is dict or hint is dict:
        return _convert_dict(value, get_args(hint), where)
    if origin is np.ndarray:
        return _convert_array(value)
    if isinstance(hint, type):
        return _convert_plain(value, hint, where)
    return value


def _convert_named(value: Mapping[str, Any]) -> Any:
    """A JSON object that names its class becomes that object even where the field takes anything."""
    if isinstance(value.get("@class"), str) and "." in value["@class"]:
        return read_named(value)
    name = value.get("type")
    return find_class(name).from_document(value) if isinstance(name, str) and "." in name else value


def _convert_union(value: Any, hints: list[Any], where: str) -> Any:
    if len(hints) == 1:
        return convert(value, hints[0], where)
    problems = []
    for hint in hints:
        if isinstance(hint, type) and isinstance(value, hint) and not isinstance(value, bool):
            return value
    for hint in hints:
        try:
            return convert(value, hint, where)
        except ConfigurationError as problem:
            problems.append(str(problem))
    raise ConfigurationError("; or ".join(problems))


def _convert_tuple(value: Any, hints: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    items = tuple(value) if isinstance(value, (tuple, list, set, frozenset, range)) else (value,)
    if not hints:
        return items
    kinds = hints[:1] * len(items) if hints[-1] is Ellipsis else hints
    if len(items) != len(kinds):
        raise ConfigurationError(f"{where}: expected {len(kinds)} values; got {len(items)}: {short(value)}")
    if any(v is None and isinstance(h, type) for v, h in zip(items, kinds)):
        raise ConfigurationError(f"{where}: None is not among the values that it takes; got {short(value)}")
    return tuple(convert(v, h, where) for v, h in zip(items, kinds))


def _convert_dict(value: Any, hints: tuple[Any, ...], where: str) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{where}: expected a mapping; got {short(value)}")
    key, item = hints or (Any, Any)
    wrong = [k for k in value if key is int and not _is_whole(k)]
    if wrong:
        raise ConfigurationError(f"{where}: the keys are whole numbers; got {short(wrong[0])}")
    return {(int(k) if key is int else k): convert(v, item, where) for k, v in value.items()}


def _is_whole(key: Any) -> bool:
    return isinstance(key, int) or (isinstance(key, str) and key.removeprefix("-").isdecimal() and len(key) < 20)


def _convert_plain(value: Any, hint: type, where: str) -> Any:
    of = getattr(hint, "of", None)
    if issubclass(hint, Enum):
        return _convert_enum(value, hint, where)
    if hint is np.ndarray:
        return _convert_array(value)
    if isinstance(value, hint) and hint is not int:
        return value
    if of is not None:
        try:
            return of(value)
        except ConfigurationError as problem:
            raise ConfigurationError(f"{where}: {problem}") from None
        except OverflowError as problem:
            raise ConfigurationError(f"{where}: {problem}; got {short(value)}") from None
    if hint is float:
        return _convert_float(value, where)
    if hint is int:
        return _convert_int(value, where)
    if hint is bool and isinstance(value, np.bool_):
        return bool(value)
    if hint in (bool, str):
        raise ConfigurationError(f"{where}: expected {hint.__name__}; got {short(value)}")
    return value


def _convert_enum(value: Any, hint: type[Enum], where: str) -> Enum:
    if isinstance(value, hint):
        return value
    if hint is DataType and not isinstance(value, str):
        return DataType.of(value)
    found = _spellings(hint).get(squash(value)) if isinstance(value, str) else None
    if found is None:
        hint_text = did_you_mean(str(value), hint.__members__) or f"; one of {', '.join(hint.__members__)}"
        raise ConfigurationError(f"{where}: {short(value)} is not a {hint.__name__}{hint_text}")
    return found


@lru_cache(maxsize=1024)
def _spellings(hint: type[Enum]) -> dict[str, Enum]:
    return {squash(k): m for name, m in hint.__members__.items() for k in (name, str(m.value))}


def _convert_float(value: Any, where: str) -> float:
    if not isinstance(value, (bool, np.bool_)):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            pass
    raise ConfigurationError(f"{where}: expected a number; got {short(value)}")


def _convert_int(value: Any, where: str) -> int:
    whole = isinstance(value, (int, np.integer)) or is_whole_float(value) or (isinstance(value, str) and _is_whole(value))
    if not whole or isinstance(value, bool):
        raise ConfigurationError(f"{where}: expected a whole number; got {short(value)}")
    number = int(value)
    if not -_LONG <= number < _LONG:
        raise ConfigurationError(f"{where}: {short(number)} is out of the range of 64 bits")
    return number


def is_whole_float(value: Any) -> bool:
    """Whether a value is a float without a fraction; it may stand for a whole number."""
    return isinstance(value, (float, np.floating)) and float(value).is_integer()


def _convert_array(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, Mapping) and {"dataType", "shape", "data"} <= set(value):
        numbers = np.array([float(v) for v in value["data"]])
        return numbers.astype(DataType.of(value["dataType"]).numpy).reshape([int(n) for n in value["shape"]])
    return to_numpy(value)


def same(a: Any, b: Any) -> bool:
    """Equality of values, where NaN equals NaN and arrays compare by content."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
            return False
        return np.array_equal(a, b, equal_nan=is_floating(a.dtype) and is_floating(b.dtype))
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(v, b[k]) for k, v in a.items())
    return bool(a == b)


def short(value: Any) -> str:
    """The beginning of a value's source text, for messages; Python refuses to print very long numbers."""
    try:
        return f"{value!r:.60}"
    except ValueError:
        return f"a {type(value).__name__} of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"


def show(value: Any) -> str:
    """Return the value as source text: enums as ``Type.NAME``."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, (tuple, list)):
        inner = ", ".join(map(show, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)


def encode(value: Any) -> Any:
    """Return ``value`` as JSON has it: NaN and infinities as text, enums by name, arrays by type, shape and data."""
    document = getattr(value, "to_document", None)
    if document is not None:
        return document()
    if isinstance(value, Enum):
        return value.value if isinstance(value.value, str) else value.name
    if isinstance(value, (float, np.floating)) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, np.ndarray):
        short = value.dtype == np.float32  # the shortest text that gives the same float32
        flat = [encode(float(str(v)) if short else v) for v in (value.ravel() if short else value.ravel().tolist())]
        return {"dataType": DataType.of(value).name, "shape": list(value.shape), "data": flat}
    if isinstance(value, (tuple, list)):
        return [encode(v) for v in value]
    if isinstance(value, dict):
        return {str(k): encode(v) for k, v in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def write_json(document: Any) -> str:
    """Return a JSON text, character by character as DL4J writes it."""
    return layout(document, "")


def write_yaml(document: Any) -> str:
    """Return a YAML text, character by character as DL4J writes it."""
    return java_yaml.write_yaml(document)
