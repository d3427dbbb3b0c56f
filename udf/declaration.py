"""Reading inputs and attributes off signatures and annotations."""
from __future__ import annotations

import enum
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass
from typing import Any

from ..samediff.base.datatype import DataType
from ..samediff.errors import RegistrationError
from ..samediff.ir.signature import Mismatch, coerce
from .base import UserOp

#: The keyword by which stateful code gets its run.
CONTEXT = "context"
_SCALARS = (float, int, bool, str, DataType)


@dataclass(frozen=True)
class Attribute:
    """Type and default of one attribute."""

    type: Any
    default: Any = MISSING

    @property
    def has_default(self) -> bool:
        """True when it may be left out."""
        return self.default is not MISSING


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


def check_stateful(function: Callable[..., Any], op_id: str, stateful: bool) -> None:
    """RegistrationError unless stateful code, and no other, has the keyword parameter ``context``."""
    p = inspect.signature(function).parameters.get(CONTEXT)
    takes = p is not None and p.kind is p.KEYWORD_ONLY
    if stateful and not takes:
        raise RegistrationError(f"op {op_id!r}: code of a stateful op takes the run as a keyword: def f(xp, x, *, {CONTEXT}), with "
                                f"{CONTEXT}.random() and {CONTEXT}.training")
    if p is not None and not stateful:
        raise RegistrationError(f"op {op_id!r}: {CONTEXT!r} is what stateful ops are given: declare it with user_op(..., stateful=True), "
                                "or stateful = True in the class")


def attributes_of(function: Callable[..., Any], op_id: str, scope: Mapping[str, Any]) -> dict[str, Attribute]:
    """The keyword-only parameters of a function, without that for the run."""
    found = {}
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY and p.name != CONTEXT:
            default = MISSING if p.default is p.empty else p.default
            annotation = None if p.annotation is p.empty else p.annotation
            found[p.name] = attribute(op_id, p.name, annotation, default, scope)
    return found


def class_attributes(cls: type, op_id: str, scope: Mapping[str, Any]) -> dict[str, Any]:
    """The annotations of a class with its attributes' types resolved."""
    found: dict[str, Any] = {}
    for name, annotation in inspect.get_annotations(cls).items():
        resolved = _resolved(op_id, name, annotation, scope)
        if resolved is typing.ClassVar or typing.get_origin(resolved) is typing.ClassVar:
            found[name] = resolved
            continue
        found[name] = attribute(op_id, name, resolved, cls.__dict__.get(name, MISSING), scope).type
    return found


def attribute(op_id: str, name: str, annotation: Any, default: Any, scope: Mapping[str, Any]) -> Attribute:
    """One attribute, checked; without annotation its type is that of the default."""
    if hasattr(UserOp, name):
        raise RegistrationError(f"op {op_id!r}: attribute name {name!r} is one of the op's own members; choose another one")
    if annotation is None:
        if default is MISSING or default is None:
            raise RegistrationError(f"op {op_id!r}: attribute {name!r} needs a type, such as {name}: float")
        annotation = type(default) if not isinstance(default, tuple) else tuple[type(default[0]) if default else int, ...]  # type: ignore[misc]
    hint = _resolved(op_id, name, annotation, scope)
    if not _storable(hint):
        raise RegistrationError(f"op {op_id!r}: attribute {name!r} has the type {hint!r}, which cannot be saved; use float, int, bool, "
                                "str, DataType, an Enum, tuple[int, ...] or one of them | None")
    if default is not MISSING:
        try:
            default = coerce(hint, default, name)
        except Mismatch as error:
            raise RegistrationError(f"op {op_id!r}: the default of {error}") from None
    return Attribute(hint, default)


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
    if origin is tuple:
        inner = typing.get_args(hint)
        return len(inner) == 2 and inner[1] is ... and _storable(inner[0])
    return hint in _SCALARS or (isinstance(hint, type) and issubclass(hint, enum.Enum))
