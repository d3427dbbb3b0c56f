"""Plans of a graph: worked out at the first run of a request, kept while the graph stays as it is."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.call_cache import CallCache


class GraphPlans(CallCache):
    """Requests and plans of one version of a graph.

    Attributes
    ----------
    built : by what was asked and the shapes that were given
    known : plans by exactly what the caller gave, once that was checked
    gradients : what gradients that were asked for are in the gradient graph
    """

    def __init__(self) -> None:
        super().__init__()
        self.built, self.known, self.gradients = self.table(), self.table(), self.table()

    def get(self, version: int, key: Any, build: Callable[[], Any]) -> Any:
        """The plan stored under ``key`` for this version of the graph; ``build()`` makes it where there is none."""
        with self.lock:
            self.hold_for(version)
            found = self.built.used(key)
            if found is None:
                found = self.built[key] = build()
            return found

    def remember(self, version: int, call: Any, plan: Any) -> None:
        """Note the plan of a checked call, unless the graph was changed meanwhile."""
        with self.lock:
            if self.state == version:
                self.known[call] = plan
