"""Numbers and JSON as Java prints them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..java_text import layout, special


def decimal(value: float) -> str:
    """Return a number with four decimals, as the reports have it.

    Examples
    --------
    >>> decimal(2 / 3), decimal(float("nan"))
    ('0.6667', 'NaN')
    """
    return f"{value:.4f}" if math.isfinite(value) else special(value)


def scientific(value: float, digits: int) -> str:
    """Return Java's ``%.<digits>e``."""
    return f"{value:.{digits}e}" if math.isfinite(value) else special(value)


def plain_json(value: Any) -> Any:
    """Return a document with NaN and infinities as text, as Java's JSON writer has them."""
    if isinstance(value, dict):
        return {str(k): plain_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_json(v) for v in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else special(float(value))
    return int(value) if isinstance(value, np.integer) else value


def json_text(doc: Any) -> str:
    """Return a document in the layout of Java's pretty printer: lists on one line, ``" : "`` after keys.

    Examples
    --------
    >>> print(json_text({"a": [1, 2.5], "b": {}}))
    {
      "a" : [ 1, 2.5 ],
      "b" : { }
    }
    """
    return layout(plain_json(doc), "")
