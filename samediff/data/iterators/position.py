"""Positions of iterators as plain values, so that training goes on in the middle of a pass."""
from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import ConfigurationError


class Positioned:
    """Counts the batches of a pass and notes in which order they come; the base of all iterators.

    An iterator whose passes differ (by shuffling) defines `get_order` and `set_order`; one around others `inner_iterators`.
    """

    _batches_given = 0
    _order_of_pass: dict[str, Any] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "reset" in vars(cls):
            cls.reset = _restarting(cls.reset)  # type: ignore[attr-defined]

    def inner_iterators(self) -> Iterable[Any]:
        """The iterators that this one reads, whose order is part of its own."""
        return ()

    def get_order(self) -> dict[str, Any]:
        """What decides the order of a pass that has not begun, besides the arguments of the constructor: JSON values."""
        inner = [it.get_order() for it in self.inner_iterators()]
        return {"inner": inner} if any(inner) else {}

    def set_order(self, order: Mapping[str, Any]) -> None:
        """Begin the pass of that order."""
        inner = order.get("inner", ())
        for it, own in zip(self.inner_iterators(), inner):
            it.set_order(own)

    def begin_pass(self) -> None:
        """Note the order; called before the first batch of a pass is read."""
        if self._order_of_pass is None:
            self._order_of_pass = self.get_order()

    def get_position(self) -> dict[str, Any]:
        """Where the iterator stands: JSON values for `set_position` of an iterator made by the same call.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.samediff.data import NumpyDataSetIterator
        >>> it = NumpyDataSetIterator(np.zeros((6, 1)), np.zeros((6, 1)), 2, shuffle_seed=1)
        >>> _ = it.next()
        >>> it.get_position()
        {'iterator': 'NumpyDataSetIterator', 'batches': 1, 'order': {'shuffles': 1}}
        """
        self.begin_pass()
        return {"iterator": type(self).__name__, "batches": self._batches_given, "order": self._order_of_pass}

    def set_position(self, position: Mapping[str, Any]) -> None:
        """Go to where `get_position` was called: the next batch and all later passes are the same as there.

        Raises
        ------
        ConfigurationError
            The position is that of another class of iterator, or behind the end of the data.
        """
        try:
            kind, batches, order = str(position["iterator"]), int(position["batches"]), dict(position["order"])
        except (KeyError, TypeError, ValueError):
            raise ConfigurationError("a position has 'iterator', 'batches' and 'order', as get_position() gives them; "
                                     f"got {position!r:.120}") from None
        if kind != type(self).__name__:
            raise ConfigurationError(f"the position is that of a {kind}, not of a {type(self).__name__}: "
                                     "make the iterator as it was made then")
        it: Any = self
        if it.reset_supported():
            it.reset()
        it.set_order(order)
        it._batches_given, it._order_of_pass = 0, order
        for done in range(batches):
            if not it.has_next():
                raise ConfigurationError(f"the position is behind batch {batches}, but this {kind} has only {done}: "
                                         "make the iterator over the same data and with the same batch size")
            it.next()


def _restarting(reset: Any) -> Any:
    @functools.wraps(reset)
    def restart(self: Positioned) -> None:
        reset(self)
        self._batches_given, self._order_of_pass = 0, None
    return restart
