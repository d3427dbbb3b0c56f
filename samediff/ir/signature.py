"""Matching the arguments of a call with the ways an op can be called."""
from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..errors import did_you_mean
from .held_values import FrozenDict, frozen_array
from .op import Op

MISSING = dataclasses.MISSING


#: Options by the names that NumPy gives them.
_OF_NUMPY = {"axis": ("axes", "dimension", "dimensions"), "keepdims": ("keep_dims",), "dtype": ("data_type",)}


class Mismatch(Exception):
    """The arguments do not fit one way of calling an op; the text says which and why."""


@dataclasses.dataclass(frozen=True)
class Formal:
    """One formal parameter of an op's signature."""

    name: str
    kind: str            # "input", "attribute" or "config"
    varargs: bool
    default: Any = MISSING
    type: Any = Any


_FORMALS: dict[type[Op], tuple[tuple[Formal, ...], ...]] = {}


def formals(cls: type[Op]) -> tuple[tuple[Formal, ...], ...]:
    """The signatures of an op class, parsed."""
    found = _FORMALS.get(cls)
    if found is None:
        found = _FORMALS[cls] = _parsed(cls)
    return found


def _parsed(cls: Any) -> tuple[tuple[Formal, ...], ...]:
    texts = cls.signatures or (", ".join([*cls.inputs.split(), *cls.attribute_names()]),)
    return tuple(parsed(cls, text) for text in texts)


def parsed(cls: Any, text: str) -> tuple[Formal, ...]:
    """One signature of an op class from its text."""
    inputs = {t.strip("*?"): t for t in cls.inputs.split()}
    fields = {f.name: f for f in dataclasses.fields(cls)}
    hints = attribute_types(cls)

    def formal(token: str) -> Formal:
        name = token.strip("*?&")
        if token.startswith("&"):
            return Formal(name, "config", False, MISSING)
        if name in inputs:
            optional = "?" in token or "?" in inputs[name]
            return Formal(name, "input", token.startswith("*"), None if optional else MISSING)
        field = fields[name]
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        return Formal(name, "attribute", token.startswith("*"), default, hints[name])

    return tuple(formal(t.strip()) for t in text.split(",") if t.strip())


_types_of = functools.cache(typing.get_type_hints)


def attribute_types(cls: Any) -> dict[str, Any]:
    """The annotations of the attributes of an op class, or of another dataclass, as types; not to be changed."""
    return _types_of(cls)


def input_names(cls: type[Op]) -> list[str]:
    """Names of the inputs in the order of ``compute``."""
    return [t.strip("*?") for t in cls.inputs.split()]


def _variadic(cls: type[Op]) -> frozenset[str]:
    return frozenset(t.strip("*?") for t in cls.inputs.split() if t.startswith("*"))


def bind(cls: type[Op], signature: tuple[Formal, ...], args: tuple[Any, ...], kwargs: dict[str, Any],
         is_variable: Any, lenient: bool) -> tuple[list[Any], dict[str, Any]]:
    """Inputs (in the order of ``compute``) and attributes of one call, or Mismatch."""
    by_name = {f.name: f for f in signature}
    if not by_name.keys() >= kwargs.keys():
        kwargs = {next((n for n in _OF_NUMPY.get(key, ()) if key not in by_name and n in by_name), key): v for key, v in kwargs.items()}
    given: dict[str, Any] = {}
    rest = list(args)
    starred = any(f.varargs and f.kind == "attribute" for f in signature)       # mean(x, 1, keep_dims=True): all options by name
    for i, f in enumerate(signature):
        if f.varargs:
            after = sum(1 for g in signature[i + 1:] if g.name not in kwargs)
            take = len(rest) - after
            values, rest = rest[:take], rest[take:]
            if f.name in kwargs and not values:
                continue
            if len(values) == 1 and isinstance(values[0], (list, tuple, np.ndarray)):
                values = list(values[0])
            elif f.kind == "input":  # lists of variables among the arguments, as Java's arrays
                values = [v for value in values for v in (value if isinstance(value, (list, tuple)) else [value])]
            if values or f.kind == "input":
                given[f.name] = _coerce(f, values, is_variable, lenient)
        elif rest and not (f.name in kwargs and starred):
            if f.name in kwargs:
                raise Mismatch(f"{f.name} is given twice")
            given[f.name] = _coerce(f, rest.pop(0), is_variable, lenient)
    if rest:
        raise Mismatch(f"{len(args)} positional arguments are too many")
    config: dict[str, Any] = {}
    for key, value in kwargs.items():
        if key not in by_name:
            attributes = cls.attribute_names()
            if key not in attributes or (not starred and any(f.kind == "attribute" for f in signature)):
                raise Mismatch(f"no option {key!r}{did_you_mean(key, dict.fromkeys([*by_name, *attributes]))}")
            config[key] = coerce(attribute_types(cls)[key], value, key)
            continue
        given[key] = _coerce(by_name[key], value, is_variable, lenient)
    for f in signature:
        if f.name not in given:
            if f.default is MISSING and f.kind != "config" and not f.varargs:
                raise Mismatch(f"{f.name} is missing")
            if f.kind == "config" and not config:
                raise Mismatch(f"{f.name} is missing")
    return _split(cls, signature, given, config)


