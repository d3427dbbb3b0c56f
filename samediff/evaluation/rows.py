"""Labels, predictions and masks of any rank as rows: what every evaluation counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import NumericalError, ShapeError
from ..expressions.arrays import to_numbers

Array = NDArray[Any]


@dataclass(frozen=True)
class Rows:
    """Rows that count: masked rows are gone, a per-output mask stays.

    Shapes: ``labels`` and ``predictions`` (rows, outputs); ``mask`` (rows, outputs) or None; ``examples`` (rows) =
    index of the example that a row came from.
    """

    labels: Array
    predictions: Array
    mask: Array | None
    examples: NDArray[np.int64]

    def refuse_nan(self) -> None:
        """Raise an error for NaN predictions that count."""
        missing = np.isnan(self.predictions) & (True if self.mask is None else self.mask != 0)
        if missing.any():
            raise NumericalError(
                f"{int(missing.sum())} of the predictions are NaN; the network has diverged or its input has NaN"
            )


def as_array(value: Any) -> Array:
    """Return a NumPy array of numbers, copied from the device if need be."""
    array = to_numbers(value, "an evaluation")
    return (
        array
        if array.dtype in (np.float32, np.float64)
        else array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    )


def to_rows(labels: Any, predictions: Any, mask: Any, axis: int) -> Rows:
    """Return the unmasked rows of arrays (batch, outputs), (batch, outputs, time) or (batch, outputs, height, width).

    ``axis`` is the axis of the outputs for ranks above 2. A mask without the outputs axis drops rows; a mask with it
    (an extent of 1 is repeated) is a per-output mask.
    """
    y, p = as_array(labels), as_array(predictions)
    y, p = (a[:, None] if a.ndim == 1 else a for a in (y, p))
    if y.shape != p.shape:
        raise ShapeError(f"labels and predictions must have the same shape: labels {y.shape}, predictions {p.shape}")
    if y.ndim < 2:
        raise ShapeError(f"an evaluation needs arrays with a batch axis and an output axis, got shape {y.shape}")
    at = 1 if y.ndim == 2 else axis
    if not 0 < at < y.ndim:
        raise ShapeError(
            f"axis {axis} is no output axis of arrays of shape {y.shape}; use an axis from 1 to {y.ndim - 1}"
        )
    keep, outputs = split_mask(None if mask is None else as_array(mask), y.shape, at)
    backwards = keep is not None  # DL4J's order of rows: it decides last digits of float32 sums and ties of predictions
    index = np.broadcast_to(np.arange(len(y)).reshape(-1, *[1] * (y.ndim - 1)), y.shape)
    y, p, index = (flatten(a, at, backwards) for a in (y, p, index))
    examples = index[:, 0] if index.shape[1] else np.zeros(0, np.int64)
    if keep is not None:
        return Rows(y[keep], p[keep], None, examples[keep])
    return Rows(y, p, None if outputs is None else flatten(outputs, at, False), examples)


def flatten(array: Array, axis: int, backwards: bool) -> Array:
    """Move the outputs to the end and join all other axes, the first one slowest (``backwards``: fastest)."""
    array = np.moveaxis(array, axis, -1)
    if backwards:
        array = array.transpose(*reversed(range(array.ndim - 1)), array.ndim - 1)
    return np.ascontiguousarray(array).reshape(-1, array.shape[-1])


def split_mask(mask: Array | None, shape: tuple[int, ...], axis: int) -> tuple[NDArray[np.bool_] | None, Array | None]:
    """Return (rows to keep, per-output mask); one of them at least is None."""
    if mask is None:
        return None, None
    without = shape[:axis] + shape[axis + 1 :]
    if mask.shape == without or (len(shape) == 2 and mask.shape == (shape[0], 1)):
        return mask.T.reshape(-1) != 0, None
    if mask.ndim == len(shape) and all(m in (1, s) for m, s in zip(mask.shape, shape)):
        return None, np.broadcast_to(mask, shape)
    raise ShapeError(
        f"a mask for labels of shape {shape} must have the shape {without} (rows) or {shape} (outputs), "
        f"got {mask.shape}"
    )
