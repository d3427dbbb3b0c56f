"""NumPy's own word on a call that could not be recorded: where it refuses arrays of such shapes and types, the call is wrong."""
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
#: Sizes in the place of open ones.
FEW, MANY = 3, 1000
#: Elements of the arrays of a call that NumPy is asked about.
MOST = 1 << 16


class _NotKnownError(Exception):
    """Sizes are open, or arrays large."""


def strict_refusal(function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]) -> Exception | None:
    """NumPy's error for a call of one of the functions above; where sizes are open, if it refuses few examples and many."""
    if function not in STRICTER or (error := refusal(function, args, options, FEW)) is None:
        return None
    return error if refusal(function, args, options, MANY) is not None else None


def refusal(function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any],
            open_size: int | None = None) -> Exception | None:
    """NumPy's error for ones in place of recorded arrays; None where it takes them, sizes are open (unless told one) or arrays large."""
    try:
        given, named = [_stand_in(a, open_size) for a in args], {k: _stand_in(v, open_size) for k, v in options.items()}
    except _NotKnownError:
        return None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            function(*given, **named)
    except Exception as error:
        return error
    return None


def _stand_in(value: Any, open_size: int | None) -> Any:
    if type(value) in (tuple, list):
        return type(value)(_stand_in(v, open_size) for v in value)
    if not isinstance(value, (LazyINDArray, np.ndarray)):
        return value
    sizes = tuple(n if isinstance(n, int) else open_size for n in value.shape)
    if None in sizes or math.prod(sizes) > MOST:  # type: ignore[arg-type]
        raise _NotKnownError
    return np.ones(sizes, value.dtype) if isinstance(value, LazyINDArray) else np.array(value)
