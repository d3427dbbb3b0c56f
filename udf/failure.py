"""Exceptions that come out of a user's code, and what it returned in place of what it should."""
from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..samediff.errors import DL4PyError, GradientError
from ..samediff.ir.variable import SDVariable


def note_failure(error: BaseException, op_id: str, function: Callable[..., Any]) -> None:
    """Say on the exception which line of the op's code failed."""
    error.add_note(f"in the code of user op {op_id!r}" + _line(error, function))


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


def user_code(function: Any) -> Callable[..., Any]:
    """What the user wrote behind a method that was made of it."""
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
