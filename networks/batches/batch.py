"""The arrays of one run of a network."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...samediff.data.given.forms import WholeBatch
from ...samediff.device.devices import as_gpu_array
from ...samediff.errors import DataTypeError, DL4PyError, ShapeError
from ...samediff.expressions.arrays import MOST_BYTES, as_array, first_text

Arrays = Sequence[Any]


class NetworkBatch(WholeBatch):
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
        """The divisor of sums over examples: layers may make several rows of an example, each with labels of its own."""
        labels = self.labels[0] if self.labels else None
        return self.size if labels is None else int(labels.shape[0])

    def parts(self) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """Inputs, labels, masks of the features, masks of the labels."""
        return self.inputs, self.labels, self.features_masks, self.labels_masks

    def unlabelled(self) -> NetworkBatch:
        """The batch without its labels."""
        return NetworkBatch(self.inputs, None, self.features_masks, self.labels_masks)

    def map(self, function: Callable[[Any], Any]) -> NetworkBatch:
        """The batch with every array replaced."""
        def each(arrays: Sequence[Any]) -> list[Any]:
            return [None if a is None else function(a) for a in arrays]
        return NetworkBatch(each(self.inputs), each(self.labels), each(self.features_masks), each(self.labels_masks))


def _arrays(values: Arrays | None, what: str) -> list[Any]:
    return [None if v is None else _array(v, what) for v in values] if values else []


def _array(value: Any, what: str) -> Any:
    if type(value) is np.ndarray and value.ndim and value.dtype.kind in "fiub" and value.nbytes < MOST_BYTES:    # nearly always
        return value
    if value is None or isinstance(value, (str, bytes, Mapping)):
        raise DataTypeError(f"{what} of the network is no array of numbers: {value!r:.60} of type {type(value).__name__}")
    try:
        array = as_gpu_array(value)
        array = as_array(value) if array is None else array
    except (DL4PyError, ValueError) as error:
        raise DataTypeError(f"{what} of the network is no array: {error}") from error
    if array.dtype.kind in "OcmM":
        raise DataTypeError(f"{what} of the network must hold numbers, got {first_text(array) if array.dtype.kind == 'O' else array.dtype}")
    if not array.ndim:
        single = repr(value) if isinstance(value, (bool, int, float)) else "a single number"
        raise ShapeError(f"{what} of the network must have an axis of examples, got {single}; batch_size puts single examples together")
    return array
