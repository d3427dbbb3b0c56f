"""Ways of loading files that name classes and ops which nobody registers."""
from __future__ import annotations

import warnings
from typing import Any, Literal

from ..base.registry import MissingClassWarning
from ..errors import GraphError, MissingOpError

#: ``"warn"``: open the file as far as it goes, with a warning; ``"keep"``: the same, silently; ``"error"``: an error with all names.
Missing = Literal["warn", "keep", "error"]


def check_missing(missing: Any) -> None:
    """GraphError unless it is one of the three ways."""
    if missing not in ("warn", "keep", "error"):
        raise GraphError(f'missing must be "warn", "keep" or "error", got {missing!r:.60}: with "keep" a file opens as far as its classes '
                         'and ops are registered here, with "error" it does not')


def tell_missing(missing: Missing, text: str, stacklevel: int) -> None:
    """Say what is missing in the way that the caller chose."""
    hint = "Import the packages that define them and load again"
    if missing == "error":
        raise MissingOpError(f'{text}. {hint}, or load with missing="keep": what does not need them runs')
    if missing == "warn":
        warnings.warn(f"{text}. What does not need them runs, and saving writes them as they were. {hint}", MissingClassWarning,
                      stacklevel=stacklevel + 1)
