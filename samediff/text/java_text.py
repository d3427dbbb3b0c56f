"""Numbers and documents as Java and its JSON writer (Jackson) print them."""
from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

_HALVES = re.compile("[\ud800-\udfff]")


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


def layout(value: Any, indent: str) -> str:
    """JSON text with lists on one line and objects indented by two spaces."""
    if isinstance(value, (list, tuple)):
        return "[ " + ", ".join(layout(v, indent) for v in value) + " ]" if value else "[ ]"
    if isinstance(value, dict):
        inner = indent + "  "
        lines = [f"{inner}{_quoted(str(k))} : {layout(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{ }"
    if isinstance(value, float):
        return java_number(value) if math.isfinite(value) else f'"{special(value)}"'
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    """A text as JSON; halves of a character, which UTF-8 cannot hold, are escaped."""
    return _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", json.dumps(text, ensure_ascii=False))
