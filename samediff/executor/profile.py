"""Profile of a run: its time by step, layer and op, against what the machine can do."""
from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base.javanames import JavaSpelling
from ..codecs.atomic_files import write_file
from ..drawing.figures import figure_of
from ..plans.backend import backend_of
from ..plans.machine_peak import MachinePeak
from ..plans.way import Way
from .profile_pictures import flame_page, roofline
from .trace import event, track_names, write_trace

PHASES = ("forward", "backward", "update")


@dataclass(frozen=True)
class StepProfile:
    """One step.

    Attributes
    ----------
    index : place in its plan
    name : of its first output
    op : ids of its ops
    way : :class:`.Way`: "native" (an instruction of a native program), "kernel" (compiled, called from Python), "numpy", "python", "view",
        "copy"
    layer : layer or name scope that it belongs to; of a gradient that of what it is the gradient of
    phase : "forward", "backward" or "update"
    seconds : the shortest of some runs
    bytes : read and written
    flops : about; None where the op is not known
    parts : whether several threads share it
    members : names of the nodes that it computes
    why : why it is no native instruction
    """

    index: int
    name: str
    op: str
    way: Way
    layer: str
    phase: str
    seconds: float
    bytes: int
    flops: int | None
    parts: bool = False
    members: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Profile(JavaSpelling):
    """Steps of one or more plans in the order in which they run.

    Attributes
    ----------
    title : str
    steps : tuple of StepProfile
    runs : seconds of whole runs by name ("plan": the steps in one go; "output" or "fit": what the user calls)
    dtype : type that the limits of the machine are measured for
    """

    title: str
    steps: tuple[StepProfile, ...]
    runs: Mapping[str, float] = field(default_factory=dict)
    dtype: Any = np.float32

    @property
    def limits(self) -> MachinePeak:
        """Peak performance of the machine, measured once per process."""
        return backend_of().peak(np.dtype(np.float64 if self.dtype == np.float64 else np.float32))

    @property
    def seconds(self) -> float:
        """Sum over all steps, each timed by itself."""
        return sum(s.seconds for s in self.steps)

    @property
    def flops(self) -> int:
        """Sum over all steps whose number is known."""
        return sum(s.flops or 0 for s in self.steps)

    @property
    def bytes(self) -> int:
        """Bytes moved, summed over all steps."""
        return sum(s.bytes for s in self.steps)

    def by_layer(self) -> dict[str, Profile]:
        """The steps of each layer, the longest first; "" are those of none."""
        return self._by(lambda s: s.layer)

    def by_op(self) -> dict[str, Profile]:
        """The steps of each op or group of fused ops, the longest first."""
        return self._by(lambda s: s.op)

    def by_way(self) -> dict[str, Profile]:
        """The steps that run natively, as Python ..., the longest first."""
        return self._by(lambda s: s.way)

    def by_phase(self) -> dict[str, Profile]:
        """Forward, backward and update, as far as there are any."""
        found = self._by(lambda s: s.phase)
        return {p: found[p] for p in PHASES if p in found}

    def _by(self, key: Callable[[StepProfile], str]) -> dict[str, Profile]:
        groups: dict[str, list[StepProfile]] = {}
        for s in self.steps:
            groups.setdefault(key(s), []).append(s)
        made = {k: Profile(k, tuple(v), {}, self.dtype) for k, v in groups.items()}
        return dict(sorted(made.items(), key=lambda item: -item[1].seconds))

    def share_of_limits(self) -> float:
        """The least time for so many operations and bytes, as a share of the time taken; above 1 where data stays in caches."""
        top = self.limits
        return max(self.flops / top.flops, self.bytes / top.bytes) / self.seconds if self.seconds else 0.0

    def to_document(self) -> dict[str, Any]:
        """The profile as a dictionary for JSON; times in seconds."""
        return {"title": self.title, "seconds": self.seconds, "flops": self.flops, "bytes": self.bytes, "runs": dict(self.runs),
                "limits": dataclasses.asdict(self.limits),
                **{name: {k: _sums(p) for k, p in groups.items()} for name, groups in
                   (("phases", self.by_phase()), ("layers", self.by_layer()), ("ops", self.by_op()), ("ways", self.by_way()))},
                "steps": [dataclasses.asdict(s) for s in self.steps]}

    def to_json(self) -> str:
        """All figures as JSON text."""
        return json.dumps(self.to_document(), indent=2)

    def trace_events(self) -> list[dict[str, Any]]:
        """The steps one after the other as events of Chrome's trace format, each phase in a track of its own."""
        events, at = track_names(PHASES, "dl4py"), 0.0
        for s in self.steps:
            events.append(event(s.op, s.phase, at, s.seconds, PHASES.index(s.phase) + 1, layer=s.layer, output=s.name, way=s.way,
                                bytes=s.bytes, flops=s.flops, nodes=list(s.members), **({"why": s.why} if s.why else {})))
            at += s.seconds
        return events

    def write_trace(self, path: Any) -> None:
        """Write a file for chrome://tracing or ui.perfetto.dev."""
        write_trace(path, self.trace_events())

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """A flame graph as a page of its own: phases, in these layers, in these ops; widths are shares of the time.

        Parameters
        ----------
        path : path, optional
            Write the page to this file.
        """
        keys = (lambda s: s.phase, lambda s: s.layer, lambda s: s.op, lambda s: s.name)
        text = flame_page(self.title or "profile", self.steps, keys)
        if path is not None:
            write_file(path, text)
        return text

    def plot_roofline(self, save_to: str | os.PathLike[str] | None = None) -> Any:
        """Draw every step below the roofline of the machine: its peak, and what its memory allows; needs matplotlib."""
        top = self.limits
        return figure_of([roofline(self.steps, top.flops, top.bytes)], save_to, size=(8, 5))

    def __str__(self) -> str:
        runs = ", ".join(f"{name} {_time(s)}" for name, s in self.runs.items())
        top = self.limits
        head = [f"{self.title}: {len(self.steps)} steps, {_time(self.seconds)} step by step" + (f" ({runs} in one go)" if runs else ""),
                f"{self.flops / 1e6:,.2f} MFLOP, {self.bytes / 1e6:,.2f} MB read and written; "
                f"the machine: {top.flops / 1e9:,.0f} GFLOP/s, {top.bytes / 1e9:,.1f} GB/s"]
        groups = [("phase", self.by_phase()), ("layer", self.by_layer()), ("op", self.by_op()), ("runs as", self.by_way())]
        tables = [_table([what, *_HEAD], [[name or "(none)", *self._cells(p)] for name, p in found.items()]) for what, found in groups]
        steps = sorted(self.steps, key=lambda s: -s.seconds)
        rows = [[f"{s.index} {s.op}", s.layer, s.phase, s.way + (" in parts" if s.parts else ""),
                 *self._cells(Profile("", (s,), {}, self.dtype))[1:], s.why] for s in steps if s.seconds]
        tables.append(_table(["step", "layer", "phase", "runs as", *_HEAD[1:], ""], rows))
        return "\n\n".join(["\n".join(head), *tables])

    def _cells(self, part: Profile) -> list[str]:
        share = part.seconds / self.seconds if self.seconds else 0.0
        known = all(s.flops is not None for s in part.steps)
        speed = f"{part.flops / part.seconds / 1e9:.2f}" if known and part.seconds else "-"
        rate = f"{part.bytes / part.seconds / 1e9:.2f}" if part.seconds else "-"
        reached = part.share_of_limits()
        return [str(len(part.steps)), _time(part.seconds), f"{share:.1%}", speed, rate, f"{reached:.0%}" if reached <= 1 else "cached"]


_HEAD = ["steps", "time", "share", "GFLOP/s", "GB/s", "of limit"]
_TEXT = ("phase", "layer", "op", "runs as", "step", "")


def _sums(part: Profile) -> dict[str, Any]:
    return {"steps": len(part.steps), "seconds": part.seconds, "flops": part.flops, "bytes": part.bytes}


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:,.3f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:,.2f} us"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(r[i]) for r in (head, *rows)) for i in range(len(head))]
    lines = ["  ".join(c.ljust(w) if h in _TEXT else c.rjust(w) for c, w, h in zip(r, widths, head)).rstrip() for r in (head, *rows)]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])
