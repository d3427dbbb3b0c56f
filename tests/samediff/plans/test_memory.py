"""Buffers in one arena: those alive together do not overlap, and many take hardly more room than few."""
from __future__ import annotations

import sys
from unittest import mock

import numpy as np
import pytest

from dl4py.samediff.plans import memory
from dl4py.samediff.plans.memory import Buffer, assign


def drawn(count, kind):
    """Buffers of a step each, for the next few steps, or, as for gradients, until the way back."""
    rng = np.random.default_rng(count)
    sizes = rng.integers(0, 5, count) * 64 + rng.integers(0, 64, count)
    last = {"short": [i + 1 + int(k) for i, k in enumerate(rng.integers(0, 4, count))], "long": [2 * count - i for i in range(count)]}[kind]
    return {f"b{i}": Buffer(int(n), i, end) for i, (n, end) in enumerate(zip(sizes, last, strict=True))}


@pytest.mark.parametrize("kind", ["short", "long"])
@pytest.mark.parametrize("most", [0, 1000], ids=["in the order of time", "by size"])
def test_buffers_alive_together_lie_apart(kind, most):
    buffers = drawn(150, kind)
    with mock.patch.object(memory, "MANY", most):
        offsets, arena = assign(buffers)
    assert offsets.keys() == buffers.keys()
    for name, b in buffers.items():
        assert offsets[name] >= 0 and offsets[name] % 64 == 0 and offsets[name] + b.size <= arena
        for other, c in buffers.items():
            if other != name and b.size and c.size and b.first <= c.last and c.first <= b.last:
                assert offsets[name] + b.size <= offsets[other] or offsets[other] + c.size <= offsets[name]
    needed = max(sum(-(-b.size // 64) * 64 for b in buffers.values() if b.first <= step <= b.last) for step in range(301))
    assert arena <= 1.25 * needed


def test_the_work_grows_with_the_number():
    def calls(count):
        buffers, seen = drawn(count, "short"), []
        with mock.patch.object(memory, "MANY", 0):
            sys.setprofile(lambda frame, event, arg: seen.append(event))
            try:
                assign(buffers)
            finally:
                sys.setprofile(None)
        return len(seen)
    assert calls(800) < 2.3 * calls(400)
