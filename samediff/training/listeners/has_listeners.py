"""Base of graphs and networks, which have listeners."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ...data.iterators.position import Positioned
from ...errors import ConfigurationError
from .listener import Listener


def flat(items: Iterable[Any]) -> list[Any]:
    """The items, and those of lists and tuples among them; None is none."""
    made: list[Any] = []
    for item in items:
        made += item if isinstance(item, (list, tuple)) else [] if item is None else [item]
    return made


def checked(items: Iterable[Any]) -> list[Listener]:
    """Listeners as a flat list; ConfigurationError for anything that is no listener."""
    found = flat(items)
    for item in found:
        if not isinstance(item, Listener):
            raise ConfigurationError(f"expected listeners, instances of classes derived from Listener; got {item!r:.60}. One's own derives "
                                     "from BaseTrainingListener: iteration_done(self, model, iteration, epoch), on_epoch_end(self, model)")
    return found


class HasListeners:
    """Base of graphs and networks: the listeners that all their training calls."""

    _listeners: list[Listener]
    _training_data: Any = None
    _inside_batch = False

    def get_data_position(self) -> dict[str, Any] | None:
        """The position of the iterator that `fit` goes through now; None outside `fit` and for other data."""
        return self._training_data.get_position() if isinstance(self._training_data, Positioned) else None

    @contextmanager
    def going_through(self, data: Any) -> Iterator[None]:
        """The block of a `fit` that takes its batches from ``data``."""
        self._training_data = data
        try:
            yield
        finally:
            self._training_data = None

    @contextmanager
    def inside_batch(self, inside: bool) -> Iterator[None]:
        """The block of one piece of a batch; ``inside``: others follow."""
        self._inside_batch = inside
        try:
            yield
        finally:
            self._inside_batch = False

    def is_inside_batch(self) -> bool:
        """Whether further pieces of the present batch follow (truncated back-propagation)."""
        return self._inside_batch

    def set_listeners(self, *listeners: Any) -> None:
        """Replace the listeners."""
        self._listeners = checked(listeners)

    def add_listeners(self, *listeners: Any) -> None:
        """Add listeners."""
        self._listeners += checked(listeners)

    @contextmanager
    def hearing(self, *listeners: Any) -> Iterator[None]:
        """Further listeners, for as long as this lasts."""
        before, during = self._listeners, [*self._listeners, *checked(listeners)]
        self._listeners = during
        try:
            yield
        finally:
            if self._listeners is during:           # else somebody has set others
                self._listeners = before

    def get_listeners(self) -> list[Listener]:
        """The listeners."""
        return list(self._listeners)
