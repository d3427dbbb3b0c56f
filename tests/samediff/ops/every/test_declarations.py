"""What the classes of ops declare: defaults, inputs, ways to call them, places in files, as it is recorded."""
from __future__ import annotations

import pytest

from tests.samediff.ops.rows import declarations

RECORDED = declarations.recorded()


def test_the_record_is_complete():
    assert list(RECORDED) == declarations.names(), "run .ci/generate where the change is meant"


@pytest.mark.parametrize("op", RECORDED)
def test_as_recorded(op):
    assert declarations.line(op) == RECORDED[op], "run .ci/generate where the change is meant"
