"""Reading inputs and attributes off signatures and annotations."""
from __future__ import annotations

import enum
import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from typing import Any

import numpy as np

from ...samediff.base.datatype import DataType
from ...samediff.errors import RegistrationError
from ...samediff.ir.op import GradientKind
from ...samediff.ir.signature import Mismatch, coerce
from .base import UserOp

#: The keywords by which code gets its run: all of it, and whether it trains.
CONTEXT, TRAINING = "context", "training"
#: What first parameters of compute code are called that stand for NumPy, CuPy and what records graphs.
_NAMESPACES = {"xp", "np", "cp", "numpy", "cupy"}
_SCALARS = (float, int, bool, str, complex, bytes, DataType, np.ndarray)


@dataclass(frozen=True)
class Attribute:
    """Type and default of one attribute."""

    type: Any
    default: Any = MISSING

    @property
    def has_default(self) -> bool:
        """True when it may be left out."""
        return self.default is not MISSING

    @property
    def class_value(self) -> Any:
        """The default as dataclasses take it: no arrays."""
        default = self.default
        return field(default_factory=lambda: default) if isinstance(default, np.ndarray) else default


def inputs_of(function: Callable[..., Any], op_id: str, skip: int) -> str:
    """The inputs of compute code in the language of ``Op.inputs``; ``skip`` leading parameters (self, xp) are none."""
    parameters = list(inspect.signature(function).parameters.values())
    if sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) < skip:
        raise RegistrationError(f"op {op_id!r}: the first parameter must be xp, the array namespace: def f(xp, x, *, beta: float = 1.0)")
    found = []
    for p in parameters[skip:]:
        if p.kind is p.VAR_POSITIONAL:
            found.append("*" + p.name)
        elif p.kind is p.VAR_KEYWORD:
            raise RegistrationError(f"op {op_id!r}: **{p.name} is not possible; name each attribute after *")
        elif p.kind is not p.KEYWORD_ONLY:
            if p.default is not p.empty and p.default is not None:
                raise RegistrationError(f"op {op_id!r}: input {p.name!r} has the default {p.default!r}; inputs are optional with None. "
                                        f"Put attributes after *: def f(xp, x, *, {p.name}={p.default!r})")
            found.append(p.name + ("?" if p.default is None else ""))
    return " ".join(found)


def call_note(function: Callable[..., Any]) -> str:
    """A hint about the first parameter, where its name is none of an array namespace."""
    first = next(iter(inspect.signature(function).parameters))
    return "" if first in _NAMESPACES else (
        f"(The first parameter of the function, {first!r}, is no input: it is given the array namespace, NumPy or CuPy, as in "
        f"def {function.__name__}(xp, ...).)")


def check_takes(function: Callable[..., Any] | None, what: str, op_id: str, names: Sequence[str]) -> None:
    """RegistrationError where a call would fail: ``grad`` and ``infer`` of a function are given its attributes by name."""
    try:
        parameters = {} if function is None else inspect.signature(function).parameters
    except (TypeError, ValueError):         # code of another language tells nothing
        return
    kinds = [p.kind for p in parameters.values()]
    lacking = [n for n in names if n not in parameters]
    if function is not None and lacking and inspect.Parameter.VAR_KEYWORD not in kinds:
        raise RegistrationError(f"op {op_id!r}: {what} is given the attributes by name and does not take {', '.join(lacking)}: "
                                f"{what}({'*specs' if what == 'infer' else 'inputs, outputs, output_grads'}, {', '.join(names)})")


def takes_run(function: Callable[..., Any]) -> tuple[str, ...]:
    """The keywords about the run that the code takes; ``training`` with a default is an attribute."""
    parameters = inspect.signature(function).parameters
    given = (parameters.get(n) for n in (CONTEXT, TRAINING))
    return tuple(p.name for p in given if p is not None and p.kind is p.KEYWORD_ONLY and (p.name == CONTEXT or p.default is p.empty))


def check_stateful(function: Callable[..., Any], op_id: str, stateful: bool) -> None:
    """RegistrationError unless stateful code, and no other, has the keyword parameter ``context``, or ``training``."""
    takes = takes_run(function)
    if stateful and not takes:
        raise RegistrationError(f"op {op_id!r}: code of a stateful op takes the run as a keyword: def f(xp, x, *, {CONTEXT}), with "
                                f"{CONTEXT}.random() and {CONTEXT}.training, or {TRAINING} alone")
    if CONTEXT in inspect.signature(function).parameters and not (stateful and CONTEXT in takes):
        raise RegistrationError(f"op {op_id!r}: {CONTEXT!r} is what stateful ops are given: declare it with user_op(..., stateful=True), "
                                "or stateful = True in the class")


