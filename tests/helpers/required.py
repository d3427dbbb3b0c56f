"""What a run may leave out where it is missing, unless ``DL4PY_REQUIRE`` names it: ``jvm``, ``golden``."""
from __future__ import annotations

import os

import pytest


def missing(what: str, why: str) -> None:
    """Skip the test, or let it fail where the thing is required."""
    if what in os.environ.get("DL4PY_REQUIRE", "").split(","):
        pytest.fail(f"{what} is required here (DL4PY_REQUIRE): {why}")
    pytest.skip(why)