def _split(cls: type[Op], signature: tuple[Formal, ...], given: dict[str, Any],
           attributes: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    takes = set(input_names(cls))
    for f in signature:
        if f.kind == "attribute" and f.name in given:
            attributes[f.name] = given[f.name]
        elif f.kind == "config" and f.name in given:
            names = set(cls.attribute_names())
            attributes.update({k: v for k, v in given[f.name].items() if k in names})
            given.update({k: v for k, v in given[f.name].items() if k in takes})   # weights objects hold inputs
    inputs: list[Any] = []
    for name in input_names(cls):
        value = given.get(name)
        if name in _variadic(cls):
            inputs.extend(value or [])
        else:
            inputs.append(value)
    while inputs and inputs[-1] is None:
        inputs.pop()
    return inputs, attributes


def _coerce(f: Formal, value: Any, is_variable: Any, lenient: bool) -> Any:
    if f.kind == "config":
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {d.name: getattr(value, d.name) for d in dataclasses.fields(value)}
        raise Mismatch(f"{f.name} must be a configuration object, got {_kind(value)}")
    if f.kind == "input":
        if f.varargs:
            return [_input(f, v, is_variable, lenient) for v in value]
        return _input(f, value, is_variable, lenient)
    return coerce(f.type, value, f.name)


def _input(f: Formal, value: Any, is_variable: Any, lenient: bool) -> Any:
    if is_variable(value) or (value is None and f.default is None):
        return value
    if lenient and (isinstance(value, (bool, int, float, np.generic)) or hasattr(value, "__array__")
                    or (isinstance(value, (list, tuple)) and value)):
        return value
    raise Mismatch(f"{f.name} must be a variable, got {_kind(value)}")


def _kind(value: Any) -> str:
    return "None" if value is None else f"{type(value).__name__} {value!r:.40}"


def coerce(hint: Any, value: Any, name: str) -> Any:
    """``value`` as the annotated type of an attribute, or Mismatch."""
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        for option in typing.get_args(hint):
            try:
                return coerce(option, value, name)
            except Mismatch:
                continue
    elif origin is typing.Literal:
        if value in typing.get_args(hint):
            return value
    elif origin in _COLLECTIONS:
        return _COLLECTIONS[origin](typing.get_args(hint), value, name)
    elif hint is Any:
        return value
    elif hint is None or hint is type(None):
        if value is None:
            return None
    elif hint is bool:
        if isinstance(value, (bool, np.bool_)):
            return bool(value)
    elif hint is int:
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            return int(value)
    elif hint is float:
        if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
            try:
                made = float(value)
            except OverflowError:
                raise Mismatch(f"{name} must be a float, got an int that is larger than all of them") from None
            return int(value) if isinstance(value, (int, np.integer)) and value != int(made) else made     # no digit is lost
    elif hint is complex:
        if isinstance(value, (int, float, complex, np.number)) and not isinstance(value, bool):
            return complex(value)
    elif hint is np.ndarray:
        return _array((), value, name)
    elif hint is DataType:
        if isinstance(value, DataType) or (isinstance(value, (str, type, np.dtype)) and not isinstance(value, bool)):
            try:
                return DataType.storable(value)
            except TypeError as error:
                raise Mismatch(f"{name}: {error}") from None
    elif isinstance(hint, type) and issubclass(hint, enum.Enum):
        if isinstance(value, hint):
            return value
        if isinstance(value, str) and value.upper() in {n.upper() for n in hint.__members__}:
            return next(v for n, v in hint.__members__.items() if n.upper() == value.upper())
    elif isinstance(hint, type) and isinstance(value, hint):
        return value
    raise Mismatch(f"{name} must be {getattr(hint, '__name__', hint)}, got {_kind(value)}")


def _tuple(items: tuple[Any, ...], value: Any, name: str) -> tuple[Any, ...]:
    several = isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)
    if len(items) == 1 or items[1] is ...:          # list[int] or tuple[int, ...]
        return tuple(coerce(items[0], v, name) for v in (value if several else [value]))
    if not several or len(value) != len(items):
        raise Mismatch(f"{name} must be {len(items)} values, got {_kind(value)}")
    return tuple(coerce(item, v, name) for item, v in zip(items, value))


