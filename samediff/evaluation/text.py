"""Numbers and JSON as Java prints them."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import numpy as np

from ..text.java_text import layout, special


def decimal(value: float) -> str:
    """Return a number with four decimals, as the report of classes has it (Java's ``DecimalFormat``).

    Examples
    --------
    >>> decimal(2 / 3), decimal(0.40625), decimal(float("nan"))
    ('0.6667', '0.4062', 'NaN')
    """
    return f"{value:.4f}" if math.isfinite(value) else special(value)


def fixed(value: float) -> str:
    """Return Java's ``%.4f``, which all other reports have: it rounds the shortest digits, halves away from 0.

    Examples
    --------
    >>> fixed(2 / 3), fixed(0.40625), fixed(float("nan"))
    ('0.6667', '0.4063', 'NaN')
    """
    if not math.isfinite(value):
        return special(value)
    with localcontext(rounding=ROUND_HALF_UP):
        return f"{Decimal(repr(float(value))):.4f}"


def scientific(value: float, digits: int) -> str:
    """Return Java's ``%.<digits>e``, rounded as by :func:`fixed`.

    Examples
    --------
    >>> scientific(1.00045, 4), scientific(0.0, 2)
    ('1.0005e+00', '0.00e+00')
    """
    if not math.isfinite(value):
        return special(value)
    with localcontext(prec=digits + 1, rounding=ROUND_HALF_UP):
        return f"{float(+Decimal(repr(float(value)))):.{digits}e}"


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
