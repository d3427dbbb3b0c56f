"""Writing the function of a plan that calls native programs."""
from __future__ import annotations

from typing import Any

from ...plans.plan_data import PlanData, Step
from ...plans.plan_source import Writer
from .frame import NativeFrame


class NativeWriter(Writer):
    """As :class:`Writer`, with a call for each segment."""

    def __init__(self, plan: PlanData, frame: NativeFrame) -> None:
        super().__init__(plan, frame)
        self._segments = frame.segments

    def scope(self) -> dict[str, Any]:
        """And what calls segments."""
        if not self._segments:
            return super().scope()
        from ..native.program import locator
        from ..native.runner import launch, place
        return {**super().scope(), "launch": launch, "place": place, "locate": locator()}

    def step(self, i: int, step: Step) -> None:
        """The call of a segment stands where its first step would."""
        if i in self._segments:
            self._segment(i)
        super().step(i, step)

    def _segment(self, i: int) -> None:
        segment = self._segments[i]
        self.allocate(segment.locals, i)
        given = [f"locate({self.name(n)})" for n in segment.locals]
        from ..native.runner import GIVEN
        for k, text in enumerate(given[GIVEN:], GIVEN):
            self.body.append((f"place(s{i}, {k}, {text})", i))
        self.body.append((f"launch(s{i}, {', '.join((given + ['0'] * GIVEN)[:GIVEN])})", i))
