"""Findings about a file."""
from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Part:
    """A layer, vertex or variable: its name and class, and the shapes of its parameters."""

    name: str
    kind: str
    parameters: dict[str, list[int]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return sum(math.prod(shape) for shape in self.parameters.values())


@dataclass
class FileReport:
    """A report of the content of a file.

    ``missing`` names classes or ops that are not registered here, ``custom`` those that are and are not of DL4J; ``notes``
    say what would be lost or is kept without being understood.
    """

    file: str
    kind: str
    written_by: str = ""
    data_type: str = ""
    iterations: int | None = None
    epochs: int | None = None
    parts: list[Part] = field(default_factory=list)
    ops: dict[str, int] = field(default_factory=dict)
    parameters: int = 0
    updater: list[str] = field(default_factory=list)
    updater_state: int | None = None
    normalizer: str = ""
    custom: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    entries: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def to_document(self) -> dict[str, Any]:
        """As JSON has it."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        rows = [("file", self.file), ("kind", self.kind), ("written by", self.written_by), ("data type", self.data_type),
                ("trained", _counted(self.iterations, self.epochs)), ("parameters", f"{self.parameters:,}" if self.parameters else ""),
                ("updater", ", ".join(self.updater)),
                ("updater state", "" if self.updater_state is None else f"{self.updater_state:,} numbers"),
                ("normalizer", self.normalizer), ("ops", ", ".join(f"{n} x{k}" if k > 1 else n for n, k in sorted(self.ops.items()))),
                ("custom", ", ".join(self.custom)), ("missing", ", ".join(self.missing)),
                ("entries", ", ".join(f"{n} ({size:,} bytes)" for n, size in self.entries.items()))]
        lines = [f"{name + ':':<15}{value}" for name, value in rows if value]
        if self.parts:
            lines += ["", *_table(self.parts)]
        if self.notes:
            lines += ["", *(f"note: {note}" for note in self.notes)]
        return "\n".join(lines)


def _counted(iterations: int | None, epochs: int | None) -> str:
    return "" if iterations is None else f"{iterations} iterations, {epochs or 0} epochs"


def _table(parts: list[Part]) -> list[str]:
    shapes = [", ".join(f"{n} {shape}" for n, shape in p.parameters.items()) for p in parts]
    sized = any(p.parameters for p in parts)        # unknown where a class is missing
    rows = [("name", "class", "parameters" if sized else "", "shapes" if sized else ""),
            *((p.name, p.kind, f"{p.size:,}" if sized else "", s) for p, s in zip(parts, shapes))]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip() for a, b, c, d in rows]
