"""The document lists what the table has."""
from __future__ import annotations

from pathlib import Path

from dl4py.networks.keras.documentation import with_table
from dl4py.networks.keras.registry import TABLE

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "keras.md"


def test_the_table_is_as_generated():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert with_table(text) == text, "run .ci/generate"


def test_every_row_says_what_becomes_of_it():
    assert all(entry.becomes for entry in TABLE.values())
