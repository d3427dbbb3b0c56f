"""Kinds of data that somebody gives: one batch, batches one after the other, or an array."""
from __future__ import annotations

import array as buffers
import dataclasses
from collections.abc import Mapping
from enum import Enum
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..sets.dataset import DataSet
from ..sets.multi_dataset import MultiDataSet

_OF_ARRAYS = "__array__", "__dlpack__", "toarray"
#: Numbers in a row that say nothing of it by a method.
_BUFFERS = memoryview, buffers.array, range


class Form(Enum):
    """Kinds of data."""

    BATCH = "one batch"         #: a data set, (features, labels), or arrays by name
    BATCHES = "batches"         #: what can be gone through, or is a function that gives that
    ARRAY = "an array"          #: everything else


class WholeBatch:
    """Base of classes whose objects are one batch."""


def is_array(value: Any) -> bool:
    """True for arrays of any library, also tables, and sparse ones, which are refused later."""
    return isinstance(value, (np.ndarray, *_BUFFERS)) or (not isinstance(value, type) and any(hasattr(value, name) for name in _OF_ARRAYS))


def is_number(value: Any) -> bool:
    """True for numbers of Python and NumPy."""
    return isinstance(value, (int, float, np.number, np.bool_))


def record_of(value: Any) -> Mapping[str, Any] | None:
    """The fields of a record, an object that is nothing but its fields: arrays by name; None for all others."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, SimpleNamespace):
        return vars(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and not gives_entries(value) and not is_array(value):
        return {f.name: found for f in dataclasses.fields(value) if (found := getattr(value, f.name)) is not None}
    return None


def gives_entries(data: Any) -> bool:
    """Whether something can be gone through, in whatever way."""
    indexed = hasattr(data, "__getitem__") and hasattr(data, "__len__")
    return indexed or any(hasattr(data, name) for name in ("has_next", "hasNext", "__iter__", "as_numpy_iterator"))


def is_several(value: Any) -> bool:
    """True for a list of arrays or names, False for one of numbers, which is an array."""
    return isinstance(value, (list, tuple)) and not (value and all(map(is_number, value)))


def _is_data_set(value: Any) -> bool:
    return isinstance(value, (DataSet, MultiDataSet, WholeBatch))


def _is_list_of_arrays(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(map(is_array, value))


def _is_nest_of_numbers(value: Any) -> bool:
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return is_number(value)


def _is_part(value: Any, lists: bool) -> bool:
    """True for an array, several in a list or by name, and with ``lists`` for lists of numbers."""
    if isinstance(value, Mapping):
        return len(value) > 0 and all(map(is_array, value.values()))
    return is_array(value) or _is_list_of_arrays(value) or (lists and isinstance(value, (list, tuple)) and _is_nest_of_numbers(value))


def is_rows(value: Any) -> bool:
    """True for a list that can be nothing but one array: rows of numbers, or more examples than a batch has parts."""
    if not isinstance(value, list) or not value or not _is_nest_of_numbers(value) or is_number(value[0]):
        return False
    return not is_pair(value, lists=True) or is_number(value[0][0])


def is_pair(data: Any, lists: bool = False) -> bool:
    """True for (features, labels) and masks behind them, each an array or several; with ``lists`` lists of numbers are arrays too."""
    return isinstance(data, (tuple, list)) and 2 <= len(data) <= 4 and all(
        (k > 1 and part is None) or _is_part(part, lists) for k, part in enumerate(data))


def is_whole(data: Any) -> bool:
    """True for one batch: a data set, a tuple (features, labels), or arrays by name."""
    return _is_data_set(data) or record_of(data) is not None or (
        isinstance(data, tuple) and is_pair(data, True) and not all(isinstance(part, tuple) for part in data))


def gives_batches(data: Any) -> bool:
    """True for iterators and collections of batches, also empty ones, and for functions that give them; False for one batch and arrays."""
    return form_of(data) is Form.BATCHES


def form_of(data: Any) -> Form:
    """The kind of data."""
    if _is_data_set(data):
        return Form.BATCH
    if is_array(data) or isinstance(data, (str, bytes)):
        return Form.ARRAY
    if is_whole(data):
        return Form.BATCH
    if isinstance(data, (list, tuple)):
        return Form.BATCHES if not data or _is_item(data[0], data) else Form.ARRAY
    return Form.BATCHES if (gives_entries(data) or callable(data)) and not isinstance(data, type) else Form.ARRAY


def _is_item(first: Any, data: Any) -> bool:
    """Whether the first entry of a list is a batch or an example, and no row of numbers."""
    if _is_data_set(first) or record_of(first) is not None:
        return True
    if isinstance(first, tuple):
        return any(is_array(part) or isinstance(part, (list, Mapping)) for part in first) or is_pair(first)
    return is_pair(first) and not is_array(data[-1])
