"""Scopes that are begun by hand in functions that errors leave."""
from __future__ import annotations

import pytest

from dl4py import Nd4j
from dl4py.samediff.errors import GraphScopeError


@pytest.mark.parametrize("keeps", [True, False])
def test_an_error_that_leaves_the_function_leaves_its_scope(keeps):
    def work():
        scope = Nd4j.graph_scope()
        scope.begin()
        a = Nd4j.ones(2).add(1)
        raise KeyError(a.shape)
    kept = []
    try:
        work()
    except KeyError as error:
        kept += [error] if keeps else []
        total = Nd4j.zeros(2)
        assert total.addi(1).sum_number() == 2                      # in place, of what was not recorded
        with Nd4j.graph_scope():
            inner = total + 1
        assert inner.tolist() == [2, 2]
    assert Nd4j.ones(2).add(1).sum_number() == 4


def test_errors_inside_of_the_function_do_not():
    def work():
        scope = Nd4j.graph_scope()
        scope.begin()
        a = Nd4j.ones(2).add(1)
        try:
            float(a.sum())
        except GraphScopeError:
            b = a.add(1)
        scope.end()
        return b
    assert work().tolist() == [3, 3]


def test_a_scope_that_was_left_says_so():
    scope = Nd4j.graph_scope()

    def work():
        scope.begin()
        raise KeyError("work")
    with pytest.raises(KeyError) as kept:
        work()
    assert Nd4j.ones(2).sum_number() == 2 and kept.value.args == ("work",)
    with pytest.raises(GraphScopeError, match="an error left the function that began the scope"):
        scope.end()


def test_functions_hand_on_what_they_began():
    def begun():
        scope = Nd4j.graph_scope()
        scope.begin()
        return scope, Nd4j.ones(2).add(1)

    def suspended():
        scope = Nd4j.graph_scope()
        scope.begin()
        yield
        scope.end()
    scope, a = begun()
    b = a.add(1)
    scope.end()
    assert b.tolist() == [3, 3]
    steps = suspended()
    next(steps)
    c = Nd4j.ones(2).add(1)
    assert next(steps, None) is None and c.tolist() == [2, 2]
