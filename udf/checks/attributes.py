"""Checks of an op with other values for its attributes: what heeds them in one place has to heed them in all."""
from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Callable
from copy import copy
from typing import Any

from ...samediff.base.user_code.check_report import CheckFailure
from ...samediff.base.user_code.other_values import others, others_of, words_of
from ...samediff.errors import DL4PyError
from ...samediff.ir.op import Op
from ..code.failure import user_code
from ..java.java_op import JavaOp
from ..java.java_style import PASSING, UserDefinedCustomOp
from ..ops.base import UserOp
from . import runs
from .examples import Example

#: So many changes are tried, of one attribute at a time.
_ATTRIBUTES = 8
#: So many values of one attribute, where the code or a declared type alone tells of others.
_GUESSED = 3


def other_attributes(op: Op, arrays: Example = ()) -> list[tuple[str, Op]]:
    """The op with other values, one attribute at a time: one with which it takes the arrays, if any, and one of the other sign, if it
    takes that. Words in the code are tried as texts."""
    found: list[tuple[str, Op]] = []
    hints = {name: hint for c in reversed(type(op).__mro__) for name, hint in inspect.get_annotations(c).items()}
    words = words_of(users_code(op))
    for name, value in _attributes(op).items():
        made = [other for v in others_of(hints.get(name), value, words) if (other := _accepted(op, name, v)) is not None]
        taken = [other for other in made if arrays and runs.takes(other, arrays)]
        turned = _accepted(op, name, _turned(name, value))
        found += [(name, other) for other in (taken or made)[:1 if any(True for _ in others(value)) else _GUESSED]]
        found += [(name, turned)] if taken and turned is not None and turned != taken[0] and runs.takes(turned, arrays) else []
    return found[:_ATTRIBUTES]


def gradient_is_written(op: Op) -> bool:
    """Whether the author wrote a gradient that is to be the derivative: what follows from code cannot differ from it."""
    in_java = isinstance(op, JavaOp) and op.user_class.do_diff is not UserDefinedCustomOp.do_diff
    written = in_java or (isinstance(op, UserOp) and (type(op).grad is not UserOp.grad or op.has_coded_gradient()))
    return written and op.gradient == "full"


def users_code(op: Op) -> Any:
    """The function that the author wrote; the class in DL4J's form."""
    if isinstance(op, JavaOp):
        return op.user_class
    return user_code(getattr(op, "raw_compute", op.compute))


def are_read(op: UserOp) -> str:
    """The code of an op reads each number among its attributes; not looked at where kernels or a gradient may, which are given all."""
    cls = type(op)
    if cls.has_cpu() or cls.has_cuda() or (cls.user_function is not None and gradient_is_written(op)):
        return "not looked at"
    function = getattr(cls.user_function, "__wrapped__", None)
    own = [m for c in cls.__mro__ if issubclass(c, UserOp) and not c.__module__.startswith("dl4py.") for m in vars(c).values()]
    codes = [inspect.unwrap(m).__code__ for m in (own if function is None else [function]) if inspect.isfunction(m)]
    numbers = [n for n in op.attribute_names() if type(getattr(op, n)) in (int, float, complex)]
    unread = [n for n in numbers if codes and not any(_reads(code, n) for code in codes)]
    if unread:
        raise CheckFailure(f"nothing reads the attribute {unread[0]!r}: use it, or take it out")
    return ", ".join(numbers)


def _reads(code: types.CodeType, name: str) -> bool:
    """Whether code, or a function in it, reads an attribute or a local variable of that name."""
    read = any(i.argval == name and i.opname.startswith("LOAD_") for i in dis.get_instructions(code))
    return read or any(_reads(c, name) for c in code.co_consts if isinstance(c, types.CodeType))


def _turned(name: str, value: Any) -> Any:
    """A number of the other sign, for one that has a sign: counts and sizes have none."""
    if isinstance(value, float):
        return -value
    return -1 if name in ("axis", "dim") and type(value) is int else value


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


def _attributes(op: Op) -> dict[str, Any]:
    if isinstance(op, JavaOp):
        return dict(op.instance().properties_for_function())
    return {name: getattr(op, name) for name in op.attribute_names()} if isinstance(op, UserOp) else {}


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
        except (CheckFailure, DL4PyError) as error:
            raise CheckFailure(f"with another {name!r}: {error}. Shape rule and kernels are given the attributes and have to heed "
                               "them") from error
        taken.append(name)
    return ", ".join(taken) or "none could be changed"
