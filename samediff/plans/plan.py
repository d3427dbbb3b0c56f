"""Plans: everything that can be decided once for a graph, its outputs and the shapes of its inputs."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

import numpy as np

from ..base.lazy_property import lazy_property
from ..device import devices
from ..device.device_memory import to_host
from ..ir.run_context import RunContext
from .frame import Frame
from .plan_data import PlanData
from .plan_source import FILE, PlanWriter
from .reference import raise_explained


def _plain(array: Any) -> Any:
    """Code of ops is NumPy's: it does not see what sub-classes of its arrays do otherwise."""
    return array.view(np.ndarray) if isinstance(array, np.ndarray) and type(array) is not np.ndarray else array


@dataclass
class Plan(PlanData):
    """A compiled plan with a pool of frames; one frame serves one run at a time.

    Class attributes
    ----------------
    frames, writer : what makes frames, and the function that runs in them
    """

    frames: ClassVar[type[Frame]] = Frame
    writer: ClassVar[type[PlanWriter]] = PlanWriter

    where: devices.Device | None = None         # the device that it is for; None: the CPU
    code: Any = None
    _pool: list[Frame] = field(default_factory=list)

    @lazy_property
    def needs_rng(self) -> bool:
        """Whether a run needs a context of its own: a step draws random numbers."""
        return any(s.stateful for s in self.steps)

    def run(self, feeds: Sequence[Any], context: RunContext | None) -> tuple[Any, ...]:
        """Outputs that the caller owns (pinned ones: None); without a context nothing may be drawn."""
        if devices.active:
            self.copy_to_host()
        try:
            frame = self._pool.pop()            # as acquire(): the shortest plans are done in two microseconds
        except IndexError:
            frame = self.new_frame()
        try:
            if frame.calls:
                with np.errstate(all="ignore"):
                    results: tuple[Any, ...] = frame.call(context, *map(_plain, feeds))
            else:
                results = frame.call(context, *feeds)
        except Exception as error:
            self._raise_explained(error)
        self._pool.append(frame)
        return results

    def copy_to_host(self) -> None:
        """Have the newest values of all arrays that are read or written in place on the host."""
        for array in (*self.stored.values(), *self.handed_in.values()):
            to_host(array)

    def acquire(self) -> Frame:
        """A frame for one run, from the pool or new; no other run uses it until it is released."""
        try:
            return self._pool.pop()             # taking from and adding to a list need no lock
        except IndexError:
            return self.new_frame()

    def new_frame(self) -> Frame:
        """A frame that is not in the pool."""
        frame = self.frames(self)
        if self.code is None:
            self.code = self.writer(self, frame).compile()
        frame.bind(self.code)
        return frame

    def release(self, frame: Frame) -> None:
        """Return a frame to the pool, for later runs."""
        self._pool.append(frame)

    def _raise_explained(self, error: Exception) -> NoReturn:
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == FILE and trace.tb_lineno - 1 < len(self.lines):
                node = self.steps[self.lines[trace.tb_lineno - 1]].nodes[-1]
                raise_explained(error, node, [self.specs[n] if n else None for n in node.inputs])
            trace = trace.tb_next
        raise error

    def peek(self) -> Frame:
        """A frame to look at: a run may be using it."""
        try:
            return self._pool[-1]
        except IndexError:
            self._pool.append(made := self.new_frame())
            return made