def told_run(code: Callable[..., Any], takes: tuple[str, ...]) -> Callable[..., Any]:
    """Code that is given ``context`` and passes on what the code of the user takes of it."""
    if TRAINING not in takes:
        return code

    @functools.wraps(code)
    def told(*args: Any, context: Any, **more: Any) -> Any:
        run = {TRAINING: context.training} | ({CONTEXT: context} if CONTEXT in takes else {})
        return code(*args, **more, **run)
    return told


def is_array_gradient(function: Callable[..., Any], skip: int = 0) -> bool:
    """Whether a gradient is array code: its first parameter, after ``skip`` others, is ``xp``."""
    try:
        return list(inspect.signature(function).parameters)[skip:skip + 1] == ["xp"]
    except (TypeError, ValueError):         # code of another language tells nothing
        return False


def check_gradient_kind(op_id: str, given: Any) -> Any:
    """The kind of gradient that an op declares."""
    kinds = typing.get_args(GradientKind)
    if given not in kinds:
        raise RegistrationError(f"op {op_id!r}: gradient must be one of {', '.join(map(repr, kinds))}, got {given!r}. A function that "
                                "computes it is grad=")
    return given


def attributes_of(function: Callable[..., Any], op_id: str, scope: Mapping[str, Any]) -> dict[str, Attribute]:
    """The keyword-only parameters of a function, without those for the run."""
    found, run = {}, takes_run(function)
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY and p.name not in (CONTEXT, *run):
            default = MISSING if p.default is p.empty else p.default
            annotation = None if p.annotation is p.empty else p.annotation
            found[p.name] = attribute(op_id, p.name, annotation, default, scope)
    return found


def class_attributes(cls: type, op_id: str, scope: Mapping[str, Any]) -> dict[str, Any]:
    """The annotations of a class with its attributes' types resolved; defaults become what an attribute holds."""
    found: dict[str, Any] = {}
    for name, annotation in inspect.get_annotations(cls).items():
        resolved = _resolved(op_id, name, annotation, scope)
        if resolved is typing.ClassVar or typing.get_origin(resolved) is typing.ClassVar:
            found[name] = resolved
            continue
        declared = attribute(op_id, name, resolved, cls.__dict__.get(name, MISSING), scope)
        found[name] = declared.type
        if declared.has_default:
            setattr(cls, name, declared.class_value)
    return found


def attribute(op_id: str, name: str, annotation: Any, default: Any, scope: Mapping[str, Any]) -> Attribute:
    """One attribute, checked; without annotation its type is that of the default."""
    if hasattr(UserOp, name):
        raise RegistrationError(f"op {op_id!r}: attribute name {name!r} is one of the op's own members; choose another one")
    if annotation is None:
        if default is MISSING or default is None:
            raise RegistrationError(f"op {op_id!r}: attribute {name!r} needs a type, such as {name}: float")
        annotation = _type_of(default)
    hint = _resolved(op_id, name, annotation, scope)
    if not _storable(hint):
        raise RegistrationError(f"op {op_id!r}: attribute {name!r} has the type {hint!r}, which cannot be saved; use float, int, "
                                "bool, str, complex, bytes, DataType, an Enum, np.ndarray, tuples, lists and dicts of them, such as "
                                "tuple[int, ...] or dict[str, float], or one of them | None")
    if default is not MISSING:
        try:
            default = coerce(hint, default, name)
        except Mismatch as error:
            raise RegistrationError(f"op {op_id!r}: the default of {error}") from None
    return Attribute(hint, default)


def _type_of(default: Any) -> Any:
    if isinstance(default, (tuple, list)):
        return tuple[_type_of(default[0]) if default else int, ...]  # type: ignore[misc]
    if isinstance(default, dict) and default:
        key, value = next(iter(default.items()))
        return dict[_type_of(key), _type_of(value)]  # type: ignore[misc]
    return type(default)


def _resolved(op_id: str, name: str, annotation: Any, scope: Mapping[str, Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, {**vars(typing), **scope})
    except Exception as error:
        raise RegistrationError(f"op {op_id!r}: the type {annotation!r} of attribute {name!r} cannot be found: {error}") from error


def _storable(hint: Any) -> bool:
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        return all(h is type(None) or _storable(h) for h in typing.get_args(hint))
    if origin is typing.Literal:
        return all(isinstance(v, (str, int)) for v in typing.get_args(hint))
    if origin in (tuple, list, dict):
        inner = typing.get_args(hint)
        return all(_storable(h) for h in (inner[:1] if origin is tuple and inner[1:] == (...,) else inner))
    if origin is np.ndarray:        # NDArray[np.float32]
        return True
    return hint in _SCALARS or (isinstance(hint, type) and issubclass(hint, enum.Enum))
