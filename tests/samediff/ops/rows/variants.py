"""Rows of the table of ops, and with one attribute or type otherwise, and what comes of them, as text.

``python -m tests.samediff.ops.rows.variants`` writes ``recorded/variants.txt``: weighted sums of results and of gradients.
"""
from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ir.op import METHODS, OPS, Op
from dl4py.samediff.ir.signature import Mismatch, attribute_types, coerce
from tests.samediff.files.written_args import choices
from tests.samediff.ops.rows.op_table import ROWS, Row

RECORDED = Path(__file__).parents[1] / "recorded" / "variants.txt"
#: Ops that users call; those that gradients and plans make know how many inputs they have.
PUBLIC = {cls.id for classes in METHODS.values() for cls in classes}
SHORT = 40          # letters of a value in a name
#: Their signs depend on the library: shapes alone are recorded.
UNSIGNED = {"svd", "svd_factors", "svd_slope", "qr", "eig", "eigh"}


def others(op: Any, name: str) -> list[Any]:
    """Values near that of an attribute, and those that it lists."""
    value = getattr(op, name)
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, DataType):
        return [t for t in (DataType.LONG, DataType.DOUBLE) if t is not value]
    if isinstance(value, Enum):
        return [m for m in type(value) if m is not value]
    listed = [v for v in choices(op, name) if v != value] if isinstance(op, Op) else []
    if listed:
        return listed
    if isinstance(value, int):
        return [value + 1, value - 1, value + 2]
    if isinstance(value, float):
        return [value * 1.25 + 0.125, *([value * 0.25] if value else [])] if np.isfinite(value) else [0.5]
    if isinstance(value, tuple) and value and all(isinstance(v, int) for v in value):
        return [tuple(v + 1 for v in value), tuple(v - 1 for v in value), (*value[:-1], value[-1] + 1), value[:-1], value[::-1]]
    if is_dataclass(value) and not isinstance(value, (type, Op)):
        return [replace(value, **{f.name: v}) for f in fields(value) if f.init for v in others(value, f.name)] if fields(value) else []
    return [1, DataType.LONG, "OYXI"] if value is None else [(0,), (1,)] if value == () else []


def changed(row: Row, name: str) -> Iterator[tuple[str, Row]]:
    """The row with other values of an attribute, of its type, which its class accepts."""
    for value in others_or_none(row.op(), name):
        try:
            typed = coerce(attribute_types(OPS[row.op_id])[name], value, name)
            other = replace(row, attributes=row.attributes | {name: typed})
            kept = getattr(other.op(), name)
        except (Mismatch, DL4PyError, TypeError, ValueError, IndexError):           # no value of this attribute
            continue
        if kept == typed and type(kept) is type(typed):
            yield f"{name}={str(getattr(typed, 'name', typed))[:SHORT]}", other


def others_or_none(op: Any, name: str) -> list[Any]:
    """The same; none where values near that are refused."""
    try:
        return others(op, name)
    except (TypeError, ValueError, DL4PyError):
        return []


@dataclass(frozen=True)
class Typed(Row):
    """A row whose floats have other types: all of them, or those at one place."""

    type: str = "float32"
    place: int | None = None

    def arrays(self) -> list[Any]:
        """The inputs in these types."""
        return [a.astype(self.type) if a is not None and a.dtype.kind == "f" and self.place in (None, i) else a
                for i, a in enumerate(super().arrays())]


@dataclass(frozen=True)
class Filled(Row):
    """A row whose floats are all one number, so that everything is equal to everything else."""

    number: float = 0.0

    def arrays(self) -> list[Any]:
        """The inputs with that number."""
        return [np.full_like(a, self.number) if a is not None and a.dtype.kind == "f" else a for a in super().arrays()]


def filled(row: Row) -> Iterator[tuple[str, Row]]:
    """Zeros, and ones; not where libraries decompose matrices."""
    given = {f.name: getattr(row, f.name) for f in fields(row)}
    if any(a is not None and a.dtype.kind == "f" for a in row.arrays()) and ".linalg." not in OPS[row.op_id].__module__:
        yield from ((name, Filled(**given, number=number)) for name, number in (("zeros", 0.0), ("ones", 1.0)))


def left_out(row: Row) -> Iterator[tuple[str, Row]]:
    """Without each of the inputs that may be left out; with the first alone of any number of them."""
    names = OPS[row.op_id].inputs.split()
    if row.op_id in PUBLIC and len(names) == 1 and names[0].startswith("*") and len(row.inputs) > 1:
        yield "one", replace(row, inputs=row.inputs[:1])
    for i, (name, given) in enumerate(zip(names, row.inputs)):
        if name.endswith("?") and not (isinstance(given, str) and given == "-"):
            yield f"no {name[:-1]}", replace(row, inputs=(*row.inputs[:i], "-", *row.inputs[i + 1:]))


