"""Arrays as DL4J prints them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.translate_errors import refusing

#: Digits behind the point of everything that is known of a number, by type.
_FULL = {"float32": 9, "float64": 17, "float16": 5, "bfloat16": 5}
#: How many parts are shown at either end of what is cut short.
_EDGE = 3


@refusing("INDArray")
class TextMethods:
    """``toString`` and ``toStringFull``."""

    __slots__ = ()

    def to_string(self: Any, max_elements: int = 1000, force_summarize: bool = False, precision: int = 4) -> str:
        """The elements with ``precision`` digits; of more than ``max_elements`` only the edges."""
        short = force_summarize or self.size > max_elements
        return _text(np.asarray(self), lambda v: _number(v, precision, f".{precision}f"), precision + 6, short)

    def to_string_full(self: Any) -> str:
        """All elements with all their digits."""
        precision = _FULL.get(self.dtype.name, 1)
        return _text(np.asarray(self), lambda v: _number(v, precision, ""), precision + 6, False)


def _number(value: Any, precision: int, fixed: str) -> str:
    if isinstance(value, (bool, str)):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, int):
        return str(value)
    if value != value or value in (np.inf, -np.inf):
        return "NaN" if value != value else "∞" if value > 0 else "-∞"
    size = abs(value)
    if size and not 10.0 ** -precision <= size < 10.0 ** precision:
        mantissa, exponent = f"{value:.{precision if fixed else min(precision, 16)}e}".split("e")
        return f"{_bare(mantissa)}e{int(exponent)}"
    if not size:
        return "0"
    if fixed:
        return str(format(value, fixed))
    return _bare(str(np.format_float_positional(value, precision=precision, unique=precision > 9, trim="k")))


def _bare(digits: str) -> str:
    """Without zeros that say nothing."""
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _text(x: Any, shown: Callable[[Any], str], width: int, short: bool, depth: int = 0) -> str:
    if not x.size:
        return "[]"
    if not x.ndim:
        return shown(x.item())
    count = len(x)
    cut = short and count > 2 * _EDGE
    places: list[int | None] = [*range(_EDGE), None, *range(count - _EDGE, count)] if cut else list(range(count))
    if x.ndim == 1:
        values: list[Any] = x.tolist()
        cells = ["  ..." if i is None else f"{shown(values[i]):>{width if count > 1 else 0}}" for i in places]
        return "[" + ",".join(cells).replace(",  ...,", ",  ...") + "]"
    parts: list[str] = [" ..." if i is None else _text(x[i], shown, width, short, depth + 1) for i in places]
    between: str = ", \n" + "\n" * (x.ndim - 2) + " " * (depth + 1)
    return f"[{between.join(parts)}]"
