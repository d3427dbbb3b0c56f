"""The third argument of ``eval``: a mask, or in DL4J's other form where each example came from."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.datatype import is_real
from ..errors import ConfigurationError, ShapeError
from ..expressions.arrays import to_numbers, to_numpy, unmasked


def mask_and_records(given: Any, records: Sequence[Any] | None, labels: Any) -> tuple[Any, Sequence[Any] | None]:
    """Mask and meta data: a flat list is meta data, as a mask is an array; one of whole numbers 0 and 1 could be either.

    Raises
    ------
    ConfigurationError
        A flat list of whole numbers 0 and 1.
    ShapeError
        Not one record for each example; an array of other whole numbers than 0 and 1 as mask.
    """
    given = to_numbers(given, "a mask") if isinstance(given, np.ndarray) else unmasked(given)
    if isinstance(given, np.ndarray) and given.dtype.kind in "iu" and given.size and not 0 <= given.min() <= given.max() <= 1:
        raise ShapeError(f"a mask holds 1 for what counts and 0 for what does not, got {given.min()} ... {given.max()}; meta data of the "
                         "examples are a list: record_meta_data=[...]")
    if records is None and _is_flat(given):
        if all(isinstance(value, (int, np.integer)) and value in (0, 1) for value in given):
            raise ConfigurationError("a list of 0 and 1 may be a mask or meta data: give a mask as an array, mask=np.array([...]), and "
                                     "meta data as record_meta_data=[...]")
        given, records = None, given
    if records is not None and (len(records),) != (shape := to_numpy(labels).shape)[:1]:
        raise ShapeError(f"{len(records)} records of meta data for labels of shape {shape}")
    return given, records


def _is_flat(given: Any) -> bool:
    """A sequence of single values that is no mask of truth values or floats 0 and 1."""
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)) or not len(given):
        return False
    first = np.asarray(given[0] if not isinstance(given[0], dict) else "")
    if not is_real(first.dtype):
        return True
    if first.ndim:
        return False
    return not all(isinstance(value, (bool, np.bool_, float, np.floating)) and value in (0, 1) for value in given)
