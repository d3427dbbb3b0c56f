"""A place where processes wait for each other."""
from __future__ import annotations

import threading
from collections.abc import Sequence

from .channel import ProcessChannel

_HERE = b"\1"


class ProcessBarrier:
    """A barrier, like ``threading.Barrier``, for processes that may be killed.

    Every rank tells rank 0 that it has come, and rank 0 tells them all to go on. There is no lock that a dead process could hold, as there
    is in ``multiprocessing.Barrier``: rank 0 notices that a channel has ended, and the others notice when rank 0 ends theirs.
    """

    def __init__(self, rank: int, channels: Sequence[ProcessChannel]) -> None:
        self._rank, self._channels = rank, channels

    @classmethod
    def group(cls, size: int) -> list[ProcessBarrier]:
        """The ends of all ranks."""
        pairs = [ProcessChannel.pair() for _ in range(size - 1)]
        return [cls(0, [here for here, _ in pairs]), *(cls(rank, [there]) for rank, (_, there) in enumerate(pairs, 1))]

    def wait(self) -> None:
        """Go on when all ranks have come here; BrokenBarrierError when one has ended."""
        try:
            if self._rank:
                self._tell()
                self._hear()
            else:
                self._hear()
                self._tell()
        except OSError as error:
            raise threading.BrokenBarrierError from error

    def _tell(self) -> None:
        for channel in self._channels:
            channel.write(_HERE)

    def _hear(self) -> None:
        for channel in self._channels:
            channel.read(len(_HERE))

    def abort(self) -> None:
        """Let every rank that waits, now or later, fail."""
        for channel in self._channels:
            channel.end()

    def close(self) -> None:
        """Give back what this end holds."""
        for channel in self._channels:
            channel.close()
