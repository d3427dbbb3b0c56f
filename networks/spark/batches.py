"""Data sets as elements of RDDs: how many examples they have, parts and joins of them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...samediff.data import DataSet, MultiDataSet
from ...samediff.errors import ConfigurationError


def as_data_set(data: Any) -> DataSet | MultiDataSet:
    """An element of an RDD as a data set: itself, or features and labels.

    Raises
    ------
    ConfigurationError
        Something else.
    """
    if isinstance(data, (DataSet, MultiDataSet)):
        return data
    if isinstance(data, (tuple, list)) and len(data) == 2:
        several = any(isinstance(part, (tuple, list)) and part and hasattr(part[0], "shape") for part in data)
        return MultiDataSet(*data) if several else DataSet(*data)
    raise ConfigurationError(f"an RDD to train on holds data sets or (features, labels), each with an axis of examples; got a "
                             f"{type(data).__name__}")


def number_of(data: Any) -> int:
    """Number of its examples."""
    return as_data_set(data).num_examples()


def part_of(data: Any, first: int, last: int) -> DataSet | MultiDataSet:
    """Some of its examples."""
    return as_data_set(data).get_range(first, last)


def joined(parts: Sequence[Any]) -> DataSet | MultiDataSet:
    """One batch of all examples, in their order; series of different length are padded and masked."""
    found = [as_data_set(part) for part in parts]
    if len(found) == 1:
        return found[0]
    if all(isinstance(part, DataSet) for part in found):
        return DataSet.merge(found)  # type: ignore[arg-type]
    return MultiDataSet.merge(found)
