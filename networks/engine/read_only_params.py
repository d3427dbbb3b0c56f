"""Parameters as they are handed out."""
from __future__ import annotations

from typing import Any

from ...samediff.base.read_only import read_only

#: The error message for writes to a vector of parameters.
COPIED = ("params() gives a copy, and writing to it would not change the network: use set_params(params() - update), or write to the "
          "arrays of param_table()")


def read_only_params(copy: Any) -> Any:
    """A copy of parameters that refuses to be written to, as that would change nothing."""
    return read_only(copy, COPIED)
