"""Numbers and JSON as Java prints them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np


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


def special(value: float) -> str:
    """Return Java's name of NaN or an infinity."""
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def java_number(value: Any) -> str:
    """Return Java's ``Double.toString`` (``Float.toString`` for float32).

    Examples
    --------
    >>> java_number(0.3), java_number(1e-5), java_number(np.float32(0.1)), java_number(2e7)
    ('0.3', '1.0E-5', '0.1', '2.0E7')
    """
    if not math.isfinite(value):
        return special(float(value))
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return np.format_float_positional(value, unique=True, trim="0")
    mantissa, exponent = np.format_float_scientific(value, unique=True, trim="0").split("e")
    return f"{mantissa}E{int(exponent)}"


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


def layout(value: Any, indent: str) -> str:
    """JSON text with lists on one line and objects indented by two spaces."""
    if isinstance(value, list):
        return "[ " + ", ".join(layout(v, indent) for v in value) + " ]" if value else "[ ]"
    if isinstance(value, dict):
        inner = indent + "  "
        lines = [f"{inner}{json.dumps(k)} : {layout(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{ }"
    return java_number(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
