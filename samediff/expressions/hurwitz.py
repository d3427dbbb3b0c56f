"""Zeta and polygamma functions far below 0, where SciPy and CuPy add up a term for each unit of the argument."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

#: Numbers below it are far.
FAR = -64.0


def bounded_zeta(library: Any, special: Any) -> Callable[[Any, Any], Any]:
    """The sum of ``(q + k) ** -s`` over all k from 0 on, as ``special.zeta`` has it, in a time that does not depend on ``q``."""
    @functools.wraps(special.zeta)
    def zeta(s: Any, q: Any) -> Any:
        far = library.less(q, FAR)
        if not library.any(far):
            return special.zeta(s, q)
        made = special.zeta(s, library.where(far, 1, q))
        return library.where(far, _far_zeta(library, special, s, library.where(far, q, FAR)), made).astype(made.dtype)
    return zeta


def _far_zeta(library: Any, special: Any, s: Any, q: Any) -> Any:
    """The terms of a number below 0 are those of two that are positive, up to their sign: those above 0, and those below from 0 to it."""
    s, q = library.asarray(s, np.float64), library.asarray(q, np.float64)
    with np.errstate(all="ignore"):
        sign = library.where(s % 2 == 0, 1.0, -1.0)
        found = special.zeta(s, q - library.floor(q)) + sign * special.zeta(s, library.ceil(q) - q) - sign * special.zeta(s, 1 - q)
        found = library.where((s == library.floor(s)) & (s > 1), found, math.nan)
        return library.where((q == library.floor(q)) | (s == 1), special.zeta(s, -1.0), found)


def bounded_polygamma(library: Any, special: Any) -> Callable[[Any, Any], Any]:
    """The derivative of order ``n + 1`` of the logarithm of the gamma function, as ``special.polygamma`` has it, by the same means."""
    @functools.wraps(special.polygamma)
    def polygamma(n: Any, x: Any) -> Any:
        far = library.less(x, FAR)
        if not library.any(far):
            return special.polygamma(n, x)
        made = special.polygamma(n, library.where(far, 1, x))
        order, x = library.asarray(n, np.float64), library.where(far, x, FAR)
        with np.errstate(all="ignore"):
            found = (-1.0) ** (order + 1) * special.gamma(order + 1) * _far_zeta(library, special, order + 1, x)
        return library.where(far, library.where(order == 0, special.digamma(x), found), made).astype(made.dtype)
    return polygamma
