"""Truncated back-propagation: series in pieces of time."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...samediff.errors import ShapeError
from ..batches.batch import NetworkBatch
from ..batches.batch_checks import time_axis
from ..structure.structure import Structure


def is_cut(structure: Structure, batch: NetworkBatch) -> bool:
    """Whether truncated back-propagation cuts a batch into pieces."""
    return structure.piece_length is not None and any(x.ndim >= 3 for x in batch.inputs)


def pieces_of(structure: Structure, batch: NetworkBatch) -> list[NetworkBatch]:
    """The pieces that a batch is fitted in; the batch itself where it is not cut.

    Raises
    ------
    ShapeError
        Series of several lengths.
    """
    length = structure.piece_length
    return list(_pieces(batch, length, time_axis(structure))) if length is not None and is_cut(structure, batch) else [batch]


def _pieces(batch: NetworkBatch, length: int, axis: int) -> Iterator[NetworkBatch]:
    """Consecutive pieces of time; arrays that are no series, and their masks, are given whole to every piece."""
    steps = {a.shape[axis] for a in (*batch.inputs, *batch.labels) if a is not None and a.ndim == 3}
    if len(steps) != 1:
        raise ShapeError(f"truncated back-propagation needs features and labels of equal length, got lengths {sorted(steps)}")
    total = steps.pop()
    for start in range(0, total, length):
        piece = slice(start, start + length)

        def steps_of(a: Any, piece: slice = piece) -> Any:
            if a.ndim == 2:
                return a[:, piece] if a.shape[1] == total else a        # the mask of a series
            return a[:, piece] if axis == 1 else a[:, :, piece]

        def cut(values: Any, of: Any, steps_of: Callable[[Any], Any] = steps_of) -> list[Any]:
            return [steps_of(a) if a is not None and series.ndim == 3 else a for a, series in zip(values, of)]
        inputs, labels = batch.inputs, batch.labels
        yield NetworkBatch(cut(inputs, inputs), cut(labels, labels), cut(batch.features_masks, inputs), cut(batch.labels_masks, labels))
