"""Checks of an op with other values for its attributes: what heeds them in one place has to heed them in all."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

from ...samediff.base.user_code.check_report import CheckFailure
from ...samediff.base.user_code.other_values import others
from ...samediff.errors import DL4PyError
from ...samediff.ir.op import Op
from ..java.java_op import JavaOp
from ..java.java_style import PASSING
from ..ops.base import UserOp
from . import runs
from .examples import Example

#: So many attributes are changed, one at a time.
_ATTRIBUTES = 4


def other_attributes(op: Op, arrays: Example = ()) -> list[tuple[str, Op]]:
    """The op with other numbers, truth values and members of enums, one attribute at a time; one with which it takes the arrays, if any."""
    found = []
    for name, values in _alternatives(op):
        made = [other for value in values if (other := _accepted(op, name, value)) is not None]
        if made:
            found.append((name, next((m for m in made if arrays and runs.takes(m, arrays)), made[0])))
    return found[:_ATTRIBUTES]


def _accepted(op: Op, name: str, value: Any) -> Op | None:
    """The op with another value, None where it refuses that, or is the same with it."""
    try:
        made = _with(op, name, value)
        hash(made)
    except Exception:       # whatever it says of values that it refuses
        return None
    return None if made == op else made


def can_be_changed(op: Op) -> bool:
    """Whether there is an attribute, or an argument of the Java form's constructor, of which other values are known."""
    return bool(other_attributes(op)) or (isinstance(op, JavaOp) and any(list(others(v)) for v in _fields(op).values()))


def _fields(op: JavaOp) -> dict[str, Any]:
    """What callers may choose: fields named like arguments of the constructor."""
    user = op.instance()
    chosen = inspect.signature(type(user).__init__).parameters
    return {n: v for n, v in vars(user).items() if n in chosen and n not in PASSING}


def _alternatives(op: Op) -> Iterator[tuple[str, list[Any]]]:
    held = dict(op.instance().properties_for_function()) if isinstance(op, JavaOp) else {}
    if isinstance(op, UserOp):
        held = {name: getattr(op, name) for name in op.attribute_names()}
    for name, value in held.items():
        if values := list(others(value)):
            yield name, values


def _with(op: Op, name: str, value: Any) -> Op:
    if not isinstance(op, JavaOp):
        return op.replace(**{name: value})
    user = copy(op.instance())
    user.set_properties_for_function({**user.properties_for_function(), name: value})
    return user.as_op()


def _all_are_properties(op: JavaOp) -> None:
    """CheckFailure when a field that a caller may set is neither a property nor an argument: runs and files lose it."""
    for name, value in _fields(op).items():
        for other in others(value):
            user = op.instance()
            setattr(user, name, other)
            try:
                user.as_op()
            except DL4PyError as error:
                raise CheckFailure(f"with another {name!r}: {error}") from error
            except Exception:       # values that its code refuses
                continue
            break


def with_other_attributes(op: Op, arrays: Example, saved: Callable[[Op, Example], str | None]) -> str:
    """Shape rule, kernels and files of the op with other attributes."""
    taken = []
    if isinstance(op, JavaOp):
        _all_are_properties(op)
    for name, other in other_attributes(op, arrays):
        if not runs.takes(other, arrays):
            continue
        try:
            runs.shape_rule(other, arrays)
            runs.plan_rewrite(other, arrays)
            saved(other, arrays)
        except CheckFailure as error:
            raise CheckFailure(f"with another {name!r}: {error}. Shape rule and kernels are given the attributes and have to heed "
                               "them") from error
        taken.append(name)
    return ", ".join(taken) or "none could be changed"
