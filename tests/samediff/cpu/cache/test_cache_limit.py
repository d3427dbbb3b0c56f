"""The folder of compiled kernels does not grow without end."""
from __future__ import annotations

import os

import pytest

from dl4py.samediff.cpu.cache.limit import PAUSE, tidy


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


def test_only_files_of_the_cache_are_removed(folder):
    for name in ("notes.txt", "module.o", "library.so", "tmp", "tidy.tmp"):
        (folder / name).write_bytes(bytes(2_000_000))
        os.utime(folder / name, (500, 500))
    (folder / "kernel.nbc").symlink_to(folder / "notes.txt")
    assert tidy(folder, now=5000 + PAUSE) == 3
    assert {p.name for p in folder.iterdir()} == {"kernel.nbc", "kernel3.nbc", "library.so", "module.o", "notes.txt", "tidied",
                                                  "tidy.tmp", "tmp"}


@pytest.mark.parametrize("name", [".abc123.tmp", "tmpab_12345", "tmpab_12345.tmp", "f.py311.1.nbc.tmp.0123456789abcdef"])
def test_what_killed_processes_left_is_removed(folder, monkeypatch, name):
    monkeypatch.setenv("DL4PY_CACHE_MB", "100")
    (folder / name).write_bytes(b"")
    os.utime(folder / name, (5000, 5000))
    assert tidy(folder, now=5000 + PAUSE - 1) == 0          # it may still be written
    assert tidy(folder, now=5000 + 2 * PAUSE) == 1
    assert not (folder / name).exists()


@pytest.mark.parametrize("name", ["0123456789abcdef01234567.o", "runner-0123456789abcdef01234567.o", "0123456789abcdef01234567.so"])
def test_machine_code_goes_too(folder, name):
    (folder / name).write_bytes(bytes(2_000_000))
    os.utime(folder / name, (500, 500))
    tidy(folder, now=5000)
    assert not (folder / name).exists()
