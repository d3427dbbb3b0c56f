"""Reading ahead in a background thread."""
from __future__ import annotations

import os
import queue
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...base.background import started
from ...errors import ConfigurationError, GraphError
from ..sets.dataset import DataSet
from ..sets.multi_dataset import MultiDataSet
from .iterator import BatchIterator, D, MultiDataSetIterator
from .wrapper_iterators import DataSetWrapper, Wrapper

__all__ = ["AsyncDataSetIterator", "AsyncMultiDataSetIterator"]

_END = object()


@dataclass
class _Failure:
    error: BaseException


class _Ahead:
    """The state that the iterator shares with its thread: the batches, and one token for each that may still be read.

    Queues of this kind cost a tenth of ``queue.Queue``, which is written in Python.
    """

    def __init__(self, size: int) -> None:
        self.batches: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.tokens: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.stopped = False
        for _ in range(size):
            self.tokens.put(None)

    def read(self, base: BatchIterator[Any]) -> None:
        """Read until the end, a failure, or a request to stop."""
        try:
            while True:
                self.tokens.get()
                if self.stopped:
                    return
                if not base.has_next():
                    break
                self.batches.put(base.next())
            self.batches.put(_END)
        except BaseException as error:    # whatever it is, the reader gets it
            self.batches.put(_Failure(error))

    def stop(self) -> None:
        """Ask the thread to end."""
        self.stopped = True
        self.tokens.put(None)


class _Async(Wrapper[D]):
    """Batches that are read ahead.

    Parameters
    ----------
    queue_size : int
        How many batches may wait, at least 1; 8 by default.
    """

    # Of the thread, as long as there is one.
    _shared: _Ahead
    _process: int
    _finalizer: Callable[[], Any]

    def __init__(self, base: BatchIterator[D], queue_size: int = 8) -> None:
        if queue_size < 1:
            raise ConfigurationError(f"{type(self).__name__} needs a queue of at least one batch, got {queue_size}")
        super().__init__(base)
        self._size = queue_size
        self._thread: threading.Thread | None = None
        self._ahead: Any = None
        self._alone = False

    def _start(self) -> None:
        self.begin_pass()       # before the thread moves the other iterator
        self._shared = _Ahead(self._size)
        self._process = os.getpid()
        self._thread = started(self._shared.read, self._base, name="dl4py-read-ahead")
        self._alone = self._thread is None          # no further thread can be had: batches are read when they are asked for
        self._finalizer = weakref.finalize(self, self._shared.stop)     # abandoned: end the thread

    def has_next(self) -> bool:
        if self._ahead is None:
            if self._thread is None and not self._alone:
                self._start()
            if self._alone:
                return self._base.has_next()
            if self._process != os.getpid():
                raise GraphError(f"{type(self).__name__} is read ahead by a thread of the process that this one was forked from: "
                                 "call reset() first, or make the iterator here")
            self._ahead = self._shared.batches.get()
            self._shared.tokens.put(None)
        if isinstance(self._ahead, _Failure):
            raise self._ahead.error
        return self._ahead is not _END

    def take(self, num: int | None) -> D:
        self._no_part(num)
        if self._alone:
            return self._base.next()
        batch: D = self._ahead
        self._ahead = None
        return batch

    def reset(self) -> None:
        self.shutdown()
        self._base.reset()

    def __getstate__(self) -> dict[str, Any]:
        """All but the thread and what it has read: a copy begins with the first batch."""
        left_out = ("_thread", "_ahead", "_shared", "_finalizer", "_process", "_alone")
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _thread=None, _ahead=None, _alone=False)
        if self.reset_supported():
            self.reset()

    def shutdown(self) -> None:
        """End the background thread; what it read ahead is lost."""
        if self._thread is not None:
            self._finalizer()
            self._thread.join()
        self._thread = self._ahead = None
        self._alone = False


class AsyncDataSetIterator(_Async[DataSet], DataSetWrapper):
    """The batches of another iterator, read ahead in a background thread; the order stays.

    An error of the other iterator is raised in the thread that asks for the batch. Where no further thread can be started, batches
    are read when they are asked for.
    """


class AsyncMultiDataSetIterator(_Async[MultiDataSet], MultiDataSetIterator):
    """As `AsyncDataSetIterator`, for multi data sets."""
