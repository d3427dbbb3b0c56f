"""Threads that work for the one that starts them."""
from __future__ import annotations

import threading
from collections.abc import Callable

from .source_line import user_line, work_for


def started(work: Callable[..., object], *args: object, name: str) -> threading.Thread | None:
    """A thread that does something and does not keep the process alive; None where the system gives no further one.

    What it finds wrong is located at the user's line that runs now.
    """
    line = user_line()

    def run() -> None:
        work_for(line)
        work(*args)
    thread = threading.Thread(target=run, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread
