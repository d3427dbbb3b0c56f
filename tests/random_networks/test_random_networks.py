"""A few of the random networks, which ``trying_networks.py`` tries by the hundred."""
from __future__ import annotations

from collections import Counter

import pytest

from tests.random_networks import trying_networks

SEED, NETWORKS, GROUPS = 20261123, 40, 8


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("normalized_alone", [True, False])
def test_steps_where_rounding_gets_a_length_are_judged_without_the_normalization(normalized_alone, monkeypatch):
    """A fault in steps of a network with such a gradient is seen unless it is in the direction that rounding has."""
    run, number = trying_networks._run, 100

    def wrong(made, reference, moved=False):
        found = run(made, True, moved)
        renormalized = "Renormalize" in str(trying_networks.members(made)[-1].gradient_normalization)
        if reference or (normalized_alone and not renormalized):
            return found
        return [(name, value + 100 if name.startswith("step") else value) for name, value in found]
    assert trying_networks._rounding_gets_a_length(trying_networks.drawn(SEED, number))
    monkeypatch.setattr(trying_networks, "_run", wrong)
    assert trying_networks.case(SEED, number).kind == ("sensitive" if normalized_alone else "differs")
