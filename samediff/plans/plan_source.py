"""Writing the function that runs a plan: it does nothing but call."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..base.spec import TensorSpec
from .frame import Frame
from .large_results import LARGE, LargeResult, bytes_of
from .plan_data import PlanData, PlanStep, StepKind, Value
from .reference import as_carray

FILE = "<dl4py-plan>"


class PlanWriter:
    """Writes ``make(bound, calls, segments) -> run(context, *feeds)`` for a plan, from its first frame.

    A back end that joins instructions to segments has a sub-class that calls them.
    """

    def __init__(self, plan: PlanData, frame: Frame) -> None:
        self.plan, self.frame = plan, frame
        self.names: dict[Value, str] = {}
        self.body: list[tuple[str, int]] = []
        self.made: set[Value] = set(plan.feeds)     # locals, and views of them, that the function has as arrays so far
        self.used: list[int] = []               # steps that it calls as functions
        self.large: dict[str, TensorSpec] = {}      # results whose memory is used again

    def compile(self) -> Any:
        """The compiled ``make``; notes in the plan which line belongs to which step."""
        plan = self.plan
        if plan.rng_state is not None:
            self.body.append((f"{self.name(plan.rng_state)} = ctx.words()", 0))
            self.made.add(plan.rng_state)
        for i, step in enumerate(plan.steps):
            self.step(i, step)
        results = self._results()
        feeds = [self.name(n) for n in plan.feeds]
        head = ["def make(bound, calls, segments):",
                *(f"    {py} = bound[name_{py}]" for n, py in self.names.items() if n in self.frame.bound),
                *(f"    c{i}{''.join(f', w{i}_{k}' for k in range(len(plan.steps[i].workspace)))}, = calls[{i}]" for i in self.used),
                *(f"    s{i} = segments[{i}]" for i in self.frame.addresses()),
                *(f"    large_{py} = LargeResult({spec.shape!r}, {spec.dtype.name})" for py, spec in self.large.items()),
                f"    def run({', '.join(['ctx', *feeds])}):",
                *(f"        if not {v}.flags.carray: {v} = as_carray({v})" for v in feeds)]
        text = [*head, *(f"        {line}" for line, _ in self.body),
                f"        return ({''.join(r + ', ' for r in results)})", "    return run"]
        plan.lines[:] = [0] * len(head) + [i for _, i in self.body] + [max(len(plan.steps) - 1, 0)] * 2
        scope = self.scope()
        exec(compile("\n".join(text), FILE, "exec"), scope)
        return scope["make"]

    def scope(self) -> dict[str, Any]:
        """The global names of the generated function."""
        given = {f"pinned_{k}": self.plan.handed_in[n] for k, n in enumerate(self.plan.outputs) if n in self.plan.handed_in}
        names = {f"name_{py}": n for n, py in self.names.items()}
        return {"empty": np.empty, "copy": owned, "as_carray": as_carray, "copyto": np.copyto, "LargeResult": LargeResult,
                **{t.name: t.numpy for t in DataType if t.is_numeric}, **names, **given}

    def name(self, n: Value | None) -> str:
        """The variable that holds a value in the generated function."""
        return "None" if n is None else self.names.setdefault(n, f"{'b' if n in self.frame.bound else 'v'}{len(self.names)}")

    def _value(self, n: Value | None, i: int) -> str:
        """The name of an array that step ``i`` reads; a view of a local is made when it is needed."""
        if n in self.frame.views and n not in self.made:
            self._view(self.frame.views[n])
        return self.name(n)

    def _view(self, i: int) -> None:
        step = self.plan.steps[i]
        ins, outs = [self._value(n, i) for n in step.inputs], [self.name(n) for n in step.outputs]
        self._use(i)
        if step.outputs[0] in self.frame.bound:             # a copy: the memory is not laid out for a view
            self.body.append((f"copyto({outs[0]}, c{i}({', '.join(ins)})[0])", i))
        else:
            self.body.append((f"{', '.join(outs)}, = c{i}({', '.join(ins)})", i))
            self.made.update(step.outputs)

    def _use(self, i: int) -> None:
        if i not in self.used:
            self.used.append(i)

    def step(self, i: int, step: PlanStep) -> None:
        """Write the lines of one step."""
        if i in self.frame.copies:
            self._view(i)
        if i not in self.frame.calls or step.kind is StepKind.VIEW:
            return
        if step.kind is StepKind.PYTHON:
            self._use(i)
            ins = [self._value(n, i) for n in step.inputs]
            self.body.append((f"{', '.join(map(self.name, step.outputs))}, = c{i}({', '.join(['ctx', *ins])})", i))
            self.made.update(step.outputs)
            return
        self.allocate(step.outputs, i)
        self.body.append((self.called(i), i))

    def called(self, i: int) -> str:
        """The call of a step that writes into arrays that are there."""
        self._use(i)
        step = self.plan.steps[i]
        given = [*(self._value(n, i) for n in step.inputs), *map(self.name, step.outputs)]
        return f"c{i}({', '.join([*given, *(f'w{i}_{k}' for k in range(len(step.workspace)))])})"

    def allocate(self, names: Sequence[Value], i: int) -> None:
        """Write what makes the arrays that step ``i`` writes into and that are not there yet."""
        for n in names:
            if n not in self.frame.bound and n not in self.made:
                spec = self.plan.specs[n]
                if bytes_of(spec) >= LARGE:
                    self.large[self.name(n)] = spec
                    made = f"large_{self.name(n)}()"
                else:
                    made = f"empty({spec.shape!r}, {spec.dtype.name})"
                self.body.append((f"{self.name(n)} = {made}", i))
                self.made.add(n)

    def _results(self) -> list[str]:
        """The text of each output: a fresh array as it is, others as copies, None where a given array was written."""
        plan, last = self.plan, len(self.plan.steps) - 1
        fresh = {n for s in plan.steps if s.writes for n in s.outputs if n not in self.frame.bound}
        results: list[str] = []
        for asked, source in zip(plan.outputs, plan.sources):
            if asked in plan.handed_in:
                if plan.handed_in[asked] is not plan.pinned.get(source):
                    self.body.append((f"copyto(pinned_{len(results)}, {self._value(source, last)})", last))
                results.append("None")
            elif source in fresh:
                fresh.discard(source)
                results.append(self.name(source))
            else:
                results.append(f"copy({self._value(source, last)})")
        return results


def owned(array: Any) -> Any:
    """A copy that the caller may keep and change."""
    return np.array(array, copy=True, order="C")
