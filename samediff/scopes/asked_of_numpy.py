"""What NumPy itself says of a call that could not be recorded: where it refuses arrays of such shapes and types, the call is wrong."""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .lazy import LazyINDArray

#: Functions whose nodes take more than NumPy does, such as axes of numbers and positions beyond an axis: it is always asked.
STRICTER = frozenset((np.median, np.nanmedian, np.quantile, np.nanquantile, np.percentile, np.nanpercentile, np.gradient, np.diff,
                      np.partition, np.argpartition, np.digitize))
#: Elements of the arrays of a call that NumPy is asked about.
MOST = 1 << 16


class _NotKnownError(Exception):
    """Sizes are open, or arrays large."""


def refusal(function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]) -> Exception | None:
    """NumPy's error for ones in place of recorded arrays; None where it takes them, sizes are open or arrays large."""
    try:
        given, named = [_stand_in(a) for a in args], {k: _stand_in(v) for k, v in options.items()}
    except _NotKnownError:
        return None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            function(*given, **named)
    except Exception as error:
        return error
    return None


def _stand_in(value: Any) -> Any:
    if type(value) in (tuple, list):
        return type(value)(map(_stand_in, value))
    if not isinstance(value, (LazyINDArray, np.ndarray)):
        return value
    sizes = tuple(value.shape)
    if not all(isinstance(n, int) for n in sizes) or math.prod(sizes) > MOST:
        raise _NotKnownError
    return np.ones(sizes, value.dtype) if isinstance(value, LazyINDArray) else np.array(value)
