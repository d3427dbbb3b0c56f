"""What the class of each op declares, as text: inputs, calls, attributes with types and defaults, places in files, kind of gradient.

``python -m tests.samediff.ops.rows.declarations`` writes ``recorded/declarations.txt``.
"""
from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from dl4py.samediff import ops as _ops  # noqa: F401 - registers the ops
from dl4py.samediff.ir.op import METHODS, OPS, Op

RECORDED = Path(__file__).parents[1] / "recorded" / "declarations.txt"
#: What a class may declare beside what all ops do: data alone, no functions.
DATA = (str, int, float, tuple, frozenset, type(None))


def declared(cls: type[Op]) -> dict[str, Any]:
    """By name, without what is as :class:`Op` has it."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        found |= {n: v for n, v in vars(base).items() if not n.startswith("_") and isinstance(v, DATA)}
    fields = {f.name: f"{f.type} = {f.default if f.default is not dataclasses.MISSING else '-'}" for f in dataclasses.fields(cls)}
    own = {n: v for n, v in found.items() if n not in fields and n != "id" and v != getattr(Op, n, ())}
    return {n: sorted(v) if isinstance(v, frozenset) else v for n, v in own.items()} | fields


def places(cls: type[Op]) -> list[str]:
    """Where it can be called, and after how many others of the library."""
    return sorted(f"{space}.{method}#{own.index(cls)}" for (space, method), classes in METHODS.items() if cls in classes
                  for own in [[c for c in classes if is_own(c)]])


def stored(file: Any) -> list[str]:
    """What the mapping to files says, without what it says by default."""
    if not dataclasses.is_dataclass(file):
        return [type(file).__name__]
    return [f"{f.name}={v!r}" for f in dataclasses.fields(file) if (v := getattr(file, f.name)) != f.default and v]


def line(name: str) -> str:
    """All of it."""
    cls = OPS[name]
    parts = [*(f"{n}: {v}" for n, v in declared(cls).items()), "at " + " ".join(places(cls)), f"file {' '.join(stored(cls.file))}"]
    return "; ".join(parts).replace("\n", " ")


def is_own(cls: type[Op]) -> bool:
    """Whether an op belongs to the library; tests and plug-ins register others."""
    return cls.__module__.startswith("dl4py.samediff.")


def names() -> list[str]:
    """The library's own ops."""
    return sorted(n for n in OPS if is_own(OPS[n]))


def recorded() -> dict[str, str]:
    """The lines as they were written down."""
    return {name: text for name, _, text in (one.partition(" -> ") for one in RECORDED.read_text(encoding="utf-8").splitlines())}


if __name__ == "__main__":
    RECORDED.write_text("".join(f"{name} -> {line(name)}\n" for name in names()), encoding="utf-8")
