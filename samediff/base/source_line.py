"""The user's own line that made a node."""
from __future__ import annotations

import linecache
import os
import sys
import threading
import warnings
from dataclasses import dataclass

import numpy as np

_OWN = os.path.dirname(os.path.dirname(os.path.dirname(sys._getframe().f_code.co_filename))) + os.sep      # as frames name it
#: Folders of dl4py's own code.
PACKAGES = tuple(_OWN + p + os.sep for p in ("samediff", "layers", "networks", "udf"))
#: What is above the user's line though it is not dl4py's: functions of NumPy that are written in Python.
_NUMPY = os.path.dirname(np.__file__) + os.sep
_PYTHON = os.path.dirname(os.__file__) + os.sep if hasattr(os, "__file__") else "<python>"      # a frozen Python has no files
_INSTALLED = tuple(_PYTHON + p + os.sep for p in ("site-packages", "dist-packages"))
_FROZEN = "<frozen "

_here = threading.local()


@dataclass(frozen=True)
class SourceLine:
    """File and line number, with the text where it can be read."""

    file: str
    line: int

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.line).strip()
        return f"{self.file}:{self.line}" + (f": {text}" if text else "")


def user_line() -> SourceLine | None:
    """The nearest line on the stack that is not of dl4py, NumPy or Python; in a thread without one that of :func:`work_for`."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if _is_users(file):
            if frame.f_globals.get("__file__") == file:
                linecache.lazycache(file, frame.f_globals)         # an archive's text comes from its loader
            return SourceLine(file, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]
    return getattr(_here, "line", None)


def line_of(error: BaseException) -> SourceLine | None:
    """The innermost line of the user on the way to an error."""
    found, trace = None, error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if _is_users(file):
            found = SourceLine(file, trace.tb_lineno)
        trace = trace.tb_next
    return found


def asked_by_others(depth: int) -> bool:
    """Whether the code that called the function ``depth`` frames above this one is neither dl4py's nor NumPy's."""
    file = sys._getframe(depth + 1).f_code.co_filename
    return not file.startswith(PACKAGES) and not file.startswith(_NUMPY)


def work_for(line: SourceLine | None) -> None:
    """Note which line of the user this thread works for from now on."""
    _here.line = line


def _is_users(file: str) -> bool:
    return not file.startswith(PACKAGES) and not file.startswith(_NUMPY) and not _is_pythons(file)


def _is_pythons(file: str) -> bool:
    if file.startswith(_FROZEN):
        return file[len(_FROZEN):].strip(">").partition(".")[0] in sys.stdlib_module_names
    return file.startswith(_PYTHON) and not file.startswith(_INSTALLED)


def warn_user(text: str) -> None:
    """Warn at the user's line."""
    line = user_line()
    if line is None:
        warnings.warn(text, stacklevel=2)
    else:
        warnings.warn_explicit(text, UserWarning, line.file, line.line)
