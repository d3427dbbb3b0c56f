# mypy: ignore-errors
"""Sequences whose first steps are reversed. Shapes: x, y (outer, batch, between, steps, inner), lengths (batch)."""
from __future__ import annotations

from ..compiler.sources import kernel


@kernel
def reverse_sequence(x, lengths, y):
    """False where a length is not one from 0 to the number of steps."""
    for b in range(x.shape[1]):
        n = lengths[b]
        if n < 0 or n > x.shape[3]:
            return False
        for o in range(x.shape[0]):
            for m in range(x.shape[2]):
                for t in range(x.shape[3]):
                    source = n - 1 - t if t < n else t
                    for c in range(x.shape[4]):
                        y[o, b, m, t, c] = x[o, b, m, source, c]
    return True
