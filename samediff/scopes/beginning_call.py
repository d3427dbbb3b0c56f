"""The call of a function that began a scope: an error that leaves it leaves the scope without an end."""
from __future__ import annotations

import inspect
import sys
from types import FrameType

_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR       # which go on later


class BeginningCall:
    """Knows whether it was left by an error: it is over then, and a traceback holds its frame, as long as anybody looks at the error.

    Parameters
    ----------
    frame : frame
        That of the call.

    Attributes
    ----------
    left : whether :meth:`is_left` has found an error to have left it
    """

    def __init__(self, frame: FrameType) -> None:
        self._frame = None if frame.f_code.co_flags & _SUSPENDED else frame
        self.left = False

    def is_left(self) -> bool:
        """Whether an error left it; asked on its own thread."""
        if self._frame is not None and not _runs(self._frame):
            frame, self._frame = self._frame, None
            self.left = sys.getrefcount(frame) > 2         # by more than this function
        return self.left


def _runs(frame: FrameType) -> bool:
    running: FrameType | None = sys._getframe()
    while running is not None and running is not frame:
        running = running.f_back
    return running is not None
