"""Fixtures that every test folder shares."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with a fixed seed, fresh for every test."""
    return np.random.default_rng(12345)


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of recorded values that ship with the tests."""
    return Path(__file__).parent / "golden"
