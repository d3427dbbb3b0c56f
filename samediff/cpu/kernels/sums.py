# mypy: ignore-errors
"""Sums of arrays that are made some at a time."""
from __future__ import annotations

import numpy as np

from ..compiler.sources import kernel

U = np.uintp


@kernel
def add_up(total, rows, more):
    """total = the sum of the rows (count, size), plus what it was if ``more``."""
    for k in range(rows.shape[0]):
        if more or k > 0:
            for j in range(total.size):
                total[U(j)] += rows[k, U(j)]
        else:
            for j in range(total.size):
                total[U(j)] = rows[k, U(j)]
