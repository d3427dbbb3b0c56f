"""Damaged files give a value or a typed error, quickly: what fuzzing found before, truncations, flipped bits."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.fuzzing import CORPUS, flipped_bits, fuzz, problem_of, small_seeds
from tests.fuzz.targets import TARGETS

FOUND = sorted(p for p in CORPUS.glob("*/*") if p.is_file())
EXHAUSTIVE = [name for name in TARGETS if name != "inspect"]       # reads what others read


@pytest.mark.parametrize("path", FOUND, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_files_that_were_a_problem_once(path: Path):
    assert problem_of(TARGETS[path.parent.name], path.read_bytes()) is None


@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", TARGETS)
def test_a_moment_of_fuzzing(name):
    assert fuzz(TARGETS[name], 150, seed=1) == (150, {})


@pytest.mark.slow
@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_every_truncation(name):
    for good in small_seeds(TARGETS[name]):
        for end in range(len(good)):
            assert problem_of(TARGETS[name], good[:end]) is None, f"cut to {end} of {len(good)} bytes"


@pytest.mark.slow
@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_flipped_bits(name):
    assert flipped_bits(TARGETS[name], most=5000) is None
