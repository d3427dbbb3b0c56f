"""Passes over batches: of collections, iterators, generators, functions that give them, and single examples put together."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...base.javanames import method_of
from ...errors import ConfigurationError, DL4PyError, GraphError
from ...expressions.arrays import as_array
from .forms import is_array, is_number, record_of
from .parts import no_batch

Order = Callable[[int], Any]


def source_of(data: Any, size: int | None = None, order: Order | None = None) -> Any:
    """What gives the batches of ``data`` once more with every ``iter``, where that is possible.

    Parameters
    ----------
    data : iterable, iterator, function, or an object with ``__len__`` and ``__getitem__``
        Iterators and collections of batches stay as they are; a function is called for every pass.
    size : int, optional
        The entries are examples, of which so many make a batch.
    order : callable, optional
        Gives the order of so many examples, anew for every pass.
    """
    if size is not None:
        return Examples(data, size, order)
    if hasattr(data, "as_numpy_iterator"):          # of tensors that are arrays already
        return Called(data.as_numpy_iterator)
    if hasattr(data, "__iter__"):
        return data
    if in_java(data):
        return InJava(data)
    return Called(data) if callable(data) else Indexed(data)


def can_repeat(source: Any) -> bool:
    """Whether batches can be gone through once more."""
    while isinstance(source, Wrapped) and not isinstance(source, Called):
        source = source.data
    if in_java(source):
        if (supported := method_of(source, "reset_supported")) is not None:
            return bool(supported())
        return hasattr(source, "reset") or (hasattr(source, "__iter__") and not isinstance(source, Iterator))
    return not isinstance(source, Iterator)


class Wrapped:
    """Batches made of other data."""

    def __init__(self, data: Any) -> None:
        self.data = data


class Mapped(Wrapped):
    """Batches, each changed when it is taken."""

    def __init__(self, data: Any, change: Callable[[Any], Any]) -> None:
        super().__init__(data)
        self.change = change

    def __iter__(self) -> Iterator[Any]:
        return map(self.change, self.data)


class Called(Wrapped):
    """The batches that a function gives, called anew for every pass."""

    def __iter__(self) -> Iterator[Any]:
        made = self.data()
        if not hasattr(made, "__iter__"):
            raise GraphError(f"a function given as data must return batches, such as a generator does; got {type(made).__name__}")
        return iter(made)


class Indexed(Wrapped):
    """The entries of an object that has a length and numbers its entries."""

    def __iter__(self) -> Iterator[Any]:
        return (self.data[k] for k in range(len(self.data)))


def in_java(data: Any) -> bool:
    """Whether an object is asked for its batches by ``has_next``, in either spelling."""
    return method_of(data, "has_next") is not None


class InJava(Wrapped):
    """The batches of an object that has ``has_next`` and ``next`` alone, in either spelling."""

    def __iter__(self) -> Iterator[Any]:
        has_next = method_of(self.data, "has_next")
        if not has_next() and can_repeat(self):
            self.data.reset()
        while has_next():
            yield self.data.next()


class Examples(Wrapped):
    """Batches of examples: those that an object numbers, in any order, or that are gone through."""

    def __init__(self, data: Any, size: int, order: Order | None) -> None:
        super().__init__(data)
        self.size, self.order = size, order
        numbered = hasattr(data, "__getitem__") and hasattr(data, "__len__")
        if order is not None and not numbered:
            raise GraphError(f"shuffle needs examples that are numbered (__len__ and __getitem__); a {type(data).__name__} decides on the "
                             "order itself")
        self._numbered = numbered

    def __iter__(self) -> Iterator[Any]:
        waiting: list[Any] = []
        for example in self._examples():
            waiting.append(example)
            if len(waiting) == self.size:
                yield together(waiting)
                waiting = []
        if waiting:
            yield together(waiting)

    def _examples(self) -> Iterator[Any]:
        if not self._numbered:
            return iter(source_of(self.data))
        count = len(self.data)
        return (self.data[int(k)] for k in (range(count) if self.order is None else self.order(count)))


def decides_itself(data: Any) -> bool:
    """Whether it has batches already: an iterator of data sets, or a loader with a batch size."""
    if in_java(data) or getattr(data, "batch_size", None) is not None:
        return True
    return isinstance(data, (list, tuple)) and bool(data) and hasattr(data[0], "num_examples")


def together(examples: list[Any]) -> Any:
    """A batch of examples: arrays and numbers stacked, inside of tuples and dictionaries.

    Raises
    ------
    ConfigurationError
        Examples of different shapes, of which the first that differs is named; data sets.
    """
    first = examples[0]
    if (record := record_of(first)) is not None:
        rows = [record_of(e) or {} for e in examples]
        return {key: together([row[key] for row in rows]) for key in record}
    if isinstance(first, (tuple, list)) and not all(map(is_number, first)):
        return tuple(together(list(parts)) for parts in zip(*examples))
    if hasattr(first, "num_examples"):
        raise ConfigurationError("batch_size puts single examples together; data sets are batches already, and decide on their size")
    arrays = [as_array(e) if is_array(e) or isinstance(e, (list, tuple)) else np.asarray(e) for e in examples]
    shape = arrays[0].shape
    different = next((k for k, a in enumerate(arrays) if a.shape != shape), None)
    if different is not None:
        raise ConfigurationError(f"examples of different shapes make no batch: {shape}, then {arrays[different].shape} in row {different} "
                                 "of the batch; pad them, and give a mask")
    return np.stack(arrays)


class InBatch:
    """Adds the number of a batch to the errors that arise from it."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, DL4PyError):
            note_batch(error, self.number)


def note_batch(error: DL4PyError, number: int) -> None:
    """Add the number of the batch from which an error arose."""
    error.add_note(f"in batch {number} of the data, counted from 0")


def numbered(batches: Iterable[Any], use: str) -> Iterator[tuple[int, Any]]:
    """The batches with their numbers; ConfigurationError where there is none."""
    number = -1
    for number, data in enumerate(batches):
        yield number, data
    if number < 0:
        raise no_batch(use)
