"""Rows of the table of ops with several attributes otherwise at once, and what comes of them, as text.

Some options show only beside others. ``python -m tests.samediff.ops.rows.combinations`` writes ``recorded/combinations.txt``.
"""
from __future__ import annotations

import contextlib
import random
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ir.op import OPS, Op
from dl4py.samediff.ir.signature import Mismatch, attribute_types, coerce
from tests.samediff.ops.rows import open_sizes, refusals
from tests.samediff.ops.rows.op_table import ROWS, Row
from tests.samediff.ops.rows.variants import graph_of, line, others_or_none, results

RECORDED = Path(__file__).parents[1] / "recorded" / "combinations.txt"
MOST = 8            # of one op


def rows() -> dict[str, list[Row]]:
    """The rows of each op that has attributes."""
    found: dict[str, list[Row]] = {}
    for row in ROWS:
        if row.op().attribute_names():
            found.setdefault(row.op_id, []).append(row)
    return found


def accepted(row: Row) -> bool:
    """Whether a graph may hold it."""
    with np.errstate(all="ignore"), contextlib.suppress(DL4PyError):
        graph_of(row)
        return True
    return False


def otherwise(row: Row, name: str, rng: random.Random) -> Row:
    """The row with another value of an attribute; the same one where that is refused."""
    values = others_or_none(row.op(), name)
    if not values:
        return row
    try:
        value = coerce(attribute_types(OPS[row.op_id])[name], rng.choice(values), name)
        other = replace(row, attributes=row.attributes | {name: value})
        return other if accepted(other) else row
    except (Mismatch, DL4PyError, TypeError, ValueError, IndexError):          # no value of this attribute
        return row


def rules(row: Row) -> str:
    """A check sum of what shape rules say of known, open and wrong sizes; none of calls, which stand for other nodes."""
    if type(row.op()).compute is Op.compute:
        return "-"
    return f"{zlib.crc32(f'{open_sizes.line(row)} {refusals.line(refusals.outcomes(row))}'.encode()):08x}"


def lines(op_id: str, given: list[Row]) -> list[str]:
    """What comes of an op with about every other option away from that of its rows, one draw a line."""
    rng, names = random.Random(op_id), given[0].op().attribute_names()
    found: dict[str, str] = {}
    for k in range(min(MOST, max(2, 2 * len(names) - 2))):
        before = row = given[k % len(given)]
        for name in rng.sample(names, len(names)):
            if rng.random() < max(0.5, 2 / len(names)):
                row = otherwise(row, name, rng)
        changed = ", ".join(f"{n}={v}" for n, v in row.attributes.items() if n not in before.attributes or v is not before.attributes[n])
        if changed:
            found[f"{op_id} {k % len(given)} {changed}"] = f"{rules(row)} {line(results(row) if len(names) > 1 else [])}"
    return [f"{name} -> {text}" for name, text in found.items()]


def recorded() -> dict[str, list[str]]:
    """The lines as they were written down, by op."""
    found: dict[str, list[str]] = {}
    for text in RECORDED.read_text(encoding="utf-8").splitlines():
        found.setdefault(text.partition(" ")[0], []).append(text)
    return found


if __name__ == "__main__":
    RECORDED.write_text("".join(f"{text}\n" for op_id, given in rows().items() for text in lines(op_id, given)), encoding="utf-8")
