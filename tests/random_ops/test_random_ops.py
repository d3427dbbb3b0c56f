"""A few of the random calls, which ``trying_ops.py`` tries by the thousand."""
from __future__ import annotations

from collections import Counter

import pytest

from tests.random_ops import trying_ops

SEED, CALLS, GROUPS = 3, 120, 6


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
def test_both_executors_agree(group):
    outcomes = {n: trying_ops.case(SEED, n) for n in range(group, CALLS, GROUPS)}
    assert {n: o.text for n, o in outcomes.items() if o.kind == "differs"} == {}
    counts = Counter(o.kind for o in outcomes.values())
    assert counts["equal"] >= 0.4 * len(outcomes), counts      # of twenty; of thousands it is more than 0.6


def test_a_call_has_a_number():
    assert str(trying_ops.call_of(SEED, 7)) == str(trying_ops.call_of(SEED, 7)) != str(trying_ops.call_of(SEED, 8))
