"""Damaged files give a value or a typed error, quickly: what fuzzing found before, truncations, flipped bits."""
from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.fuzzing import CORPUS, fuzz, problem_of
from fuzz.targets import TARGETS

FOUND = sorted(p for p in CORPUS.glob("*/*") if p.is_file())
EXHAUSTIVE = [name for name in TARGETS if name != "inspect"]       # reads what others read
MOST = 20_000       # of a longer file every second, third ... bit


@pytest.mark.parametrize("path", FOUND, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_files_that_were_a_problem_once(path: Path):
    assert problem_of(TARGETS[path.parent.name], path.read_bytes()) is None


@pytest.mark.parametrize("name", TARGETS)
def test_a_moment_of_fuzzing(name):
    count, found = fuzz(TARGETS[name], 0.5, seed=1)
    assert count > 0
    assert found == {}


def small_seeds(name: str) -> list[bytes]:
    return sorted(TARGETS[name].seeds(), key=len)[:3]


@pytest.mark.slow
@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_every_truncation(name):
    for good in small_seeds(name):
        for end in range(len(good)):
            assert problem_of(TARGETS[name], good[:end]) is None, f"cut to {end} of {len(good)} bytes"


@pytest.mark.slow
@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_every_flipped_bit(name):
    for good in small_seeds(name):
        for at in range(0, 8 * len(good), 1 + 8 * len(good) // MOST):
            data = bytearray(good)
            data[at // 8] ^= 1 << at % 8
            assert problem_of(TARGETS[name], bytes(data)) is None, f"bit {at % 8} of byte {at // 8}"
