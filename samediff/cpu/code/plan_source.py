"""Writing the function of a plan that calls native programs."""
from __future__ import annotations

from typing import Any

from ...plans.plan_data import PlanData, PlanStep
from ...plans.plan_source import PlanWriter
from .frame import NativeFrame


class NativeWriter(PlanWriter):
    """Writes the function of a plan with one native call for each segment of steps."""

    def __init__(self, plan: PlanData, frame: NativeFrame) -> None:
        super().__init__(plan, frame)
        self._segments, self._runs = frame.segments, frame.runs

    def scope(self) -> dict[str, Any]:
        """The names of :meth:`PlanWriter.scope`, and the functions that call segments."""
        if not self._segments:
            return super().scope()
        from ..native.array_address import locator
        from ..native.interpreter import launch, place
        return {**super().scope(), "launch": launch, "place": place, "locate": locator(), "never": _never}

    def step(self, i: int, step: PlanStep) -> None:
        """The call of a segment stands where its first step would."""
        if i in self._segments:
            self._segment(i)
        super().step(i, step)

    def _segment(self, i: int) -> None:
        segment = self._segments[i]
        self.allocate(segment.locals, i)
        given = [f"locate({self.name(n)})" for n in segment.locals]
        from ..native.interpreter import GIVEN
        for k, text in enumerate(given[GIVEN:], GIVEN):
            self.body.append((f"place(s{i}, {k}, {text})", i))
        launched = f"launch(s{i}, {', '.join((given + ['0'] * GIVEN)[:GIVEN])})"
        instructions = [(k, made) for k in self._runs[i] for made in self.frame.natives[k]]
        refusing = [(n, k) for n, (k, made) in enumerate(instructions, 1) if made.answer is not None]
        self.body.append((f"refused = {launched}" if refusing else launched, i))
        for number, k in refusing:
            self.body.append((f"if refused == {number}: {self._explained(k)}", k))

    def _explained(self, i: int) -> str:
        """Write the code that has a step explain an error in its inputs; views that only this needs are made there."""
        body, made, self.body = self.body, set(self.made), []
        call = self.called(i)
        lines = [text for text, _ in self.body]
        self.body, self.made = body, made
        return "; ".join([*lines, call, "never()"])


def _never() -> None:
    raise AssertionError("a native step refused what its kernel accepts")
