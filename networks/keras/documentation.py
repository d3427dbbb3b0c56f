"""Writes the tables of ``docs/keras.md``: what each layer of Keras becomes, and what is lost."""
from __future__ import annotations

from pathlib import Path

from . import table as table
from .registry import TABLE

BEGIN, END = "<!-- written by python -m dl4py.networks.keras.documentation -->", "<!-- end -->"


def layer_table() -> str:
    """The table of layers in Markdown, rows in the order of names."""
    rows: dict[tuple[str, str], list[str]] = {}
    for entry in TABLE.values():
        if not entry.own:
            rows.setdefault((entry.becomes, entry.lossy), []).append(entry.name)
    lines = ["| Keras | becomes | lost or refused |", "|---|---|---|"]
    for (becomes, lossy), names in sorted(rows.items(), key=lambda row: min(row[1])):
        lines.append(f"| {', '.join(sorted(names))} | {becomes} | {lossy} |")
    return "\n".join(lines)


def with_table(text: str) -> str:
    """A document with its table as it is now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{layer_table()}\n{END}{after}"


def main() -> None:
    path = Path(__file__).resolve().parents[2] / "docs" / "keras.md"
    path.write_text(with_table(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
