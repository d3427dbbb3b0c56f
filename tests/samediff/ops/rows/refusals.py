"""What shape rules say of inputs and attributes that are slightly other than those of the rows: a check sum for each of these.

``python -m tests.samediff.ops.rows.refusals`` writes ``recorded/refusals.txt``; ``... refusals ROW`` prints what the sums stand for.
"""
from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ir.op import OPS, Op, as_tuple
from dl4py.samediff.ir.signature import Mismatch, attribute_types, coerce
from tests.samediff.ops.rows.op_table import Row
from tests.samediff.ops.rows.variants import numbered

RECORDED = Path(__file__).parents[1] / "recorded" / "refusals.txt"
Specs = list[TensorSpec | None]
TYPES = (DataType.FLOAT, DataType.INT, DataType.LONG, DataType.BOOL, DataType.UTF8, DataType.UINT8)
INTS = (-99, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 99)
FLOATS = (-1.0, 0.0, 1.0, 2.0, float("nan"), float("inf"))


def known(array: Any) -> TensorSpec | None:
    """All that is known of a constant; of floats the shape alone."""
    return None if array is None else TensorSpec(array.shape, DataType.of(array), array if array.dtype.kind in "iub" else None)


def shapes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Each size one more, one less, 1 or 0; an axis more or less; the order turned around."""
    for i, n in enumerate(shape):
        yield from ((*shape[:i], m, *shape[i + 1:]) for m in {n + 1, max(n - 1, 0), 1, 0, 2 * n} - {n})
        yield shape[:i] + shape[i + 1:]
    yield from ((1, *shape), (2, *shape), (*shape, 1), (*shape, 2))
    yield shape[::-1]


def other_inputs(row: Row) -> Iterator[tuple[str, Specs]]:
    """One input of another shape or type, with another whole number in it, or left out where it may be."""
    arrays, names = row.arrays(), OPS[row.op_id].inputs.split()
    given = [known(a) for a in arrays]
    for i, a in enumerate(arrays):
        if a is None or a.dtype.kind == "O":
            continue
        others: list[TensorSpec | None] = [known(np.resize(a if a.size else np.zeros(1, a.dtype), shape)) for shape in shapes(a.shape)]
        others += [TensorSpec(a.shape, t) for t in TYPES]
        for value in INTS if a.dtype.kind == "i" and a.size else ():
            changed = a.copy()
            changed.reshape(-1)[-1] = value
            others.append(known(changed))
        if i < len(names) and names[i].endswith("?"):
            others.append(None)
        yield from ((f"input {i}", [*given[:i], other, *given[i + 1:]]) for other in others)


def other_attributes(row: Row) -> Iterator[tuple[str, Row]]:
    """One attribute, or a number in it, otherwise: numbers around those where rules change."""
    op, hints = row.op(), attribute_types(OPS[row.op_id])
    for name in op.attribute_names():
        value = getattr(op, name)
        tries: list[Any] = []
        if isinstance(value, bool):
            tries = [not value]
        elif isinstance(value, int):
            tries = list(INTS)
        elif isinstance(value, float):
            tries = list(FLOATS)
        elif isinstance(value, tuple) and all(isinstance(v, int) and not isinstance(v, bool) for v in value):
            tries = [(), (*value, 1), value[::-1], value[:-1], value + value]
            tries += [(*value[:i], v, *value[i + 1:]) for i in range(len(value)) for v in INTS]
        elif value is None:
            tries = [0, -1, 2, (0,), (1, 2)]
        for other in dict.fromkeys(t for t in tries if t != value):
            try:
                yield name, replace(row, attributes=row.attributes | {name: coerce(hints[name], other, name)})
            except Mismatch:
                continue


def outcome(row: Row, specs: Specs) -> str:
    """The shapes and types, or the error."""
    try:
        found = as_tuple(row.op().infer(*specs))
    except DL4PyError as error:
        return f"{type(error).__name__}: {str(error).partition(' (at ')[0]}"        # not where in these files
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError):      # the graph tells of it as of inputs that do not fit
        return "the inputs do not fit"
    return " ".join(f"{s.dtype.name}{'?' if s.shape is None else list(s.shape)}" for s in found)


def outcomes(row: Row) -> dict[str, list[str]]:
    """What comes of each change, by the input or attribute that is changed."""
    found: dict[str, list[str]] = {}
    for what, specs in other_inputs(row):
        found.setdefault(what, []).append(outcome(row, specs))
    given = [known(a) for a in row.arrays()]
    for what, other in other_attributes(row):
        found.setdefault(what, []).append(outcome(other, given))
    return found


def line(found: dict[str, list[str]]) -> str:
    """One line of the record."""
    return "; ".join(f"{what} {zlib.crc32(chr(10).join(texts).encode()):08x}" for what, texts in found.items())


def rows() -> dict[str, Row]:
    """All that have a rule: calls that stand for other nodes do not."""
    return {where: row for where, row, _ in numbered() if type(row.op()).compute is not Op.compute}


def recorded() -> dict[str, str]:
    """The lines as they were written down."""
    return {name: text for name, _, text in (one.partition(" -> ") for one in RECORDED.read_text(encoding="utf-8").splitlines())}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(*(f"{what}: {text}" for what, texts in outcomes(rows()[name]).items() for text in texts), sep="\n")
    if len(sys.argv) == 1:
        RECORDED.write_text("".join(f"{name} -> {line(outcomes(row))}\n" for name, row in rows().items()), encoding="utf-8")