def typed(row: Row) -> Iterator[tuple[str, Row]]:
    """Single precision, then whole numbers in place of each input of floats."""
    given = {f.name: getattr(row, f.name) for f in fields(row)}
    floats = [i for i, a in enumerate(row.arrays()) if a is not None and a.dtype.kind == "f"]
    if floats:
        yield "float32", Typed(**given)
    yield from ((f"int64 {i}", Typed(**given, type="int64", place=i)) for i in floats)


def numbered() -> Iterator[tuple[str, Row, bool]]:
    """The rows by op and number, and whether they are the first of their op."""
    counts: Counter[str] = Counter()
    for row in ROWS:
        yield f"{row.op_id}-{counts[row.op_id]}", row, not counts[row.op_id]
        counts[row.op_id] += 1


def variants() -> dict[str, Row]:
    """Every row, the first ones with other types and numbers, those with the most inputs without some of these, and of each attribute the
    first row in which it can be otherwise."""
    found: dict[str, Row] = {}
    done: set[tuple[str, str]] = set()
    for where, row, first in numbered():
        found[where] = row
        found |= {f"{where} {text}": other for text, other in ((*typed(row), *filled(row)) if first else ())}
        found |= {f"{where} {text}": other for text, other in left_out(row)}
        for name in row.op().attribute_names():
            some = [] if (row.op_id, name) in done else list(changed(row, name))[:4]
            found |= {f"{where} {text}": other for text, other in some}
            done |= {(row.op_id, name)} if some else set()
    return found


def graph_of(row: Row) -> tuple[SameDiff, list[Any], list[str]]:
    """The op on variables (floats) and constants; outputs and the names of the variables."""
    sd, op = SameDiff(), row.op()
    sd.seed = 5
    inputs = [None if a is None else sd.var(f"in{i}", a) if a.dtype.kind == "f" else sd.constant(f"in{i}", a)
              for i, a in enumerate(row.arrays())]
    made = op.place(sd, inputs, None) if type(op).compute is Op.compute else sd.add_op(op, inputs)
    return sd, made if isinstance(made, list) else [made], [v.name() for v in inputs if v is not None and v.is_trainable()]


def summed(array: Any) -> float:
    """A number that depends on every element and its place."""
    a = np.asarray(array)
    if a.dtype.kind not in "fiub":
        return float(sum(map(ord, "".join(map(str, a.reshape(-1))))))
    weights = np.cos(np.arange(a.size, dtype=np.float64) + 0.5)
    return float(np.where(np.isfinite(a.reshape(-1).astype(np.float64)), a.reshape(-1), 3.0).astype(np.float64) @ weights)


def results(row: Row) -> list[tuple[str, list[float]]]:
    """What it is, and its numbers: of the outputs, of the gradients; or the kind of error."""
    with mock.patch.dict(os.environ, {"DL4PY_EXECUTOR": "reference"}), np.errstate(all="ignore"):
        try:
            sd, outputs, names = graph_of(row)
            arrays = list(sd.output({}, *[v.name() for v in outputs]).values()) if outputs else []
        except DL4PyError as error:
            return [(type(error).__name__, [])]
        what, known = " ".join(f"{a.dtype}{a.shape}" for a in map(np.asarray, arrays)), row.op_id not in UNSIGNED
        found = [(what, [summed(a) for a in arrays] if known else [])]
        floating = [v for v in outputs if v.dtype.is_floating and v.spec.shape is not None]
        if not known or not names or not floating or not OPS[row.op_id].gradient:
            return found
        try:
            total = sum((v * np.cos(np.arange(a.size) + 0.5).reshape(a.shape).astype(a.dtype)).sum()
                        for v, a in zip(outputs, map(np.asarray, arrays)) if any(v is f for f in floating))
            sd.set_loss_variables(total.name())
            gradients = sd.calculate_gradients({}, *names)
        except DL4PyError as error:
            return [*found, (f"gradient {type(error).__name__}", [])]
        return [*found, ("gradients", [summed(gradients[n]) for n in names])]


def of_node(node: Any) -> str:
    """A node without its graphs, which are others when they are read."""
    return f"{node.op.id} {node.inputs} {re.sub('SubGraph[^)]*', '', repr(node.op))}"


def line(parts: list[tuple[str, list[float]]]) -> str:
    """One line of the record."""
    return "; ".join(f"{what}: {' '.join(f'{v:.6g}' for v in values)}" for what, values in parts)


def read(text: str) -> list[tuple[str, list[float]]]:
    """What a line of the record holds."""
    return [(what, [float(v) for v in values.split()]) for what, _, values in (p.rpartition(":") for p in text.split("; ") if p)]


def recorded() -> dict[str, str]:
    """The lines by variant."""
    lines = (one.partition(" -> ") for one in RECORDED.read_text(encoding="utf-8").splitlines())
    return {name: text for name, _, text in lines}


if __name__ == "__main__":
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text("".join(f"{name} -> {line(results(row))}\n" for name, row in variants().items()), encoding="utf-8")
