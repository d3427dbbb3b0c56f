"""Changes of several arrays that happen together or, after an error or an interrupt, not at all."""
from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from ...device.device_memory import to_host


class Transaction:
    """A block that changes arrays: when an exception leaves it, wherever it comes from, they are as before.

    Parameters
    ----------
    arrays : what the block changes
    counter : array of one number, to which the block adds 1 as the last thing it does; the changes stay from then on

    Examples
    --------
    >>> import numpy as np
    >>> params, counter = np.zeros(2), np.zeros(1, np.int64)
    >>> try:
    ...     with Transaction([params], counter):
    ...         params += 1
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt:
    ...     print(params, counter)
    [0. 0.] [0]
    """

    def __init__(self, arrays: Sequence[Any], counter: Any = None) -> None:
        self._arrays, self._counter = arrays, counter
        self._before: list[Any] = []
        self._count = 0

    def __enter__(self) -> None:
        self._before = [to_host(a).copy() for a in self._arrays]
        if self._counter is not None:
            self._count = self._counter.item()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None and (self._counter is None or self._counter.item() == self._count):
            self._restore()

    def take_back(self) -> None:
        """Undo the changes so far, inside of the block."""
        self._restore()

    def _restore(self, tries: int = 10) -> None:
        try:
            for array, old in zip(self._arrays, self._before):
                to_host(array)[...] = old
        except BaseException:           # one more interrupt; what fails every time is no interrupt
            if tries > 1:
                self._restore(tries - 1)
            raise
