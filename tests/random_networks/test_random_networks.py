"""A few of the random networks, which ``trying_networks.py`` tries by the hundred."""
from __future__ import annotations

from collections import Counter

import pytest

from tests.random_networks import trying_networks

SEED, NETWORKS, GROUPS = 20261123, 40, 8


@pytest.mark.sampled(8)
@pytest.mark.parametrize("group", range(GROUPS))
def test_both_executors_agree(group):
    outcomes = {n: trying_networks.case(SEED, n) for n in range(group, NETWORKS, GROUPS)}
    assert {n: o.text for n, o in outcomes.items() if o.kind == "differs"} == {}
    assert Counter(o.kind for o in outcomes.values())["equal"] >= 0.6 * len(outcomes)


@pytest.mark.slow
def test_networks_are_of_many_kinds():
    """Lists and graphs, batches of one and none, masks; layers and vertices of most classes are among those that a minute tries."""
    made = [trying_networks.drawn(SEED, n) for n in range(150)]
    assert {m.is_list for m in made} == {m.masked for m in made} == {True, False}
    assert {0, 1} <= {n for m in made for n in m.batches}
    members = {type(x).__name__ for m in made for x in trying_networks.members(m)}
    assert len(members) > 60, sorted(members)
