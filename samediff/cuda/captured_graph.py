"""A program as one CUDA graph."""
from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from operator import call

from .drivers.driver import Driver

_SETTING = "DL4PY_CUDA_GRAPHS"


class CapturedGraph:
    """Runs a program; from the second time on as one graph.

    Attributes
    ----------
    reason : why there is no graph; empty as long as nothing stands against one
    """

    def __init__(self, driver: Driver, run: Callable[[], None]) -> None:
        self._driver, self._run = driver, run
        self._runs = 0
        self._graph: Callable[[], None] | None = None
        self.reason = f"switched off by {_SETTING}=0" if os.environ.get(_SETTING) == "0" else ""

    @property
    def is_captured(self) -> bool:
        """Whether the program could be recorded as a graph."""
        return self._graph is not None

    @property
    def is_one_call(self) -> bool:
        """Whether a run is one call that no signal handler can cut in two: where there is a graph that is not the program itself."""
        return self._graph is not None and self._graph is not self._run

    def __call__(self, then: Callable[[], object] | None = None) -> None:
        """A run; ``then`` follows at once if it is one call, without a place for signal handlers in between."""
        if self._graph is not None:
            deque(map(call, (self._graph,) if then is None else (self._graph, then)), 0)
            return
        self._runs += 1
        if self._runs == 1 or self.reason:          # the first run loads functions and makes handles, which may not be captured
            self._run()
            return
        try:
            self._graph = self._driver.capture(self._run)
        except RuntimeError as error:               # the CUDA runtime refuses the recording; the program itself ran before
            self.reason = str(error)
            self._run()
            return
        self._graph()
