"""Batches of the rows of one batch."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .batch import NetworkBatch


class RowBatches:
    """Batches of rows, consecutive ones or in an order that is asked for at every pass."""

    def __init__(self, batch: NetworkBatch, size: int, order: Callable[[int], Any] | None = None) -> None:
        self._batch, self._size, self._order = batch, size, order

    @property
    def batches_stay(self) -> bool:
        """Whether each pass gives batches over the same memory."""
        return self._order is None

    def __iter__(self) -> Iterator[NetworkBatch]:
        batch = self._batch
        if self._order is not None:
            order = self._order(batch.size)
            batch = batch.map(lambda a: a[order])
        for start in range(0, batch.size, self._size):
            rows = slice(start, start + self._size)
            yield batch.map(lambda a: a[rows])  # noqa: B023 - used at once
