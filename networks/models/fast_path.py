"""Compiled steps for the batches of an epoch: for small networks the way to a step costs as much as the step."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from numpy import ndarray

from ...samediff.data import DataSet
from ..batches.batch import NetworkBatch
from ..engine.engine import Engine
from ..engine.steps import CachedStep, form_of, form_of_batch

Feeds = Sequence[Any]

#: Data sets that are remembered, at most.
MOST = 1024


class FastPath:
    """Does what :meth:`.Trainer.fit_batch` does, for batches of a form that was fitted before."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self._steps = engine, engine.steps
        self._seen: dict[int, tuple[DataSet, Any, Any, CachedStep, Feeds]] = {}     # data sets, which may come again, and their arrays

    def through(self, batches: Iterable[Any], stay: bool) -> Iterator[Any]:
        """Fit the batches; gives, in its place among them, each for which that was not possible.

        ``stay`` says that batches stay as they are when the next ones are made: short steps are taken several at a time then.
        """
        last: CachedStep | None = None
        waiting: list[Feeds] = []
        most = 1
        try:
            for data in batches:
                known, feeds = self._known(data)
                if known is not last or len(waiting) >= most:
                    waiting = self._flush(last, waiting)
                    most = known.most if stay and known is not None else 1
                last = known
                if known is None:
                    yield data
                    continue
                waiting.append(feeds)
                if most == 1:
                    waiting = self._flush(known, waiting)
        finally:            # when a batch cannot be had, those before it are fitted as ever
            self._flush(last, waiting)

    def _known(self, data: Any) -> tuple[CachedStep | None, Feeds]:
        """The compiled step for a batch and its inputs; None where there is no such step."""
        if self._steps is not self.engine.steps:        # whoever gives the batches has changed the configuration
            self._steps = self.engine.steps
            self._seen.clear()
        if type(data) is DataSet and data.features_mask is data.labels_mask is None:
            x, y = data.features, data.labels
            seen = self._seen.get(id(data))
            if seen is not None and seen[1] is x and seen[2] is y:
                return seen[3], seen[4]
            if type(x) is type(y) is ndarray:
                known = self._steps.compiled(form_of(x, y))
                if known is not None:
                    feeds = (x, y) if known.in_order else tuple([(x, y)[k] for k, _ in known.places])
                    if len(self._seen) < MOST:
                        self._seen[id(data)] = data, x, y, known, feeds
                    return known, feeds
        elif type(data) is NetworkBatch:
            known = self._steps.compiled(form_of_batch(data))
            if known is not None:
                return known, known.feeds(data)
        return None, ()

    def _flush(self, known: CachedStep | None, waiting: list[Feeds]) -> list[Feeds]:
        """Fit the waiting batches by one step; returns the batches still waiting: an empty list."""
        if known is None or not waiting:
            return []
        batches = waiting.copy()
        waiting.clear()             # whatever interrupts this: no batch is fitted twice
        self._steps.run_compiled(known, batches)
        return []
