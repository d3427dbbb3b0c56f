"""Dictionaries that forget."""
from __future__ import annotations

import threading

import pytest

from dl4py.samediff.base.bounded_cache import BoundedCache


def test_the_first_entry_goes_first():
    kept = BoundedCache(3)
    for n in range(5):
        kept[n] = -n
    assert kept == {2: -2, 3: -3, 4: -4} and kept.get(0) is None
    kept[2] = 9                                     # put again: the last to go
    kept[5] = -5
    assert list(kept.items()) == [(4, -4), (2, 9), (5, -5)]


def test_what_is_used_stays():
    kept = BoundedCache(2)
    kept["a"], kept["b"] = 1, 2
    assert kept.used("a") == 1 and kept.used("x") is None
    kept["c"] = 3
    assert list(kept) == ["a", "c"]


@pytest.mark.parametrize(("weights", "left"), [
    ((5, 5, 5), (5, 5)), ((1, 2, 3, 4), (1, 2, 3, 4)), ((3, 40), (3, 40)), ((50, 60, 70), (60, 70)), ((9, 1, 1, 1), (1, 1, 1))])
def test_what_is_heavy_goes_earlier(weights, left):
    kept = BoundedCache(10, lambda w: w, 11, least=2)
    for k, weight in enumerate(weights):
        kept[k] = weight
    assert tuple(kept.values()) == left
    assert kept.total() == sum(left)


def test_threads():
    kept, wrong = BoundedCache(8), []

    def work(first):
        for n in range(3000):
            kept[first + n % 50] = first + n % 50
            found = kept.used(first + (n * 7) % 50)
            if found not in (None, first + (n * 7) % 50):
                wrong.append(found)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and len(kept) <= 8
