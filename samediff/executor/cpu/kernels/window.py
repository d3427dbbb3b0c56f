# mypy: ignore-errors
"""Which outputs of a sliding window see the inside of the image."""
from __future__ import annotations

from numba import njit


@njit(forceinline=True)
def inside(offset, stride, size, outputs):
    """Range of outputs k with 0 <= k * stride + offset < size."""
    low = min(max((-offset + stride - 1) // stride, 0), outputs)
    return low, max(min((size - offset + stride - 1) // stride, outputs), low)
