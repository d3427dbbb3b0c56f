"""The reason why a function was not compiled, with the user's line; and its errors, as typed as those of what is compiled."""
from __future__ import annotations

from ..base.source_line import line_of
from ..errors import DL4PyError
from ..expressions.tracing import TraceError
from ..ir.translate_errors import error_class


def reason(error: Exception) -> str:
    """What an error of tracing says, with the line where it arose."""
    text, line = str(error) or type(error).__name__, line_of(error)
    return text if line is None or f"{line.file}:{line.line}" in text else f"{text} (at {line})"


def raise_as_traced(error: Exception, traced: Exception) -> None:
    """Raise an error of NumPy in the words of tracing, which failed at the same line; of the class that is also the one of NumPy."""
    kind = None if isinstance(error, DL4PyError) else error_class(error)
    if kind is None or not isinstance(traced, DL4PyError) or isinstance(traced, TraceError) or line_of(error) != line_of(traced):
        return
    raise (type(traced) if isinstance(traced, kind) else kind)(str(traced)) from error
