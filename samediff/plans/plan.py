"""Plans: everything that can be decided once for a graph, its outputs and the shapes of its inputs."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..base.lazy_property import lazy_property
from ..base.spec import TensorSpec
from ..cpu.code.frame import Frame
from ..cpu.code.plan_source import FILE
from ..device import devices
from ..device.device_memory import to_host
from ..ir.node import Node
from ..ir.run_context import RunContext
from .reference import raise_explained

if TYPE_CHECKING:
    from ..cuda.drivers.driver import Driver


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
class Plan:
    """Steps, where each value lives, and a pool of frames: one frame serves one run at a time.

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
    driver: Driver | None = None          # of the device whose memory it uses; None: the CPU
    code: Any = None
    lines: list[int] = field(default_factory=list)     # step of each line of the generated function
    _pool: list[Frame] = field(default_factory=list)

    @lazy_property
    def draws(self) -> bool:
        """Whether a run needs a context of its own: a step draws random numbers."""
        return any(s.stateful for s in self.steps)

    def run(self, feeds: Sequence[Any], context: RunContext | None) -> tuple[Any, ...]:
        """Outputs that the caller owns (pinned ones: None); without a context nothing may be drawn."""
        if devices.active:
            self.come_home()
        try:
            frame = self._pool.pop()            # as take(): the shortest plans are done in two microseconds
        except IndexError:
            frame = Frame(self)
        try:
            if frame.calls:
                with np.errstate(all="ignore"):
                    results: tuple[Any, ...] = frame.call(context, *feeds)
            else:
                results = frame.call(context, *feeds)
        except Exception as error:
            self._raise_explained(error)
        self._pool.append(frame)
        return results

    def steps_for(self, values: Sequence[str]) -> list[int]:
        """The numbers of the steps that these values need."""
        needed, found = set(values), []
        for i in reversed(range(len(self.steps))):
            if not needed.isdisjoint(self.steps[i].outputs):
                needed.update(n for n in self.steps[i].inputs if n is not None)
                found.append(i)
        return found[::-1]

    def come_home(self) -> None:
        """Have the newest values of all arrays that are read or written in place on the host."""
        for array in (*self.stored.values(), *self.handed_in.values()):
            to_host(array)

    def take(self) -> Frame:
        """A frame that is nobody else's."""
        try:
            return self._pool.pop()             # taking from and adding to a list need no lock
        except IndexError:
            return Frame(self)

    def put_back(self, frame: Frame) -> None:
        """Let the next run have it."""
        self._pool.append(frame)

    def _raise_explained(self, error: Exception) -> NoReturn:
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == FILE and trace.tb_lineno - 1 < len(self.lines):
                node = self.steps[self.lines[trace.tb_lineno - 1]].nodes[-1]
                raise_explained(error, node, [self.specs[n] if n else None for n in node.inputs])
            trace = trace.tb_next
        raise error

    def look(self) -> Frame:
        """A frame to look at: a run may be using it."""
        try:
            return self._pool[-1]
        except IndexError:
            self._pool.append(made := Frame(self))
            return made

    def explain(self) -> str:
        """What was fused, where values live, what one native call does, and what runs as Python and why."""
        from ..executor.explain import explained
        return explained(self)
