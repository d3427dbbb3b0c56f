"""Notes on exceptions that come out of a user's code."""
from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable
from typing import Any


def note_failure(error: BaseException, op_id: str, function: Callable[..., Any]) -> None:
    """Say on the exception which line of the op's code failed."""
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename == file] or list(frames)
    if not own:
        return
    last = own[-1]
    line = (last.line or linecache.getline(last.filename, last.lineno or 0)).strip()
    error.add_note(f"in the code of user op {op_id!r} at {last.filename}:{last.lineno}" + (f": {line}" if line else ""))
