"""Requests that wait for a worker: a bounded queue that gives out those together which fit in one batch."""
from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable, Sequence
from concurrent.futures import Future
from typing import Any

from ...samediff.base.source_line import user_line
from ...samediff.errors import ShutdownError


class InferenceRequest:
    """Inputs and masks of one call, the user's line that made it, and the promise of its outputs.

    Requests with the same ``key`` can be put below each other along the axis of the examples; None stands alone.
    """

    def __init__(self, inputs: Sequence[Any], masks: Sequence[Any]) -> None:
        self.inputs, self.masks, self.line = list(inputs), list(masks), user_line()
        self.future: Future[list[Any]] = Future()
        self.rows = int(self.inputs[0].shape[0]) if self.inputs else 0
        arrays = [*self.inputs, *self.masks]
        together = self.rows > 0 and all(a is None or a.shape[0] == self.rows for a in arrays)
        self.key: Hashable = tuple(None if a is None else (a.shape[1:], a.dtype) for a in arrays) if together else None


class RequestQueue:
    """A bounded queue, first come first served; :meth:`take` adds those behind the first that have its key.

    Parameters
    ----------
    limit : int
        Requests that may wait; :meth:`put` blocks when so many do.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[InferenceRequest] = deque()
        lock = threading.Lock()
        self._filled, self._room = threading.Condition(lock), threading.Condition(lock)
        self._closed = False

    def put(self, request: InferenceRequest) -> None:
        """Add a request, as soon as there is room.

        Raises
        ------
        ShutdownError
            The queue is closed, or was while waiting.
        """
        with self._room:
            while len(self._waiting) >= self._limit and not self._closed:
                self._room.wait()
            if self._closed:
                raise shut_down()
            self._waiting.append(request)
            self._filled.notify()

    def take(self, most_rows: int) -> list[InferenceRequest]:
        """The oldest request and others for the same batch of at most ``most_rows`` examples; empty when closed.

        Requests that were cancelled meanwhile are dropped; the others can no longer be cancelled.
        """
        with self._filled:
            while True:
                while not self._waiting and not self._closed:
                    self._filled.wait()
                if self._closed:
                    return []
                found = self._matching(most_rows)
                self._room.notify(len(found))
                running = [r for r in found if r.future.set_running_or_notify_cancel()]
                if running:
                    return running

    def _matching(self, most_rows: int) -> list[InferenceRequest]:
        first = self._waiting.popleft()
        found, rows = [first], first.rows
        if first.key is None or rows >= most_rows:
            return found
        passed: list[InferenceRequest] = []
        while self._waiting and rows < most_rows:
            other = self._waiting.popleft()
            if other.key == first.key and rows + other.rows <= most_rows:
                found.append(other)
                rows += other.rows
            else:
                passed.append(other)
        self._waiting.extendleft(reversed(passed))
        return found

    def close(self) -> None:
        """Refuse further requests; those that wait get a :class:`ShutdownError`."""
        with self._filled:
            self._closed = True
            left, self._waiting = self._waiting, deque()
            self._filled.notify_all()
            self._room.notify_all()
        for request in left:
            if request.future.set_running_or_notify_cancel():
                request.future.set_exception(shut_down())


def shut_down() -> ShutdownError:
    """The error of requests that nobody will answer."""
    return ShutdownError("the request cannot be answered: ParallelInference was shut down; build another one")
