"""Parts of a plan: steps, values, and where each value lives."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from ..base.spec import TensorSpec
from ..ir.node import Node
from .large_results import LARGE, bytes_of


class StepKind(Enum):
    """The calling convention of a step: arguments and results of its ``call``."""

    KERNEL = "kernel"       # call(*inputs, *outputs, *workspace) writes into outputs that it is given
    FUSED = "fused"         # as KERNEL, for elementwise expressions; without workspace
    VIEW = "view"           # call(*inputs) gives other views of its inputs
    PYTHON = "python"       # call(context, *inputs) gives fresh arrays


@dataclass(frozen=True)
class ShapeSource:
    """A value of which only the shape is looked at: it has no numbers, and nobody waits for it."""

    name: str

    def __str__(self) -> str:
        return f"shape of {self.name}"


@dataclass(frozen=True)
class RngState:
    """The state of the random generator of a run, of which native steps make their numbers."""

    def __str__(self) -> str:
        return "random state of the run"


#: What steps read and write: variables of the graph by their names, and what no variable stands for.
Value = str | ShapeSource | RngState


class Workspace(NamedTuple):
    """Memory that a step needs besides: the number of the step, and the place among its workspaces."""

    step: int
    place: int


@dataclass(frozen=True)
class PlanStep:
    """One call of a plan.

    Attributes
    ----------
    kind : what ``call`` takes and gives
    label : ids of the ops that it does
    inputs, outputs : what it reads (None: left out) and makes
    nodes : of the graph, which it computes
    workspace : memory that it needs besides
    stateful : whether it draws random numbers
    native : makes the instruction (or a list of some) that does it without Python, for arrays of the final layout; None where there is none
    orders : says in which orders of their axes outputs may lie in memory
    """

    kind: StepKind
    label: str
    inputs: tuple[Value | None, ...]
    outputs: tuple[str, ...]
    call: Callable[..., Any]
    nodes: tuple[Node, ...]
    workspace: tuple[TensorSpec, ...] = ()
    stateful: bool = False
    native: Callable[..., Any] | None = None
    orders: Callable[[Sequence[int]], bool] | None = None

    @property
    def writes(self) -> bool:
        """Whether the step writes into output arrays that it is given."""
        return self.kind is StepKind.KERNEL or self.kind is StepKind.FUSED


@dataclass
class PlanData:
    """Steps, and where each value lives.

    A value is ``bound`` when its array is known before the run (stored variables, constants, arena buffers and views of
    these), else it is a local of the generated function (feeds, results handed out, fresh results and views of them).
    """

    steps: list[PlanStep]
    specs: dict[Value, TensorSpec]
    feeds: tuple[str, ...]
    outputs: tuple[str, ...]              # as asked for
    sources: tuple[str, ...]              # the values that the outputs are, after simplification
    stored: dict[Value, Any]              # arrays of variables and constants
    pinned: Mapping[str, Any]             # values that steps write into given arrays
    handed_in: Mapping[str, Any]          # arrays for results, by the names of the request
    symbolic: dict[str, Any]              # shapes with -1 where the graph leaves a size open
    rng_state: RngState | None = None     # where steps that draw read it
    orders: Mapping[str, Sequence[int]] = field(default_factory=dict)      # memory order of the axes, where it differs from theirs
    offsets: dict[str, int] = field(default_factory=dict)                  # positions of values in the arena
    workspaces: dict[Workspace, int] = field(default_factory=dict)         # positions of workspaces in the arena
    arena: int = 0
    lines: list[int] = field(default_factory=list)     # step of each line of the generated function

    @property
    def memory(self) -> int:
        """Bytes that a frame keeps: its arena, and large results."""
        return self.arena + sum(n for v in {*self.sources} if v in self.specs and (n := bytes_of(self.specs[v])) >= LARGE)

    @property
    def given(self) -> tuple[Value, ...]:
        """Names of all arguments of a run: the feeds and, where steps read it, the context as words."""
        return self.feeds if self.rng_state is None else (*self.feeds, self.rng_state)

    def steps_for(self, values: Sequence[str]) -> list[int]:
        """The numbers of the steps that these values need."""
        needed: set[Value | None] = set(values)
        found = []
        for i in reversed(range(len(self.steps))):
            if not needed.isdisjoint(self.steps[i].outputs):
                needed.update(self.steps[i].inputs)
                found.append(i)
        return found[::-1]
