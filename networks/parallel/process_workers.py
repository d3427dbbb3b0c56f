"""Workers that are processes."""
from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import queue
import signal
import threading
import traceback
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from ...samediff.base.background import started
from ...samediff.errors import WorkerError
from ...samediff.training.listeners.listener import Listener
from ..models.fitting import Fitting
from .all_reduce import AllReduce, BrokenGroupError
from .process_all_reduce import ProcessAllReduce
from .replica import Begin, Replica, SharedListeners, Task
from .settings import WrapperSettings
from .workers import NoWorkerError, Workers

_SECONDS_TO_END = 10.0
_SECONDS_BETWEEN_LOOKS = 1.0


class ProcessWorkers(Workers):
    """Workers that are processes of this machine; they live until :meth:`close`.

    A process gets the configuration and makes a network of its own; parameters come through shared memory. Listeners stay in this
    process and hear rank 0 only.
    """

    def __init__(self, network: Fitting, settings: WrapperSettings) -> None:
        self._processes: list[Any] = []
        self._all_started, self._closing = threading.Event(), False
        if started(self._watch_over, name="dl4py-training-watch") is None:
            raise NoWorkerError("no thread can be started that watches over processes")
        context, flat = multiprocessing.get_context("spawn"), network.engine.flat
        ends = ProcessAllReduce.group(settings.workers, max(flat.params.nbytes, flat.state.nbytes, 64), context)
        self.ranks: AllReduce = ends[0]
        self._queues = [context.Queue(2) for _ in ends[1:]]
        self._answers: list[Connection] = []
        self._error: BaseException | None = None
        made = pickle.dumps((type(network), network._configuration))
        for end, tasks in zip(ends[1:], self._queues):
            here, there = context.Pipe(False)
            process = context.Process(target=_serve, args=(made, end, settings, tasks, there), daemon=True,
                                      name=f"dl4py-training-{end.rank}")
            process.start()
            there.close()
            self._answers.append(here)
            self._processes.append(process)
        self._all_started.set()

    def begin(self, begin: Begin, listeners: Sequence[Listener], lock: Any) -> None:
        for rank in range(1, self.ranks.size):
            self._put(rank, begin)

    def feed(self, rank: int, task: Task) -> None:
        self._put(rank, task)

    def _put(self, rank: int, task: Any) -> None:
        while True:
            try:
                self._queues[rank - 1].put(task, timeout=_SECONDS_BETWEEN_LOOKS)
            except queue.Full:
                if self._processes[rank - 1].is_alive():
                    continue
                raise self._ended(rank) from None
            return

    def finish(self) -> None:
        for rank in range(1, self.ranks.size):
            self._put(rank, "finish")
        self._receive(None)
        if self._error is not None:
            raise self._error

    def error(self) -> BaseException | None:
        self._receive(_SECONDS_TO_END)
        return self._error

    def _receive(self, seconds: float | None) -> None:
        """Hear of each worker that it is done, or what went wrong first."""
        left = dict(zip(self._answers, range(1, self.ranks.size)))
        while left and self._error is None:
            ready = wait(list(left), seconds)
            if not ready:
                return
            for answers in ready:
                assert isinstance(answers, Connection)
                rank = left.pop(answers)
                try:
                    found = answers.recv()
                except (EOFError, OSError):
                    found = self._ended(rank)
                if isinstance(found, BaseException) and not isinstance(found, BrokenGroupError):
                    self._error = self._error or found

    def _ended(self, rank: int) -> WorkerError:
        process = self._processes[rank - 1]
        process.join(_SECONDS_TO_END)
        return WorkerError(f"the process of worker {rank} ended with the exit code {process.exitcode} before its work was done")

    def _watch_over(self) -> None:
        """Nobody waits for a process that has ended."""
        self._all_started.wait()
        wait([p.sentinel for p in self._processes])
        if not self._closing:
            self.ranks.abort()

    def close(self) -> None:
        self._closing = True
        self.ranks.abort()
        for tasks in self._queues:
            with contextlib.suppress(queue.Full):
                tasks.put(None, timeout=_SECONDS_BETWEEN_LOOKS)
        for process, tasks, answers in zip(self._processes, self._queues, self._answers):
            process.join(_SECONDS_TO_END)
            if process.is_alive():
                process.terminate()
                process.join()
            process.close()
            tasks.cancel_join_thread()
            tasks.close()
            answers.close()
        self.ranks.close()


def _serve(made: bytes, ranks: AllReduce, settings: WrapperSettings, tasks: Any, answers: Connection) -> None:
    """The main function of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # Ctrl-C is the first worker's business, which then ends this process
    failed = False
    replica: Replica | None = None
    hear = SharedListeners(())
    while (task := tasks.get()) is not None:
        if failed:
            continue
        if task == "finish":
            answers.send(None)
            continue
        try:
            if replica is None:
                kind, configuration = pickle.loads(made)
                replica = Replica(kind(configuration).init(), ranks, settings)
            replica.do(task, hear)
        except Exception as error:                      # raised again where the training was called
            failed = True
            answers.send(_portable(error, ranks.rank))
            ranks.abort()
    ranks.close()


def _portable(error: Exception, rank: int) -> BaseException:
    """The error in a form that another process can read."""
    notes = [*getattr(error, "__notes__", ()), f"in worker {rank} of the parallel training, a process:\n{traceback.format_exc()}"]
    try:
        found: BaseException = pickle.loads(pickle.dumps(error))
    except Exception:           # an error's class may have any constructor
        found = WorkerError(f"{type(error).__name__}: {error}")
    found.__dict__["__notes__"] = notes
    return found
