"""The work of a rank in one round of training, on an executor."""
from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from ...samediff.base.javanames import JavaSpelling
from ...samediff.data import AsyncDataSetIterator, AsyncMultiDataSetIterator, DataSet
from ...samediff.data.iterators.list_iterators import ExistingDataSetIterator, ExistingMultiDataSetIterator
from ...samediff.errors import DL4PyError
from ..parallel.averaging import Sums
from .failures import Failure, to_try_again, whole
from .models import SentModel


class TrainingHook(JavaSpelling):
    """Called on executors around every step. Derive from it, at the top of a module; objects are pickled."""

    def pre_update(self, data: Any, model: Any) -> None:
        """Called before the step for a batch."""

    def post_update(self, data: Any, model: Any) -> None:
        """Called after the step for a batch."""


class TrainRound:
    """Trains a replica on the batches of a partition; gives its values, or the error of data or model.

    What a task leaves in its process is replaced at the start of the next one, so it may be tried again, or run twice.

    Parameters
    ----------
    model : SentModel
        Where the round starts.
    updater : bool
        Whether updater state is given back too.
    hooks : sequence of TrainingHook
        Called around steps.
    load : function, optional
        Makes a batch of an element, a path for instance.
    ahead : int
        Batches that are read in the background.
    """

    def __init__(self, model: SentModel, updater: bool, hooks: Sequence[TrainingHook] = (), load: Callable[[Any], Any] | None = None,
                 ahead: int = 0) -> None:
        self.model, self.updater, self.hooks, self.load, self.ahead = model, updater, tuple(hooks), load, ahead

    def __call__(self, rank: int, elements: Iterator[Any]) -> Iterator[Any]:
        try:
            yield self._train(rank, elements)
        except DL4PyError as error:
            yield Failure.of(error, rank)
            deque(elements, 0)          # else this process, with the plans that it has made, is not used again
        except Exception as error:
            raise to_try_again(error, rank) from error

    def _train(self, rank: int, elements: Iterator[Any]) -> Any:
        began = time.perf_counter()
        first = next(elements, None)
        if first is None:
            return Sums()
        replica, steps = self.model.replica(rank), 0
        ready = time.perf_counter()
        for data in self._batches(chain([first], elements)):
            for hook in self.hooks:
                hook.pre_update(data, replica.model)
            replica.fit(data)
            for hook in self.hooks:
                hook.post_update(data, replica.model)
            steps += 1
        made = Sums.of(replica, steps, self.updater)
        made.seconds = {"init": [ready - began], "fit": [time.perf_counter() - ready]}
        return made

    def _batches(self, elements: Iterator[Any]) -> Iterator[Any]:
        batches = whole(elements) if self.load is None else map(self.load, elements)
        return batches if not self.ahead else ahead(batches, self.ahead)


def ahead(batches: Iterator[Any], count: int) -> Iterator[Any]:
    """The batches, so many of them read in the background."""
    first = next(batches)
    every = chain([first], batches)
    if isinstance(first, DataSet):
        return AsyncDataSetIterator(ExistingDataSetIterator(every), count).rest()
    return AsyncMultiDataSetIterator(ExistingMultiDataSetIterator(every), count).rest()
