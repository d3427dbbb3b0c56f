"""The arrays of one run of a network."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..samediff.arrays import as_array
from ..samediff.errors import DataTypeError, DL4PyError, ShapeError

Arrays = Sequence[Any]


class Batch:
    """Arrays of one run: inputs, labels and masks, each a list; entries and lists may be None."""

    def __init__(self, inputs: Arrays, labels: Arrays | None = None, features_masks: Arrays | None = None,
                 labels_masks: Arrays | None = None) -> None:
        self.inputs = [_array(x, "an input") for x in inputs]
        self.labels = _arrays(labels, "labels")
        self.features_masks = _arrays(features_masks, "a features mask")
        self.labels_masks = _arrays(labels_masks, "a labels mask")

    @property
    def size(self) -> int:
        """Number of examples."""
        return int(self.inputs[0].shape[0])

    @property
    def rows(self) -> int:
        """What sums over examples are divided by: layers may make several rows of an example, each with labels of its own."""
        labels = self.labels[0] if self.labels else None
        return self.size if labels is None else int(labels.shape[0])

    def map(self, function: Callable[[Any], Any]) -> Batch:
        """The batch with every array replaced."""
        def each(arrays: Sequence[Any]) -> list[Any]:
            return [None if a is None else function(a) for a in arrays]
        return Batch(each(self.inputs), each(self.labels), each(self.features_masks), each(self.labels_masks))


def _arrays(values: Arrays | None, what: str) -> list[Any]:
    return [None if v is None else _array(v, what) for v in values] if values else []


def _array(value: Any, what: str) -> Any:
    if type(value) is np.ndarray and value.ndim and value.dtype.kind in "fiub":       # nearly always: nothing to convert
        return value
    try:
        array = as_array(value)
    except (DL4PyError, ValueError) as error:
        raise DataTypeError(f"{what} of the network is no array: {error}") from error
    if array.dtype.kind in "OcmM":
        raise DataTypeError(f"{what} of the network must hold numbers, got {array.dtype}")
    if not array.ndim:
        raise ShapeError(f"{what} of the network must have an axis of examples, got a single number")
    return array
