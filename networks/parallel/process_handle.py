"""The process of one worker, seen by the process that trains."""
from __future__ import annotations

import pickle
import queue
import threading
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

from ...samediff.base.background import started
from .channel import ProcessChannel
from .process_all_reduce import ProcessAllReduce
from .settings import WrapperSettings
from .worker_process import serve
from .workers import NoWorkerError


class ProcessHandle:
    """A process, the channel to it, and two threads: one hands over tasks in the background, one notices the process's end.

    Parameters
    ----------
    end : ProcessAllReduce
        The worker's end of the group.
    settings : WrapperSettings
    context : context of multiprocessing
    """

    def __init__(self, end: ProcessAllReduce, settings: WrapperSettings, context: Any) -> None:
        self.rank = end.rank
        self.channel, self._there = ProcessChannel.pair()
        self.process = context.Process(target=serve, args=(self._there, end, settings), daemon=True, name=f"dl4py-training-{end.rank}")
        self._tasks: queue.Queue[bytes | None] = queue.Queue(2)
        self._threads: list[threading.Thread] = []
        self._has_ended = threading.Event()

    def start(self, ended: Callable[[], None]) -> None:
        """Start the process; ``ended()`` is called when it has ended, for whatever reason."""
        try:
            self.process.start()
        finally:
            self._there.close()         # from now on open in that process only
        self._start_thread(self._watch, ended)
        self._start_thread(self._hand_over)

    def _start_thread(self, work: Callable[..., None], *args: Any) -> None:
        thread = started(work, *args, name=f"{self.process.name}-{work.__name__.strip('_')}")
        if thread is None:
            raise NoWorkerError(f"no thread can be started for the process of worker {self.rank}")
        self._threads.append(thread)

    def _watch(self, ended: Callable[[], None]) -> None:
        """Nobody waits any more once the process has ended, also where one that was forked from it holds its channels open."""
        self.process.join()
        self._has_ended.set()
        self.channel.end()
        ended()

    def _hand_over(self) -> None:
        try:
            while (task := self._tasks.get()) is not None:
                self.channel.write_message(task)
        except OSError:                 # nobody takes the tasks; so that nobody waits for room, they are thrown away
            while self._tasks.get() is not None:
                pass

    def put(self, message: Any) -> bool:
        """Hand over a message; False when the process has ended."""
        self._tasks.put(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
        return not self._has_ended.is_set()

    def exit_code(self, seconds: float) -> int | None:
        """The exit code of a process that is about to end; None where it does not within that time, or the system forgets how."""
        self._has_ended.wait(seconds)
        return self.process.exitcode  # type: ignore[no-any-return]

    def close(self, seconds: float) -> None:
        """Wait that long until the process has ended, else end it."""
        self.channel.end()
        if self.process.pid is not None:
            if not wait([self.process.sentinel], seconds):
                self.process.kill()
            self.process.join()
        self._tasks.put(None)
        for thread in self._threads:
            thread.join()
        if self.process.exitcode is not None:
            self.process.close()
        self.channel.close()
