"""Series of different length in one array: where they stand, and the mask that says so."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.java.java_enum import JavaEnum
from ...errors import FileFormatError

__all__ = ["AlignmentMode"]


class AlignmentMode(JavaEnum):
    """Alignment of the series of one example within a batch when their lengths differ."""

    EQUAL_LENGTH = "all have one length"
    ALIGN_START = "all start at the first time step"
    ALIGN_END = "all end where the longest series of their example ends"


def longest_series(examples: Sequence[Sequence[NDArray[Any]]], mode: AlignmentMode) -> list[int]:
    """The length of the longest series of every example.

    Raises
    ------
    FileFormatError
        Different lengths with EQUAL_LENGTH.
    """
    lengths = {len(series) for example in examples for series in example}
    if mode is AlignmentMode.EQUAL_LENGTH and len(lengths) > 1:
        raise FileFormatError(f"series of {sorted(lengths)} time steps; choose AlignmentMode.ALIGN_START or ALIGN_END")
    return [max(len(series) for series in example) for example in examples]


def aligned(series: Sequence[NDArray[Any]], longest: Sequence[int],
            mode: AlignmentMode) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    """One array of the series, and its mask; None when all are as long as the longest of the batch.

    Shapes: every series (time, columns); array (examples, columns, time), mask (examples, time).

    Examples
    --------
    >>> array, mask = aligned([np.ones((2, 1)), np.ones((3, 1))], [2, 3], AlignmentMode.ALIGN_START)
    >>> array.shape, mask.tolist()
    ((2, 1, 3), [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    """
    length, columns = max(longest), series[0].shape[1]
    out = np.zeros((len(series), columns, length), np.float32)
    mask = np.zeros((len(series), length), np.float32)
    for i, one in enumerate(series):
        if one.shape[1] != columns:
            raise FileFormatError(f"series of {columns} and {one.shape[1]} columns")
        start = longest[i] - len(one) if mode is AlignmentMode.ALIGN_END else 0
        out[i, :, start:start + len(one)] = one.T
        mask[i, start:start + len(one)] = 1
    return out, None if mask.all() else mask
