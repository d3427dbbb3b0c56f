"""Translation of errors of array code, and of arguments that a method does not take, into the typed errors that callers are promised."""
from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from ..base.javanames import to_camel
from ..base.source_line import user_line
from ..base.spec import TensorSpec
from ..errors import (
    AxisError,
    DataTypeError,
    DL4PyError,
    FloatingTrapError,
    GraphError,
    LinearAlgebraError,
    OutOfRangeError,
    ShapeError,
    TooLargeError,
)
from ..expressions.arrays import require_held
from .op import Op, Specs, as_tuple
from .signature import Mismatch

Class = TypeVar("Class", bound=type)

_KINDS: tuple[tuple[type[Exception], type[DL4PyError]], ...] = (
    (np.linalg.LinAlgError, LinearAlgebraError), (np.exceptions.AxisError, AxisError), (TypeError, DataTypeError),
    (IndexError, OutOfRangeError), (ValueError, ShapeError), (OverflowError, TooLargeError), (FloatingPointError, FloatingTrapError),
    (ArithmeticError, GraphError), (AssertionError, ShapeError), (AttributeError, DataTypeError), (LookupError, GraphError))

_OWN = ("dl4py.samediff.", "dl4py.layers.")      # whose ops are not the code of others


def translated(op: Op, error: BaseException) -> DL4PyError | None:
    """The typed error for what NumPy raised in an op of this package; None for typed errors and for the code of others."""
    if isinstance(error, DL4PyError) or not type(op).__module__.startswith(_OWN):
        return None
    if type(error).__module__.startswith("numba."):          # compiled loops are typed by the inputs
        return DataTypeError(f"the inputs do not fit: no compiled code for their types and ranks ({str(error).splitlines()[0]})")
    kind = error_class(error)
    return None if kind is None else kind(f"the inputs do not fit: {error or type(error).__name__}")


def error_class(error: BaseException) -> type[DL4PyError] | None:
    """The class that stands for an error of Python or NumPy; None where there is none."""
    return next((ours for theirs, ours in _KINDS if isinstance(error, theirs)), None)


def inferred(op: Op, specs: Sequence[TensorSpec | None]) -> Specs:
    """The specs by the shape rule; errors for negative sizes and for numbers that do not fit the type of their array."""
    for name in op.element_values.split():
        first = specs[0] if specs else None
        dtype = getattr(op, "data_type", None if first is None else first.dtype)
        if dtype is not None:
            require_held(getattr(op, name), dtype.numpy)
    found = op.infer(*specs)  # type: ignore[arg-type]
    for spec in as_tuple(found):
        if spec.shape is not None and min(spec.shape, default=0) < -1:
            raise ShapeError(f"a result of shape {spec.shape} would come out; sizes must not be negative")
    return found


# Methods

#: What methods that are called with other arguments than they take run into.
_RAW = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError, Mismatch)
#: Where such errors arise; those of other code are its own.
_OURS = ("dl4py", "numpy", "functools", "operator")


def refusing(owner: str) -> Callable[[Class], Class]:
    """For a class, known to users as a part of ``owner``: its public methods raise typed errors for arguments that they do not take."""
    def decorate(cls: Class) -> Class:
        done: dict[Any, Any] = {}
        for name, member in list(vars(cls).items()):
            plain = member.__func__ if isinstance(member, staticmethod) else member
            if name.startswith("_") or not isinstance(plain, types.FunctionType):
                continue
            method = done.setdefault(plain, _refusing(plain, f"{owner}.{to_camel(name)}"))      # once for all names of it
            setattr(cls, name, staticmethod(method) if isinstance(member, staticmethod) else method)
        return cls
    return decorate


def _refusing(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def checked(*args: Any, **options: Any) -> Any:
        try:
            return method(*args, **options)
        except _RAW as error:
            if isinstance(error, DL4PyError):
                locate(error)
            if isinstance(error, DL4PyError) or is_of_users(error):
                raise
            _refuse(error, method, name, args, options)
    return checked


def is_of_users(error: BaseException) -> bool:
    """Whether code of users was running."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] not in _OURS:
            return True
        trace = trace.tb_next
    return False


def _refuse(error: Exception, method: Callable[..., Any], name: str, args: tuple[Any, ...], options: dict[str, Any]) -> NoReturn:
    parameters = [p.replace(annotation=p.empty) for p in inspect.signature(method).parameters.values()]
    bound = len([p for p in parameters[:1] if p.name == "self"])
    receiver = f" of {_shown(args[0])}" if bound else ""
    given = ", ".join([*map(_shown, args[bound:]), *(f"{k}={_shown(v)}" for k, v in options.items())])
    line, what = user_line(), (inspect.getdoc(method) or "").partition("\n\n")[0].replace("\n", " ")
    raise (error_class(error) or GraphError)(
        f"{name}({', '.join(map(str, parameters[bound:]))}){receiver} does not take ({given}): {error or type(error).__name__}. {what}"
        f"{f' (at {line})' if line else ''}") from error


# Functions of NumPy

def in_our_words(error: Exception, what: str, args: Sequence[Any], options: Mapping[str, Any]) -> Exception:
    """The typed error for what NumPy raised when it was called so; the error itself where it is typed already or arose in users' code."""
    kind = None if isinstance(error, DL4PyError) or is_of_users(error) else error_class(error)
    return error if kind is None else kind(call_text(str(error) or type(error).__name__, what, args, options))


def locate(error: DL4PyError) -> None:
    """Put the user's line behind the text of an error that names none."""
    text, line = str(error), user_line()
    if line is not None and " at " + line.file not in text and "(at " not in text:
        error.args = (f"{text} (at {line})", *error.args[1:])


def raise_known(error: Exception, what: str, args: Sequence[Any], options: Mapping[str, Any]) -> None:
    """Raise that error where it is another one."""
    known = in_our_words(error, what, args, options)
    if known is not error:
        raise known from error


def call_text(text: str, what: str, args: Sequence[Any], options: Mapping[str, Any]) -> str:
    """What is wrong with a call, with its arguments and the user's line."""
    line, given = user_line(), ", ".join([*map(_shown, args), *(f"{k}={_shown(v)}" for k, v in options.items())])
    return f"{what}({given}): {text}{f' (at {line})' if line else ''}"


def name_of_function(function: Any) -> str:
    """A function of NumPy as users call it: ``np.add``, ``np.add.at``, ``np.linalg.inv``."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{function.__name__}"
    module = "np" if isinstance(function, np.ufunc) else (getattr(function, "__module__", None) or "numpy").replace("numpy", "np")
    return f"{module}.{getattr(function, '__name__', 'function')}"


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray) or (hasattr(value, "dtype") and hasattr(value, "shape")):
        return f"{value.dtype}{tuple(n if isinstance(n, int) else -1 for n in value.shape)}"        # sizes may be open
    if isinstance(value, (list, tuple)) and any(hasattr(v, "dtype") for v in value):
        return f"[{', '.join(map(_shown, value))}]"
    return f"{value!r:.60}"
