"""Workers that are processes."""
from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from multiprocessing.connection import wait
from typing import Any

from ...samediff.configuration.pickling import pickled
from ...samediff.errors import WorkerError
from ...samediff.training.listeners.listener import Listener
from ..models.fitting import NetworkFittingMixin
from .all_reduce import AllReduce, BrokenGroupError
from .process_all_reduce import ProcessAllReduce
from .process_handle import ProcessHandle
from .replica import Begin, Task
from .settings import WrapperSettings
from .worker_process import FINISH
from .workers import Workers

_SECONDS_TO_END = 10.0
_MAIN = 'if __name__ == "__main__":'


class ProcessWorkers(Workers):
    """Workers that are processes of this machine; they live until :meth:`close`.

    A process gets the configuration and makes a network of its own; parameters come through shared memory. Listeners stay in this
    process and hear rank 0 only. All waiting is for channels, and those of a process end when it does.
    """

    def __init__(self, network: NetworkFittingMixin, settings: WrapperSettings) -> None:
        _refuse_where_none_starts()
        made, flat, context = _pickled(network), network.engine.flat, multiprocessing.get_context("spawn")
        ends = ProcessAllReduce.group(settings.workers, max(flat.params.nbytes, flat.state.nbytes, 64), context)
        self.ranks: AllReduce = ends[0]
        self._others: list[ProcessHandle] = []
        self._all_started = False
        try:
            for end in ends[1:]:
                self._others.append(ProcessHandle(end, settings, context))
                self._others[-1].start(self.ranks.abort)
            self._ask_all(made)
        except BaseException:
            self.close()
            raise
        finally:                    # from now on these are open in their processes only
            for end in ends[1:]:
                end.close()
        self._all_started = True

    def begin(self, begin: Begin, listeners: Sequence[Listener], lock: Any) -> None:
        for other in self._others:
            self._put(other, begin)

    def feed(self, rank: int, task: Task) -> None:
        self._put(self._others[rank - 1], task)

    def _put(self, other: ProcessHandle, message: Any) -> None:
        if not other.put(message):
            raise self.error() or BrokenGroupError(f"worker {other.rank} ended: it takes no more tasks")

    def finish(self) -> None:
        self._ask_all(FINISH)

    def _ask_all(self, message: Any) -> None:
        """Hand something to every worker and wait until all have answered that they are done."""
        for other in self._others:
            self._put(other, message)
        found = self._first_error(None)
        if found is not None:
            raise found

    def error(self) -> BaseException | None:
        return self._first_error(_SECONDS_TO_END)

    def _first_error(self, seconds: float | None) -> BaseException | None:
        """Hear from each worker, as long as one answers within that time."""
        left: dict[Any, ProcessHandle] = {other.channel.socket: other for other in self._others}
        broken: BaseException | None = None
        while left and (ready := wait(list(left), seconds)):
            for other in [left.pop(socket) for socket in ready]:
                try:
                    found: BaseException | None = other.channel.receive()
                except OSError:
                    found = self._ended(other)
                if isinstance(found, BrokenGroupError):     # the reason is at another worker
                    broken = found
                elif found is not None:
                    return found
        return broken

    def _ended(self, other: ProcessHandle) -> WorkerError:
        when = "before its work was done; the next fit starts new workers" if self._all_started else (
            f"while it started, and standard error says why; a script that trains with processes does so below {_MAIN}")
        return WorkerError(f"the process of worker {other.rank} ended with the exit code {other.exit_code(_SECONDS_TO_END)} {when}")

    def close(self) -> None:
        self.ranks.abort()
        for other in self._others:
            other.channel.end()             # now every process ends by itself, unless it does something else for long
        end = time.monotonic() + _SECONDS_TO_END
        for other in self._others:
            other.close(max(0.0, end - time.monotonic()))
        self.ranks.close()


def _refuse_where_none_starts() -> None:
    """A process that is being started, or one of a pool, can start none."""
    process = multiprocessing.current_process()
    if getattr(process, "_inheriting", False):
        raise WorkerError(f"a process that is being started runs this script again and would train too: put what trains below {_MAIN}")
    if process.daemon:
        raise WorkerError(f"{process.name} is a daemonic process (such as one of multiprocessing.Pool), which cannot start processes: "
                          "leave processes=False, or train in a process with daemon=False")


def _pickled(network: NetworkFittingMixin) -> bytes:
    return pickled((type(network), network.configuration), "the configuration cannot be given to another process", WorkerError,
                   "leave processes=False")
