"""Shape rules for known and unknown sizes, and the work that ops say they are, as text.

``python -m tests.samediff.ops.rows.open_sizes`` writes ``recorded/shapes.txt``.
"""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ir.op import Op, as_tuple
from tests.samediff.ops.rows.op_table import Row
from tests.samediff.ops.rows.variants import numbered

RECORDED = Path(__file__).parents[1] / "recorded" / "shapes.txt"
Specs = list[TensorSpec | None]


def specs_of(row: Row, values: bool = True) -> Specs:
    """What is known of the inputs; of whole numbers the values, as of constants."""
    return [None if a is None else TensorSpec(a.shape, DataType.of(a), a if values and a.dtype.kind in "iub" else None)
            for a in row.arrays()]


def opened(specs: Specs) -> Iterator[tuple[str, Specs]]:
    """The same with less known: one size, all sizes of an input, its number of axes, all sizes of all."""
    def at(i: int, shape: tuple[int, ...] | None) -> Specs:
        s = specs[i]
        return [*specs[:i], None if s is None else TensorSpec(shape, s.dtype), *specs[i + 1:]]
    for i, s in enumerate(specs):
        if s is None or s.shape is None:
            continue
        if len(s.shape) > 1:
            yield from ((f"{i}[{k}]", at(i, (*s.shape[:k], -1, *s.shape[k + 1:]))) for k in range(len(s.shape)))
        if s.shape:
            yield f"{i}", at(i, (-1,) * len(s.shape))
        yield f"{i}?", at(i, None)
    yield "all", [None if s is None else TensorSpec((-1,) * len(s.shape or ()), s.dtype) for s in specs]


def inferred(op: Any, specs: Specs) -> tuple[TensorSpec, ...] | str:
    """What the rule gives, or the kind of error."""
    try:
        return as_tuple(op.infer(*specs))
    except DL4PyError as error:
        return type(error).__name__


def text_of(found: tuple[TensorSpec, ...] | str) -> str:
    """Shapes shortly, -1 as ``*``; types are those of known sizes."""
    if isinstance(found, str):
        return found
    return " ".join("?" if s.shape is None else "x".join("*" if n == -1 else str(n) for n in s.shape) or "()" for s in found)


def line(row: Row) -> str:
    """One line of the record: types, work, shapes."""
    op, specs = row.op(), specs_of(row)
    known = inferred(op, specs)
    types = known if isinstance(known, str) else " ".join(s.dtype.name for s in known)
    work = None if isinstance(known, str) or any(s.shape is None or -1 in s.shape for s in known) else op.flops(specs, known)
    parts = [f"{what} {text_of(inferred(op, less))}" for what, less in [("without values", specs_of(row, False)), *opened(specs)]]
    return "; ".join([f"{types}, work {work}", text_of(known), *parts])


def lines() -> dict[str, str]:
    """By row; calls that stand for other nodes have no rule."""
    return {where: line(row) for where, row, _ in numbered() if type(row.op()).compute is not Op.compute}


def recorded() -> dict[str, str]:
    """The lines as they were written down."""
    return {name: text for name, _, text in (one.partition(" -> ") for one in RECORDED.read_text(encoding="utf-8").splitlines())}


if __name__ == "__main__":
    RECORDED.write_text("".join(f"{name} -> {text}\n" for name, text in lines().items()), encoding="utf-8")
