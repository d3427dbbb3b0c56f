"""Tree aggregation in the order of the ranks, so that sums have the same bits in every run."""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from ..parallel.averaging import Sums
from .failures import Failure, raise_first

Part = tuple[int, Any]      # a rank, and sums or a failure


class Tree:
    """The levels between some ranks and the driver: at each, neighbouring ranks are added up by one task.

    Parameters
    ----------
    ranks : int
        At the lowest level.
    depth : int
        Levels, those of ranks and driver among them; there are fewer where they would not help, as in ``RDD.treeAggregate``.

    Examples
    --------
    >>> Tree(64, 2).levels, Tree(64, 3).levels, Tree(4, 2).levels
    ([8], [16, 4], [])
    """

    def __init__(self, ranks: int, depth: int) -> None:
        scale = max(math.ceil(round(ranks ** (1 / depth), 9)), 2)
        self.levels: list[int] = []
        while ranks > scale + math.ceil(ranks / scale):
            ranks = math.ceil(ranks / scale)
            self.levels.append(ranks)

    def total(self, parts: Any, ranks: int) -> Sums:
        """The sums over an RDD with one element for each rank, in as many partitions."""
        for count in self.levels:
            parts = parts.mapPartitionsWithIndex(_Keyed(ranks, count)).partitionBy(count, int).mapPartitions(_one_sum)
            ranks = count
        found = parts.mapPartitionsWithIndex(_numbered).collect()
        return merged(part for _, part in sorted(found, key=_rank))


def merged(parts: Iterable[Any]) -> Sums:
    """The sums of parts in their order; the error of a failed one is raised."""
    given = list(parts)
    raise_first(given)
    return Sums.together(given)


class _Keyed:
    """Gives each sum the number of the task that adds it up: neighbours the same."""

    def __init__(self, ranks: int, count: int) -> None:
        self.ranks, self.count = ranks, count

    def __call__(self, index: int, parts: Iterator[Any]) -> Iterator[tuple[int, Part]]:
        for part in parts:
            yield index * self.count // self.ranks, (index, part)


def _one_sum(parts: Iterator[tuple[int, Part]]) -> Iterator[Any]:
    given = [part for _, (_, part) in sorted(parts, key=lambda p: p[1][0])]
    failed: list[Any] = [part for part in given if isinstance(part, Failure)]
    yield from failed or [Sums.together(given)]


def _numbered(index: int, parts: Iterator[Any]) -> Iterator[Part]:
    for part in parts:
        yield index, part


def _rank(part: Part) -> int:
    return part[0]
