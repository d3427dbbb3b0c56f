"""What fit, evaluate and score are given: one batch in any form, or something that gives batches."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ...samediff.data import DataSet, MultiDataSet
from ...samediff.errors import ConfigurationError
from .batch import Batch

_WHOLE = (DataSet, MultiDataSet, Batch)


def is_array(value: Any) -> bool:
    """True for arrays of any library, also tables."""
    return isinstance(value, np.ndarray) or hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def is_pair(data: Any) -> bool:
    """True for (features, labels), and masks behind them: arrays, or lists of arrays for several inputs or outputs."""
    return isinstance(data, (tuple, list)) and 2 <= len(data) <= 4 and all(
        (k > 1 and part is None) or is_array(part) or (isinstance(part, (list, tuple)) and len(part) > 0 and all(map(is_array, part)))
        for k, part in enumerate(data))


def is_whole(data: Any) -> bool:
    """True for one batch: a data set, or a tuple (features, labels)."""
    return isinstance(data, _WHOLE) or (isinstance(data, tuple) and is_pair(data) and not all(isinstance(part, tuple) for part in data))


def gives_batches(data: Any) -> bool:
    """True for iterators and collections of batches, also empty ones; False for one batch and for arrays."""
    if is_array(data) or is_whole(data) or isinstance(data, (Mapping, str, bytes)):
        return False
    if isinstance(data, (list, tuple)):
        return not data or isinstance(data[0], _WHOLE) or (is_pair(data[0]) and not is_array(data[-1]))
    return hasattr(data, "has_next") or hasattr(data, "__iter__")


def some(batches: Iterable[Any], use: str) -> Iterator[Any]:
    """The batches; ConfigurationError where there is none."""
    empty = True
    for data in batches:
        empty = False
        yield data
    if empty:
        raise no_batch(use)


def no_batch(use: str) -> ConfigurationError:
    """The error for data without batches."""
    return ConfigurationError(f"the data has no batch: nothing to {use} (an iterator that was used up and cannot be reset has none either)")
