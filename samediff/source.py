"""The user's own line that made a node."""
from __future__ import annotations

import linecache
import os
import sys
from dataclasses import dataclass

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PACKAGES = tuple(_OWN + p + os.sep for p in ("samediff", "layers", "networks", "udf"))


@dataclass(frozen=True)
class SourceLine:
    """File and line number, with the text where it can be read."""

    file: str
    line: int

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.line).strip()
        return f"{self.file}:{self.line}" + (f": {text}" if text else "")


def user_line() -> SourceLine | None:
    """The nearest line on the stack that is not dl4py's own."""
    frame = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_PACKAGES):
            return SourceLine(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]
    return None
