"""Writes the tables of ``docs/onnx.md`` and ``docs/tensorflow.md``: every operator that has a converter, every op that has an exporter.

    python -m dl4py.samediff.tools.onnx_docs            # after adding or changing a converter
"""
from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from ..base.home import is_ours
from ..onnx import exporting, importing  # noqa: F401 - fill the tables
from ..onnx.export_table import known_exporters
from ..onnx.registry import Converter, known_converters
from ..tensorflow import importing as of_tensorflow  # noqa: F401

MARK = "<!-- written by python -m dl4py.samediff.tools.onnx_docs -->"
NEWEST = 1000
#: Domains of converters for operators that are not ONNX's.
ELSEWHERE = {"tensorflow", "torch"}


def rows() -> Iterator[str]:
    """A line for each ONNX operator."""
    held: dict[tuple[str, str], list[Converter]] = {}
    for converter in known_converters():
        if is_ours(converter.convert) and converter.domain not in ELSEWHERE:
            held.setdefault((converter.domain, converter.operator), []).append(converter)
    for (domain, operator), found in sorted(held.items()):
        versions = ", ".join(f"{c.since} to {c.until}" if c.until < NEWEST else f"from {c.since} on" for c in found)
        notes = "; ".join(dict.fromkeys(c.notes for c in found if c.notes))
        yield f"| {f'{domain}.' if domain else ''}{operator} | {'all' if versions == 'from 1 on' else versions} | {notes} |"


def tensorflow_operators() -> str:
    """TensorFlow's operators, one after the other."""
    return ", ".join(f"`{c.operator}`" for c in known_converters() if is_ours(c.convert) and c.domain == "tensorflow")


def written_ops() -> Iterator[str]:
    """The ops that have exporters: those with notes as a table, the others one after the other."""
    noted = {e.op_id: e.notes for e in known_exporters() if is_ours(e.export) and e.notes}
    plain = [f"`{e.op_id}`" for e in known_exporters() if is_ours(e.export) and not e.notes]
    yield from ["## Ops with nodes of their own", "", *textwrap.wrap(", ".join(plain), 140), "", "| op | |", "|---|---|"]
    yield from (f"| {op_id} | {notes} |" for op_id, notes in noted.items())


def generate(text: str, name: str = "onnx.md") -> str:
    """The document with the table of now."""
    head = text.partition(MARK)[0]
    if name == "tensorflow.md":
        return "\n".join([f"{head}{MARK}", "", *textwrap.wrap(tensorflow_operators(), 140), ""])
    return "\n".join([f"{head}{MARK}", "", "| operator | versions | |", "|---|---|---|", *rows(), "", *written_ops(), ""])


def main() -> None:
    """Write it."""
    for name in ("onnx.md", "tensorflow.md"):
        path = Path(__file__).resolve().parents[2] / "docs" / name
        path.write_text(generate(path.read_text(encoding="utf-8"), name), encoding="utf-8")


if __name__ == "__main__":
    main()
