"""Reading ahead in a background thread."""
from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import ConfigurationError
from .dataset import DataSet
from .iterator import BatchIterator, D, MultiDataSetIterator
from .multi_dataset import MultiDataSet
from .wrapper_iterators import DataSetWrapper, Wrapper

_END = object()
_POLL_SECONDS = 0.05


@dataclass
class _Failure:
    error: BaseException


def _read(base: BatchIterator[Any], batches: queue.Queue[Any], stop: threading.Event) -> None:
    """Fill the queue until the end, a failure, or a request to stop."""
    def put(item: Any) -> bool:
        while not stop.is_set():
            try:
                batches.put(item, timeout=_POLL_SECONDS)
            except queue.Full:
                continue
            return True
        return False

    try:
        while not stop.is_set() and base.has_next():
            if not put(base.next()):
                return
        put(_END)
    except BaseException as error:    # whatever it is, the reader gets it
        put(_Failure(error))


class _Async(Wrapper[D]):
    def __init__(self, base: BatchIterator[D], queue_size: int = 8) -> None:
        if queue_size < 1:
            raise ConfigurationError(f"{type(self).__name__} needs a queue of at least one batch, got {queue_size}")
        super().__init__(base)
        self._size = queue_size
        self._thread: threading.Thread | None = None
        self._ahead: Any = None

    def _start(self) -> None:
        self.begin_pass()       # before the thread moves the other iterator
        self._queue: queue.Queue[Any] = queue.Queue(self._size)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=_read, args=(self._base, self._queue, self._stop), daemon=True,
                                        name="dl4py-read-ahead")
        self._thread.start()
        self._finalizer: Callable[[], Any] = weakref.finalize(self, self._stop.set)     # abandoned: end the thread

    def has_next(self) -> bool:
        if self._ahead is None:
            if self._thread is None:
                self._start()
            self._ahead = self._queue.get()
        if isinstance(self._ahead, _Failure):
            raise self._ahead.error
        return self._ahead is not _END

    def take(self, num: int | None) -> D:
        self._no_part(num)
        batch: D = self._ahead
        self._ahead = None
        return batch

    def reset(self) -> None:
        self.shutdown()
        self._base.reset()

    def shutdown(self) -> None:
        """End the background thread; what it read ahead is lost."""
        if self._thread is not None:
            self._finalizer()
            self._thread.join()
        self._thread = self._ahead = None


class AsyncDataSetIterator(_Async[DataSet], DataSetWrapper):
    """The batches of another iterator, read ahead in a background thread; the order stays.

    An error of the other iterator is raised in the thread that asks for the batch.

    Parameters
    ----------
    base : DataSetIterator
        Not to be used otherwise in the meantime.
    queue_size : int, default 8
        How many batches may wait.
    """


class AsyncMultiDataSetIterator(_Async[MultiDataSet], MultiDataSetIterator):
    """The batches of another iterator, read ahead in a background thread."""
