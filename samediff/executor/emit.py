"""Writing the function that runs a plan: it does nothing but call."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..datatype import DataType

if TYPE_CHECKING:
    from .plan import Plan, Step

FILE = "<dl4py-plan>"


class Writer:
    """Writes ``make(bound, calls) -> run(context, *feeds)`` for a plan whose bound values are known.

    Parameters
    ----------
    bound : names of the values whose arrays are fixed
    skipped : numbers of the steps that need no work at run time (views of fixed arrays)
    """

    def __init__(self, plan: Plan, bound: set[str], skipped: set[int]) -> None:
        self.plan, self.bound, self.skipped = plan, bound, skipped
        self.names: dict[str, str] = {}
        self.body: list[tuple[str, int]] = []

    def compile(self) -> Any:
        """The compiled ``make``; notes in the plan which line belongs to which step."""
        plan = self.plan
        for i, step in enumerate(plan.steps):
            if i not in self.skipped:
                self._step(i, step)
        results = self._results()
        feeds = [self._name(n) for n in plan.feeds]
        head = ["def make(bound, calls):", *(f"    {py} = bound[{n!r}]" for n, py in self.names.items() if n in self.bound)]
        for i, step in enumerate(plan.steps):
            head.append(f"    c{i}{''.join(f', w{i}_{k}' for k in range(operands(step)))}, = calls[{i}]")
        head.append(f"    def run({', '.join(['ctx', *feeds])}):")
        text = [*head, *(f"        {line}" for line, _ in self.body),
                f"        return ({''.join(r + ', ' for r in results)})", "    return run"]
        plan.lines[:] = [0] * len(head) + [i for _, i in self.body] + [max(len(plan.steps) - 1, 0)] * 2
        scope: dict[str, Any] = {"empty": np.empty, "copy": owned, "copyto": np.copyto,
                                 **{t.name: t.numpy for t in DataType if t.is_numeric}}
        scope.update({f"pinned_{k}": plan.handed_in[n] for k, n in enumerate(plan.outputs) if n in plan.handed_in})
        exec(compile("\n".join(text), FILE, "exec"), scope)
        return scope["make"]

    def _name(self, n: str | None) -> str:
        return "None" if n is None else self.names.setdefault(n, f"{'b' if n in self.bound else 'v'}{len(self.names)}")

    def _step(self, i: int, step: Step) -> None:
        ins, outs = [self._name(n) for n in step.inputs], [self._name(n) for n in step.outputs]
        if step.kind == "view" and step.outputs[0] in self.bound:       # a copy after all: the memory is not laid out for a view
            self.body.append((f"copyto({outs[0]}, c{i}({', '.join(ins)})[0])", i))
        elif step.kind in ("view", "python"):
            context = ["ctx"] if step.kind == "python" else []
            self.body.append((f"{', '.join(outs)}, = c{i}({', '.join(context + ins)})", i))
        else:
            for n in step.outputs:
                if n not in self.bound:
                    spec = self.plan.specs[n]
                    self.body.append((f"{self._name(n)} = empty({spec.shape!r}, {spec.dtype.name})", i))
            if step.kind == "fused":
                given = [n for n in (*step.inputs, *step.outputs) if n is not None]
                work = [f"w{i}_{k}" if n in self.bound else f"w{i}_{k}({self._name(n)})" for k, n in enumerate(given)]
            else:
                work = ins + outs + [f"w{i}_{k}" for k in range(len(step.workspace))]
            self.body.append((f"c{i}({', '.join(work)})", i))

    def _results(self) -> list[str]:
        """What each output is: a fresh array as it is, anything else copied, None where it was written into a given array."""
        plan = self.plan
        fresh = {n for s in plan.steps if s.kind in ("kernel", "fused") for n in s.outputs if n not in self.bound}
        results: list[str] = []
        for asked, source in zip(plan.outputs, plan.sources):
            if asked in plan.handed_in:
                if plan.handed_in[asked] is not plan.pinned.get(source):
                    self.body.append((f"copyto(pinned_{len(results)}, {self._name(source)})", len(plan.steps) - 1))
                results.append("None")
            elif source in fresh:
                fresh.discard(source)
                results.append(self._name(source))
            else:
                results.append(f"copy({self._name(source)})")
        return results


def operands(step: Step) -> int:
    """How many values a frame hands to a step besides the function to call."""
    return len([n for n in (*step.inputs, *step.outputs) if n is not None]) if step.kind == "fused" else len(step.workspace)


def owned(array: Any) -> Any:
    """A copy that the caller may keep and change."""
    return np.array(array, copy=True, order="C")
