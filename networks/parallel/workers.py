"""The workers of a parallel training besides the first, which is the caller's own thread."""
from __future__ import annotations

import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ...samediff.base.background import started
from ...samediff.device.devices import Device
from ...samediff.errors import WorkerError
from ...samediff.training.listeners.listener import Listener
from ..models.fitting import NetworkFittingMixin
from .all_reduce import AllReduce, BrokenGroupError, ThreadAllReduce
from .device_all_reduce import DeviceAllReduce
from .replica import Begin, Replica, SharedListeners, Task
from .settings import WrapperSettings


class NoWorkerError(WorkerError):
    """The system gives no thread for a worker."""


class Workers(ABC):
    """Replicas of rank 1, 2 … and the group in which they and rank 0 exchange."""

    ranks: AllReduce        # rank 0's end

    @abstractmethod
    def begin(self, begin: Begin, listeners: Sequence[Listener], lock: Any) -> None:
        """Let every worker take part in :meth:`Replica.begin`."""

    @abstractmethod
    def feed(self, rank: int, task: Task) -> None:
        """Hand over a task, as soon as the worker has begun with the one before."""

    @abstractmethod
    def finish(self) -> None:
        """Wait until all tasks are done; raise what went wrong at a worker."""

    @abstractmethod
    def error(self) -> BaseException | None:
        """The error of a worker, other than that another one ended."""

    @abstractmethod
    def close(self) -> None:
        """End all workers, whatever they are doing."""


def _group(workers: int, places: Sequence[Device]) -> list[AllReduce]:
    """Ends for ranks at these places: GPUs, each with one rank, exchange among themselves."""
    if workers > 1 and len(set(places)) == workers and all(p.kind == "cuda" for p in places):
        return DeviceAllReduce.over(places)
    return ThreadAllReduce.group(workers)


class ThreadWorkers(Workers):
    """Workers that are threads, with copies of the network."""

    def __init__(self, network: NetworkFittingMixin, settings: WrapperSettings) -> None:
        self.ranks, *others = _group(settings.workers, settings.places())
        self._replicas = [Replica(network.clone(), end, settings) for end in others]
        self._queues: list[queue.Queue[Any]] = [queue.Queue(1) for _ in others]
        self._errors: list[BaseException] = []
        self._hear = SharedListeners(())
        self._threads: list[threading.Thread] = []
        try:
            for rank, (replica, tasks) in enumerate(zip(self._replicas, self._queues), 1):
                thread = started(self._work, rank, replica, tasks, name=f"dl4py-training-{rank}")
                if thread is None:
                    raise NoWorkerError(f"no thread can be started for worker {rank}")
                self._threads.append(thread)
        except BaseException:
            self.close()
            raise

    def begin(self, begin: Begin, listeners: Sequence[Listener], lock: Any) -> None:
        self._hear = SharedListeners(listeners, lock)
        for replica, tasks in zip(self._replicas, self._queues):
            replica.network.set_listeners(*listeners)
            tasks.put(begin)

    def feed(self, rank: int, task: Task) -> None:
        self._queues[rank - 1].put(task)

    def finish(self) -> None:
        for tasks in self._queues:
            tasks.join()
        found = self.error()
        if found is not None:
            raise found

    def error(self) -> BaseException | None:
        return next((e for e in self._errors if not isinstance(e, BrokenGroupError)), None)

    def close(self) -> None:
        self.ranks.abort()
        for tasks in self._queues:          # also of a thread that an interrupt kept from the list
            tasks.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self, rank: int, replica: Replica, tasks: queue.Queue[Any]) -> None:
        failed = False
        while (task := tasks.get()) is not None:
            if not failed:          # after an error tasks are taken away, so that nobody waits for room
                try:
                    replica.do(task, self._hear)
                except BaseException as error:      # raised again where the training was called
                    failed = True
                    error.add_note(f"in worker {rank} of the parallel training")
                    self._errors.append(error)
                    self.ranks.abort()
            tasks.task_done()
        tasks.task_done()
