"""The folder of compiled kernels does not grow without end."""
from __future__ import annotations

import os

import pytest

from dl4py.samediff.executor.cache_limit import PAUSE, tidy


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Four files of 400 kB, the first used longest ago; the limit is one megabyte."""
    monkeypatch.setenv("DL4PY_CACHE_MB", "1")
    for k in range(4):
        (tmp_path / f"kernel{k}.nbc").write_bytes(bytes(400_000))
        os.utime(tmp_path / f"kernel{k}.nbc", (1000 + k, 1000 + k))
    return tmp_path


def names(folder):
    return sorted(p.name for p in folder.glob("*.nbc"))


def test_what_was_used_longest_ago_goes(folder):
    assert tidy(folder, now=5000) == 3
    assert names(folder) == ["kernel3.nbc"]


def test_once_a_day(folder, monkeypatch):
    monkeypatch.setenv("DL4PY_CACHE_MB", "100")
    assert tidy(folder, now=5000) == 0
    monkeypatch.setenv("DL4PY_CACHE_MB", "1")
    assert tidy(folder, now=5000 + PAUSE - 1) == 0
    assert tidy(folder, now=5000 + PAUSE + 1) == 3


def test_a_missing_folder_is_no_error(tmp_path):
    assert tidy(tmp_path / "gone", now=5000) == 0
