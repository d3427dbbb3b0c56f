"""When two values mean the same: what instances of an op are compared by."""
from __future__ import annotations

import collections

import numpy as np
import pytest

from dl4py.udf.java.restoring import same


class Slots:
    __slots__ = "a", "b"

    def __init__(self, a):
        self.a = a


class More(Slots):
    def __init__(self, a, c):
        super().__init__(a)
        self.c = c


def unset(given=False):
    def function():
        return value
    if given:
        value = 1
    return function


@pytest.mark.parametrize(("a", "b", "equal"), [
    (collections.deque([np.ones(3)]), collections.deque([np.ones(3)]), True),
    (collections.deque([np.ones(3)]), collections.deque([np.zeros(3)]), False),
    (Slots(1), Slots(1), True), (Slots(1), Slots(2), False), (Slots(np.ones(2)), Slots(np.ones(2)), True),
    (More(1, 2), More(1, 2), True), (More(1, 2), More(1, 3), False), (More(1, 2), More(0, 2), False),
    (unset(), unset(), True), (unset(), unset(given=True), False),
])
def test_same(a, b, equal):
    assert same(a, b) is equal
