"""Random programs: eagerly, in a scope and compiled they give the same."""
from __future__ import annotations

import pytest

from tests.random_programs.trying_programs import case, described

SEED = 20261124


@pytest.mark.slow
@pytest.mark.parametrize("number", range(40))
def test_three_ways_agree(number):
    found = case(SEED, number)
    assert found.kind in ("equal", "refused"), f"{described(SEED, number)}\n{found.text}"
