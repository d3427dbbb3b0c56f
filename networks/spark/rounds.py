"""Batches dealt out to rounds of training and to the workers in each."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from itertools import accumulate, groupby, islice
from typing import Any

import numpy as np
from pyspark import RDD

from ...samediff.data.given.parts import no_batch
from ...samediff.errors import DL4PyError
from .batches import joined, number_of, part_of
from .contexts import spark_errors
from .failures import Failure, raise_first, whole

#: Where an example is: number of its batch, its place in it.
Place = tuple[int, int]


class Rounds(ABC):
    """The rounds of one pass over the data; each has a partition for every worker, whose elements are its batches in their order.

    Attributes
    ----------
    count : number of rounds
    workers : number of workers
    """

    count: int
    workers: int

    @abstractmethod
    def round(self, number: int) -> Any:
        """The RDD of a round."""

    @abstractmethod
    def close(self) -> None:
        """Give back Spark's storage."""


class Deal:
    """The place of each batch: its round, the worker there, its turn.

    In each round a worker gets neighbouring batches, at most ``frequency``; the last round is dealt out evenly.

    Parameters
    ----------
    batches, workers, frequency : int
        How many there are; the most that a worker gets in one round.
    seed : sequence of int, optional
        Of another order of the batches.

    Examples
    --------
    >>> deal = Deal(7, 2, 2)
    >>> deal.rounds, [deal.partition(batch) for batch in range(7)]
    (2, [0, 0, 1, 1, 2, 2, 3])
    """

    def __init__(self, batches: int, workers: int, frequency: int, seed: Any = None) -> None:
        self.batches, self.workers, self.each = batches, workers, workers * frequency
        self.rounds = -(-batches // self.each)
        self.order = None if seed is None else np.argsort(np.random.default_rng(seed).permutation(batches))

    def turn(self, batch: int) -> int:
        """The place of a batch among all."""
        return batch if self.order is None else int(self.order[batch])

    def partition(self, turn: int) -> int:
        """The partition of a place: ``workers`` of them for each round."""
        number, at = divmod(turn, self.each)
        few, more = divmod(min(self.each, self.batches - number * self.each), self.workers)
        rank = at // (few + 1) if at < more * (few + 1) else more + (at - more * (few + 1)) // few
        return number * self.workers + rank


class DealtRounds(Rounds):
    """Batches that were moved: a partition for each round and worker."""

    def __init__(self, rdd: Any, deal: Deal, level: Any) -> None:
        self._rdd, self.count, self.workers = rdd.persist(level), deal.rounds, deal.workers

    @classmethod
    def of(cls, rdd: Any, workers: int, frequency: int, size: int | None, seed: Any, level: Any) -> DealtRounds:
        """Deal out data sets in batches of so many examples; without a size each element is a batch."""
        with spark_errors("counting the examples"):
            sizes = rdd.mapPartitionsWithIndex(_Count(size)).collect()
        raise_first(sizes)
        total = sum(sizes)
        if not total:
            raise no_batch("fit")
        deal = Deal(-(-total // (size or 1)), workers, frequency, seed)
        offsets = [0, *accumulate(sizes)]
        moved = rdd.mapPartitionsWithIndex(_Cut(offsets, size, deal)).partitionBy(deal.rounds * workers, int)
        return cls(moved.mapPartitions(_assembled, preservesPartitioning=True), deal, level)

    def round(self, number: int) -> Any:
        return partitions_of(self._rdd, range(number * self.workers, (number + 1) * self.workers))

    def close(self) -> None:
        self._rdd.unpersist()


class PartitionRounds(Rounds):
    """Batches that stay where they are: each partition is a worker's data."""

    def __init__(self, rdd: Any, frequency: int, size: int | None, level: Any) -> None:
        self._rdd = (rdd if size is None else rdd.mapPartitions(_Batched(size))).persist(level)
        with spark_errors("counting the batches"):
            counts = self._rdd.mapPartitionsWithIndex(_Count(None)).collect()
        raise_first(counts)
        if not sum(counts):
            self.close()
            raise no_batch("fit")
        self.frequency, self.workers, self.count = frequency, len(counts), -(-max(counts) // frequency)

    def round(self, number: int) -> Any:
        first = number * self.frequency
        return self._rdd.mapPartitions(_Slice(first, first + self.frequency))

    def close(self) -> None:
        self._rdd.unpersist()


def partitions_of(rdd: Any, numbers: range) -> Any:
    """An RDD of some partitions of another one; the others are not touched."""
    context = rdd.context
    chosen = context._jvm.PythonUtils.toSeq(list(numbers)).toSet()      # a set is a function, and one that can be sent
    pruned = context._jvm.org.apache.spark.rdd.PartitionPruningRDD.create(rdd._jrdd.rdd(), chosen)
    return RDD(pruned.toJavaRDD(), context, rdd._jrdd_deserializer)


class _Count:
    """The number of examples in a partition, or of its elements."""

    def __init__(self, size: int | None) -> None:
        self.size = size

    def __call__(self, index: int, data: Iterator[Any]) -> Iterator[Any]:
        try:
            yield sum(1 if self.size is None else number_of(one) for one in whole(data))
        except DL4PyError as error:
            yield Failure.of(error, index)
            deque(data, 0)


class _Cut:
    """Parts of batches, with the partitions that they belong to."""

    def __init__(self, offsets: list[int], size: int | None, deal: Deal) -> None:
        self.offsets, self.size, self.deal = offsets, size, deal

    def __call__(self, index: int, data: Iterator[Any]) -> Iterator[tuple[int, tuple[Place, Any]]]:
        at, size = self.offsets[index], self.size or 1
        for one in data:
            done, count = 0, 1 if self.size is None else number_of(one)
            while done < count:
                batch, place = divmod(at + done, size)
                taken = min(size - place, count - done)
                turn = self.deal.turn(batch)
                yield self.deal.partition(turn), ((turn, place), one if taken == count else part_of(one, done, done + taken))
                done += taken
            at += count


def _assembled(parts: Iterator[tuple[int, tuple[Place, Any]]]) -> Iterator[Any]:
    """The batches of a partition in their order."""
    given = sorted((part for _, part in parts), key=lambda part: part[0])
    for turn, same in groupby(given, key=lambda part: part[0][0]):
        yield _joined([one for _, one in same], turn)


class _Batched:
    """The batches of a partition, put together from its elements."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, data: Iterator[Any]) -> Iterator[Any]:
        return batched(data, self.size)


class _Slice:
    """Some batches of a partition; the others are read, as a Python process that leaves some unread is not used again."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last

    def __call__(self, data: Iterator[Any]) -> Iterator[Any]:
        yield from islice(data, self.first, self.last)
        deque(data, 0)


def batched(data: Iterator[Any], size: int) -> Iterator[Any]:
    """Data sets as batches of so many examples; the last one may be smaller."""
    waiting: list[Any] = []
    count = turn = 0
    for one in whole(data):
        done, number = 0, number_of(one)
        while done < number:
            taken = min(size - count, number - done)
            waiting.append(one if taken == number else part_of(one, done, done + taken))
            done, count = done + taken, count + taken
            if count == size:
                yield _joined(waiting, turn)
                waiting, count, turn = [], 0, turn + 1
    if waiting:
        yield _joined(waiting, turn)


def _joined(parts: list[Any], turn: int) -> Any:
    """A batch, or the failure to make it one."""
    try:
        return joined(parts) if len(parts) > 1 or isinstance(parts[0], (tuple, list)) else parts[0]
    except DL4PyError as error:
        error.add_note(f"while batch {turn} was put together")
        return Failure.of(error, 0)

