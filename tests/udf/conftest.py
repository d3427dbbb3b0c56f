"""What all tests of user ops share."""
from __future__ import annotations

import pytest

from dl4py.udf.checks import runs


@pytest.fixture(autouse=True)
def briefly(monkeypatch):
    """Checks repeat calls for a few milliseconds; tests of what shows after many calls have a fixture of this name that leaves it."""
    monkeypatch.setattr(runs, "_SECONDS", 0.01)
