"""Arrays of data sets: taking them in, joining them, splitting them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...base.datatype import is_floating
from ...errors import DataTypeError, ShapeError
from ...expressions.arrays import MOST_BYTES, as_array, namespace_of

Array: TypeAlias = NDArray[Any]
TIME_AXIS = 2


def data_array(value: Any, what: str) -> Array | None:
    """The array of a data set part: anything with ``__array__`` or ``__dlpack__``; CuPy arrays stay on their device."""
    if value is None or (type(value) is np.ndarray and value.ndim and value.dtype.kind in "fiub" and value.nbytes < MOST_BYTES):
        return value
    try:
        array: Array = value if type(value).__module__.partition(".")[0] == "cupy" else as_array(value)
    except ShapeError:
        raise
    except (DataTypeError, ValueError) as error:
        raise DataTypeError(f"{what} is no array: {error}") from error
    if array.ndim == 0:
        raise ShapeError(f"{what}: expected an array whose first axis is the example, got a single number; batch_size of fit puts single "
                         "examples together")
    return array


def check_same_examples(**parts: Array | None) -> None:
    """Raise when the parts have different numbers of examples."""
    sizes = {name: a.shape[0] for name, a in parts.items() if a is not None}
    if len(set(sizes.values())) > 1:
        raise ShapeError("all parts of a data set need the same number of examples, got "
                         + ", ".join(f"{n} for {name}" for name, n in sizes.items()))


def selected(array: Array, index: Any) -> Array:
    """The examples of a slice (a view) or of an array of whole numbers."""
    plain = type(array) is np.ndarray and type(index) is not slice
    rows: Array = array.take(index, 0) if plain else array[index]       # several times as fast, with the same result
    return rows


def joined(parts: Sequence[Array | None], masks: Sequence[Array | None],
           what: str) -> tuple[Array | None, Array | None]:
    """Join arrays along the examples, and their masks.

    Time series of different length are padded with zeros at the end, and a mask says so; where only some parts have a
    mask, the others get one of ones.
    """
    given = [p for p in parts if p is not None]
    if not given:
        return None, None
    if len(given) < len(parts):
        raise ShapeError(f"cannot merge data sets of which only {len(given)} of {len(parts)} have {what}")
    first = given[0]
    series = first.ndim == 3
    fixed = [1] if series else list(range(1, first.ndim))
    for array in given[1:]:
        if array.ndim != first.ndim or any(array.shape[i] != first.shape[i] for i in fixed):
            raise ShapeError(f"cannot merge {what} of shapes {first.shape} and {array.shape}: all axes but the first"
                             f"{' and the time' if series else ''} must agree")
    longest = max(a.shape[TIME_AXIS] for a in given) if series else 0
    uneven = series and any(a.shape[TIME_AXIS] != longest for a in given)
    xp = namespace_of(first)
    mask = _joined_masks(given, masks, longest, what) if uneven or any(m is not None for m in masks) else None
    if uneven:
        given = [_padded(a, TIME_AXIS, longest) for a in given]
    return (given[0] if len(given) == 1 else xp.concatenate(given)), mask


def _joined_masks(arrays: Sequence[Array], masks: Sequence[Array | None], longest: int, what: str) -> Array:
    shown = next((m for m in masks if m is not None), None)
    filled = []
    for array, mask in zip(arrays, masks):
        if mask is None:
            if array.ndim == 3:
                shape: tuple[int, ...] = (array.shape[0], array.shape[TIME_AXIS])
            else:
                shape = (array.shape[0], *(shown.shape[1:] if shown is not None else (1,)))
            mask = np.ones(shape, shown.dtype if shown is not None else array.dtype)
        filled.append(_padded(mask, mask.ndim - 1, longest) if array.ndim == 3 else mask)
    if len({m.shape[1:] for m in filled}) > 1:
        raise ShapeError(f"cannot merge {what} masks of shapes {', '.join(str(m.shape) for m in filled)}")
    return np.concatenate(filled)


def _padded(array: Array, axis: int, length: int) -> Array:
    if array.shape[axis] == length:
        return array
    width = [(0, 0)] * array.ndim
    width[axis] = (0, length - array.shape[axis])
    padded: Array = namespace_of(array).pad(array, width)
    return padded


def same_array(a: Array | None, b: Array | None) -> bool:
    """Whether both are missing, or have one type and the same values; NaN equals NaN."""
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and bool(np.array_equal(a, b, equal_nan=is_floating(a.dtype)))
