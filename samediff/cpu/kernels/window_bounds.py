# mypy: ignore-errors
"""Ranges of the outputs of a sliding window that see the inside of the image."""
from __future__ import annotations

from ..compiler.jit_functions import function


@function(forceinline=True)
def inside(offset, stride, size, outputs):
    """Range of outputs k with 0 <= k * stride + offset < size."""
    low = 0 if offset >= 0 else min((-offset + stride - 1) // stride, outputs)
    if offset + (outputs - 1) * stride < size:  # divisions are slow
        return low, outputs
    return low, max(min((size - offset + stride - 1) // stride, outputs), low)
