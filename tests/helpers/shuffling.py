"""Plug-in of pytest: ``-p tests.helpers.shuffling --shuffle SEED`` runs files, and tests within a file, in another order."""
from __future__ import annotations

import random
from itertools import groupby

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--shuffle``."""
    parser.addoption("--shuffle", type=int, default=None, help="seed of the order")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of one file stay together, so that what they share is made once."""
    seed = config.getoption("--shuffle")
    if seed is None:
        return
    draw = random.Random(seed)
    files = [list(group) for _, group in groupby(items, key=lambda item: item.path)]
    draw.shuffle(files)
    for group in files:
        draw.shuffle(group)
    items[:] = [item for group in files for item in group]
