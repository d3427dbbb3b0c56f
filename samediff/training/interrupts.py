"""Ctrl-C between two steps, never within an update."""
from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType


class Interrupts:
    """Holds Ctrl-C back while ``with interrupts.held():`` runs; a second one comes through at once.

    Only Python's own handler on the main thread is replaced, and put back at the end.
    """

    def __init__(self) -> None:
        self._depth, self._pending, self._installed = 0, False, False

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._heard)
            self._installed = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if self._depth and not self._pending:
            self._pending = True
            return
        raise KeyboardInterrupt

    def held(self) -> _Held:
        """Context manager around what must not be cut in two."""
        return _Held(self)


class _Held:
    def __init__(self, owner: Interrupts) -> None:
        self._owner = owner

    def __enter__(self) -> None:
        self._owner._depth += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._owner._depth -= 1
        if self._owner._pending and kind is None:
            self._owner._pending = False
            raise KeyboardInterrupt