def _dict(items: tuple[Any, ...], value: Any, name: str) -> FrozenDict:
    if not isinstance(value, Mapping):
        raise Mismatch(f"{name} must be a dict, got {_kind(value)}")
    return FrozenDict({coerce(items[0], k, f"each key of {name}"): coerce(items[1], v, f"{name}[{k!r}]") for k, v in value.items()})


def _array(items: tuple[Any, ...], value: Any, name: str) -> Any:
    kinds = typing.get_args(items[1]) if len(items) == 2 else ()
    dtype = kinds[0] if kinds and kinds[0] in np.sctypeDict.values() else None         # np.floating is no one type
    try:
        made = frozen_array(value, dtype)
    except (TypeError, ValueError) as error:
        raise Mismatch(f"{name} must be an array: {error}") from None
    if made.dtype.kind not in "biufc" and made.dtype != DataType.BFLOAT16.numpy:
        raise Mismatch(f"{name} must be an array of numbers, got {_kind(value)}")
    return made


_COLLECTIONS: dict[Any, Callable[[tuple[Any, ...], Any, str], Any]] = {tuple: _tuple, list: _tuple, dict: _dict, np.ndarray: _array}


def describe(cls: type[Op], method: str) -> list[str]:
    """The ways to call an op, as text."""
    lines = []
    for signature in formals(cls):
        parts = [("*" if f.varargs else "") + f.name + ("" if f.default is MISSING or f.varargs else f"={f.default!r}")
                 for f in signature]
        lines.append(f"{method}({', '.join(parts)})")
    return lines


def result_of(cls: type[Op]) -> str:
    """What a call of the op gives, as its shape rule declares it: one variable, or a list of them; an empty text where it does not say."""
    rule = cls.infer if cls.place is Op.place else cls.place
    declared = str(rule.__annotations__.get("return", ""))
    return "list[SDVariable]" if declared.startswith(("tuple[", "list[")) else "SDVariable" if declared in ("Specs", "TensorSpec") else ""


def of_method(cls: type[Op], receiver: bool = False) -> inspect.Signature:
    """The first way to call an op as ``help`` and editors show it; with ``receiver`` the first input is the variable it is called on."""
    first, *_ = formals(cls)
    left = first[1:] if receiver and first and first[0].kind == "input" and not first[0].varargs else first
    empty, found = inspect.Parameter.empty, list[inspect.Parameter]()
    for f in left:
        kind = (inspect.Parameter.VAR_POSITIONAL if f.varargs
                else inspect.Parameter.KEYWORD_ONLY if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in found)
                else inspect.Parameter.POSITIONAL_OR_KEYWORD)
        otherwise = None if found and found[-1].default is not empty else empty       # Python wants one behind those that have one
        default = empty if f.varargs else otherwise if f.default is MISSING else f.default
        hint = "SDVariable" if f.kind == "input" else typing.get_args(f.type)[0] if f.varargs else f.type
        found.append(inspect.Parameter(f.name, kind, default=default, annotation=hint))
    if all(p.name != "name" for p in found):
        found.append(inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=str | None))
    return inspect.Signature(found, return_annotation=result_of(cls) or empty)
