# mypy: ignore-errors
"""The largest elements of rows, by insertion into as many places as are wanted."""
from __future__ import annotations

from ..compiler.sources import kernel


@kernel
def largest(x, values, places, ordered):
    """The k largest of each row, in descending order, else by position; NaN is larger than all, of equal ones the first comes first.

    Shapes: x (rows, n), values (rows, k), places (rows, k).
    """
    k = values.shape[1]
    for row in range(x.shape[0]):
        count = 0
        for j in range(x.shape[1]):
            v = x[row, j]
            if count == k and not (v > values[row, k - 1] or (v != v and values[row, k - 1] == values[row, k - 1])):
                continue
            at = min(count, k - 1)
            while at > 0 and (v > values[row, at - 1] or (v != v and values[row, at - 1] == values[row, at - 1])):
                values[row, at], places[row, at] = values[row, at - 1], places[row, at - 1]
                at -= 1
            values[row, at], places[row, at] = v, j
            count = min(count + 1, k)
        if not ordered:
            for i in range(1, k):
                v, j, at = values[row, i], places[row, i], i
                while at > 0 and places[row, at - 1] > j:
                    values[row, at], places[row, at] = values[row, at - 1], places[row, at - 1]
                    at -= 1
                values[row, at], places[row, at] = v, j
