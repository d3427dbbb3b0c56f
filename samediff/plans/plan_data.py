"""What is decided of a plan before it runs: its steps, and where each value lives."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..base.spec import TensorSpec
from ..ir.node import Node


@dataclass(frozen=True)
class Step:
    """One call of a plan.

    ``kind`` is "kernel" (writes into given outputs), "fused" (the same, of expressions), "view" (another view of its inputs) or
    "python" (returns fresh arrays). ``native`` makes the instruction (or a list of some) that does it without Python, for arrays
    of the final layout; None where there is none. ``orders`` says in which orders of their axes outputs may lie in memory.
    """

    kind: str
    label: str
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    call: Callable[..., Any]
    nodes: tuple[Node, ...]
    workspace: tuple[TensorSpec, ...] = ()
    stateful: bool = False
    native: Callable[..., Any] | None = None
    orders: Callable[[Sequence[int]], bool] | None = None


@dataclass
class PlanData:
    """Steps, and where each value lives.

    A value is ``bound`` when its array is known before the run (stored variables, constants, arena buffers and views of
    these), else it is a local of the generated function (feeds, results handed out, fresh results and views of them).
    """

    steps: list[Step]
    specs: dict[str, TensorSpec]
    feeds: tuple[str, ...]
    outputs: tuple[str, ...]              # as asked for
    sources: tuple[str, ...]              # the values that the outputs are, after simplification
    stored: dict[str, Any]                # arrays of variables and constants
    pinned: Mapping[str, Any]             # values that steps write into given arrays
    handed_in: Mapping[str, Any]          # the same by the names asked for
    symbolic: dict[str, Any]              # shapes with -1 where the graph leaves a size open
    words: str | None = None              # the name of the words of a run's context, where native steps draw random numbers
    orders: Mapping[str, Sequence[int]] = field(default_factory=dict)      # of axes in memory, where it is not their own
    offsets: dict[str, int] = field(default_factory=dict)
    arena: int = 0
    lines: list[int] = field(default_factory=list)     # step of each line of the generated function

    def steps_for(self, values: Sequence[str]) -> list[int]:
        """The numbers of the steps that these values need."""
        needed, found = set(values), []
        for i in reversed(range(len(self.steps))):
            if not needed.isdisjoint(self.steps[i].outputs):
                needed.update(n for n in self.steps[i].inputs if n is not None)
                found.append(i)
        return found[::-1]
