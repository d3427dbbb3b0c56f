"""Means, variations and co-variations of two arrays by column, gathered part by part without sums that cancel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .rows import Array


@dataclass(frozen=True)
class ColumnMoments:
    """Of labels y and predictions p: number, means, and sums of products of what they differ from these.

    Parameters
    ----------
    n, y, p : array (columns)
        How many there are, and their means.
    yy, pp, yp : array (columns)
        Sums of (y - mean y)², (p - mean p)² and (y - mean y) (p - mean p).
    """

    n: Array
    y: Array
    p: Array
    yy: Array
    pp: Array
    yp: Array

    @classmethod
    def none(cls, columns: int) -> ColumnMoments:
        """Return those of no rows."""
        return cls(*np.zeros((6, columns)))

    @classmethod
    def of(cls, y: Any, p: Any, seen: Any) -> ColumnMoments:
        """Return those of arrays (rows, columns), where ``seen`` says what counts; differences are taken from the first that does."""
        n = seen.sum(0).astype(np.float64)
        means, rest = zip(*(_centred(v.astype(np.float64), seen, n) for v in (y, p)))
        return cls(n, *means, *((a * b).sum(0) for a, b in (rest[:1] * 2, rest[1:] * 2, rest)))

    def __add__(self, other: ColumnMoments) -> ColumnMoments:
        n = self.n + other.n
        share = np.divide(other.n, n, out=np.zeros_like(n), where=n != 0)
        dy, dp, both = other.y - self.y, other.p - self.p, self.n * share
        return ColumnMoments(n, self.y + dy * share, self.p + dp * share, self.yy + other.yy + dy * dy * both,
                       self.pp + other.pp + dp * dp * both, self.yp + other.yp + dy * dp * both)


def _centred(values: Any, seen: Any, n: Any) -> tuple[Any, Any]:
    """The means of columns, and what values that count differ from them, 0 for others; equal ones by exactly 0."""
    if not len(values):
        return np.zeros_like(n), values
    first = np.take_along_axis(values, seen.argmax(0)[None], 0)[0]
    apart = np.where(seen, values - first, 0)
    shift = np.divide(apart.sum(0), n, out=np.zeros_like(n), where=n != 0)
    return first + shift, np.where(seen, apart - shift, 0)
