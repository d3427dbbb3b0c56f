"""Plans of a graph in words, and the time of their steps."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...executor.plan_cache import plan_for
from ...executor.request import RunRequest
from ...executor.session import checked_feeds, missing, request_for
from ...executor.stepwise import profiled
from ...ir.run_context import RunContext
from ...plans.backend import backend_of
from ..inspection import InspectionMixin
from .execution import ExecutionMixin

if TYPE_CHECKING:
    from ...executor.profile import Profile
    from ...plans.plan import Plan


class ProfilingMixin(ExecutionMixin, InspectionMixin):
    """The part of :class:`SameDiff` that explains and times its runs."""

    def explain(self, placeholders: Mapping[str, Any] | None, *outputs: Any, training: bool = False) -> str:
        """Describe the computation of outputs for placeholders of these shapes: fused ops, memory, steps in Python and why.

        Examples
        --------
        >>> from dl4py.samediff import SameDiff
        >>> sd = SameDiff.create()
        >>> x = sd.placeholder("x", "FLOAT", -1)
        >>> y = sd.nn.relu("y", x * 2.0 + 1.0, 0.0)
        >>> print(sd.explain({"x": [1.0, 2.0]}, "y").splitlines()[0])
        steps: 1, instructions: 1, native calls: 1, steps called from Python: 0
        """
        plan, _ = self._planned(placeholders, outputs, training)
        return backend_of(plan.where).explain(plan)

    def profile(self, placeholders: Mapping[str, Any] | None, *outputs: Any, training: bool = False, steps: int = 10) -> Profile:
        """Time, bytes, operations of each step that computes outputs; the shortest of ``steps`` repetitions counts. Nothing is changed."""
        plan, feeds = self._planned(placeholders, outputs, training)
        return profiled(plan, feeds, RunContext(training, self.seed, self._iteration()), steps, title="graph")

    def _planned(self, placeholders: Mapping[str, Any] | None, outputs: Any, training: bool) -> tuple[Plan, dict[str, Any]]:
        names = self.tables.names_in(outputs) or self.outputs()
        request: RunRequest = request_for(self, names, training)
        feeds = checked_feeds(self, placeholders)
        for name in request.placeholders:
            if name not in feeds:
                missing(self, request, name, feeds)
        return plan_for(self, feeds, request), feeds
