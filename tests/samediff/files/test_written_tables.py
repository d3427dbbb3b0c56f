"""Graph files hold what is recorded, field by field, and graphs that are read are the recorded ones."""
from __future__ import annotations

import pytest

from tests.samediff.files.written_tables import MADE, OF_DL4J, both, recorded

LINES = recorded()


@pytest.mark.parametrize("name", [*MADE, *OF_DL4J])
def test_tables(name, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    for heading, lines in both(name):
        assert lines == LINES[heading], f"{heading}: where the change is meant, run .ci/generate"


def test_every_record_is_looked_at():
    assert {heading.rpartition(",")[0] for heading in LINES} == {*MADE, *OF_DL4J}
