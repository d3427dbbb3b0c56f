"""Whether something was computed with fewer digits than its results have."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .check_report import CheckFailure

#: Bits of a fraction: those of float32, and so few that a number may have no more by chance.
_SINGLE, _FEW = 24, 16
#: Inputs times these: a change that float32 cannot hold, and one that it can. Results that are changed are so by more than the last one.
_NEAR, _FAR, _CHANGED = 1 + 2.0 ** -30, 1 + 2.0 ** -18, 2.0 ** -22


#: What to do where results of float32 are float64.
WIDENS = ("np.sqrt(3), arrays of whole numbers and np.zeros(n) make them float64. math.sqrt(3) and other numbers of Python do not, nor do "
          "arrays in the type of the input: xp.arange(n, dtype=x.dtype), xp.zeros(n, x.dtype)")


def keeps_precision(results: Callable[[float], Sequence[Any]], what: str) -> None:
    """CheckFailure where results in float64, of inputs in float64 times a number, do not heed small changes or are numbers of float32."""
    try:
        with np.errstate(all="ignore"):
            first, near, far = ([np.asarray(r) for r in results(by)] for by in (1.0, _NEAR, _FAR))
    except Exception:       # values that are refused
        return
    for i, (a, b, c) in enumerate(zip(first, near, far)):
        if a.dtype == np.float64 and a.size > 2 and (_of_single(b) or _stays(a, b, c)):
            raise CheckFailure(f"{what} {i} is float64, and something on the way is computed in float32: the last digits of the inputs "
                               "make no difference, or results have fewer. Make constants and intermediate results in the type of the "
                               "inputs (x.dtype)")


def _stays(a: Any, near: Any, far: Any) -> bool:
    """Whether what changes a little with the inputs does not change at all with fewer changes of these."""
    with np.errstate(all="ignore"):
        changed = np.abs(far - a) > _CHANGED * np.abs(a)
    return bool(changed.sum() > 2 and changed.mean() >= 0.25 and np.array_equal(a[changed], near[changed]))


def _of_single(a: Any) -> bool:
    values = a[np.isfinite(a) & (a != 0)]
    return len(values) > 2 and bool((_bits(values) <= _SINGLE).all() and (_bits(values) > _FEW).sum() > 2)


def _bits(values: Any) -> Any:
    """So many bits the fraction of each number has."""
    whole = (np.frexp(values)[0] * 2.0 ** 53).astype(np.int64)
    low = whole & -whole
    return 53 - np.log2(low.astype(np.float64)).astype(int)
