"""Exceptions that come out of a user's code, and what it returned in place of what it should."""
from __future__ import annotations

import functools
import linecache
import operator
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...samediff.base.datatype import DataType
from ...samediff.base.spec import Shape, TensorSpec
from ...samediff.errors import DataTypeError, DL4PyError, GradientError, GraphError, ShapeError
from ...samediff.ir.op import Specs, as_tuple
from ...samediff.ir.variable import SDVariable

_LARGEST = 2**63 - 1


def note_failure(error: BaseException, op_id: str, function: Callable[..., Any]) -> None:
    """Say on the exception which line of the op's code failed."""
    error.add_note(f"in the code of user op {op_id!r}" + _line(error, function))
    if "read-only" in str(error):
        error.add_note("inputs and attributes of an op cannot be written: work on a copy")


def _line(error: BaseException, function: Callable[..., Any]) -> str:
    """`` at file:line: text`` of the innermost line of the function's file that the exception passed."""
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename == file] or list(frames)
    if not own:
        return ""
    last = own[-1]
    text = (last.line or linecache.getline(last.filename, last.lineno or 0)).strip()
    return f" at {last.filename}:{last.lineno}" + (f": {text}" if text else "")


def noted(gradient: Callable[..., Any]) -> Callable[..., Any]:
    """Array code of a gradient whose exceptions say which line of which op failed."""
    @functools.wraps(gradient)
    def run(self: Any, *args: Any, **told: Any) -> Any:
        try:
            return gradient(self, *args, **told)
        except Exception as error:
            note_failure(error, self.id, user_code(gradient))
            raise
    return run


def user_code(function: Any) -> Callable[..., Any]:
    """The user's function behind a method that was generated from it."""
    return getattr(function, "user_code", getattr(function, "__func__", function))  # type: ignore[no-any-return]


@contextmanager
def building(what: str, function: Callable[..., Any], kind: type[DL4PyError]) -> Iterator[None]:
    """Exceptions of a user's code while a graph is built: as ``kind``, with the user's line; ours get a note.

    Parameters
    ----------
    what : the code in words, such as ``"infer of op 'acme.pool'"``
    """
    try:
        yield
    except DL4PyError as error:
        error.add_note(f"in {what}{_line(error, function)}")
        raise
    except Exception as error:
        raise kind(f"{what} raised {type(error).__name__}: {error}{_line(error, function)}") from error


def collected_gradients(what: str, found: Any, count: int) -> list[SDVariable | None]:
    """The gradients that a user's code returned, one for each of ``count`` inputs.

    Raises
    ------
    GradientError
        Another number of them, or nothing.
    """
    gradients = list(found) if isinstance(found, Sequence) and not isinstance(found, str) else [found]
    if len(gradients) != count or (found is None and count):
        given = f"{len(gradients)} gradients" if found is not None else "nothing"
        raise GradientError(f"{what} returned {given} for {count} inputs; it must return a list with one for each, None where it is zero")
    return gradients


def sizes(what: str, shape: Any) -> Shape:
    """A shape that a user wrote: whole numbers, -1 where unknown."""
    try:
        found = tuple(operator.index(n) for n in shape) if isinstance(shape, (tuple, list, np.ndarray)) else (-2,)
    except TypeError:
        found = (-2,)
    if min(found, default=0) < -1 or max(found, default=0) > _LARGEST:
        raise ShapeError(f"{what} gave {shape!r:.80} as a shape; it must be a tuple of whole numbers, -1 where a size is not known")
    return found


def checked_specs(what: str, found: Any) -> Specs:
    """The result of a shape rule; ShapeError unless it is one TensorSpec or several."""
    specs = as_tuple(found)
    if not specs or not all(isinstance(s, TensorSpec) for s in specs):
        raise ShapeError(f"{what} returned {found!r:.80}; it must return a TensorSpec or a tuple of them")
    if not all(isinstance(s.dtype, DataType) for s in specs):
        raise ShapeError(f"{what} returned {[s.dtype for s in specs]!r:.80} as types; a TensorSpec has a DataType, often that of an input")
    made = tuple(s if s.shape is None else TensorSpec(sizes(what, s.shape), s.dtype, s.value) for s in specs)
    return made if isinstance(found, (list, tuple)) else made[0]


def expected(test: Callable[[Any, tuple[Any, ...]], bool], text: str) -> Callable[[str, Any, tuple[Any, ...]], Any]:
    """A look at what a method returned, in view of its arguments; GraphError with ``text`` where it is something else."""
    def check(what: str, found: Any, given: tuple[Any, ...]) -> Any:
        if not test(found, given):
            raise GraphError(f"{what} returned {found!r:.60}; it must return {text}")
        return found
    return check


def checked_results(what: str, results: Sequence[Any], specs: Sequence[TensorSpec]) -> None:
    """GraphError or ShapeError unless these are arrays or numbers as many and as large as ``specs`` promise."""
    if len(results) != len(specs):
        raise ShapeError(f"{what} returned {len(results)} outputs, its shape rule says {len(specs)}")
    for i, (r, s) in enumerate(zip(results, specs)):
        if type(r) is np.ndarray and r.shape == s.shape and r.dtype is s.dtype.numpy:
            continue
        if s.dtype.is_numeric and not _numbers(r):
            raise DataTypeError(f"{what} returned {type(r).__name__} {r!r:.60} as output {i}; it must be an array of real numbers")
        if not s.accepts(np.shape(r)):
            raise ShapeError(f"{what} returned shape {np.shape(r)} as output {i}, its shape rule says {s.shape}")


def _numbers(value: Any) -> bool:
    dtype = getattr(value, "dtype", None)
    try:
        return DataType.of(dtype if isinstance(dtype, np.dtype) else np.asarray(value)).is_numeric
    except (TypeError, ValueError):         # arrays of complex numbers and dates; rows of different lengths
        return False
