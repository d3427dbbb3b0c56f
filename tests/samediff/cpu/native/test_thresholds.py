"""Thresholds of shared work: measured once, kept in the cache folder, never taken from a file that makes no sense."""
from __future__ import annotations

import json
import os

import pytest

from dl4py.samediff.cpu.native import program, thread_pool, thresholds
from dl4py.samediff.cpu.native.thresholds import LEAST, MOST, USUAL, Thresholds

FOUND = Thresholds(6e3, 5e4)


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """``asked(answer)``: what a fresh process takes, when a measurement would come to ``answer``; and the folder."""
    if thread_pool.pool() is None:
        pytest.skip("one processor")
    monkeypatch.setenv("DL4PY_CACHE_DIR", str(tmp_path))

    def ask(answer):
        monkeypatch.setattr(thresholds, "measured", lambda program: answer)
        return thresholds.of_machine.__wrapped__(program._shared)
    return ask, tmp_path


def test_measured_once(asked):
    ask, folder = asked
    assert ask(FOUND) == FOUND
    assert ask(None) == FOUND           # from the file
    assert [f.suffix for f in folder.iterdir()] == [".json"]


def test_a_busy_machine_does_not_decide_for_good(asked):
    ask, folder = asked
    assert ask(Thresholds(FOUND.parts, MOST.help)) == USUAL
    tried, = folder.iterdir()
    assert ask(None) == USUAL           # not again and again
    os.utime(tried, (1000, 1000))
    assert ask(FOUND) == FOUND


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", json.dumps({"parts": "x", "help": 1}), json.dumps({"parts": 6e3}),
                                  json.dumps({"parts": 1.0, "help": 5e4}), json.dumps({"parts": 6e3, "help": float("nan")})])
def test_a_damaged_file_is_measured_anew(asked, text):
    ask, folder = asked
    ask(FOUND)
    file, = folder.iterdir()
    file.write_text(text)
    other = Thresholds(7e3, 6e4)
    assert ask(other) == other
    assert ask(None) == other


def test_a_folder_that_cannot_be_written(asked, monkeypatch):
    ask, folder = asked
    (folder / "file").touch()
    monkeypatch.setenv("DL4PY_CACHE_DIR", str(folder / "file" / "below"))
    assert ask(FOUND) == FOUND


def test_a_measurement_lies_in_the_range():
    if thread_pool.pool() is None:
        pytest.skip("one processor")
    found = thresholds.measured(program._shared)
    assert all(low <= n <= high for low, n, high in zip(LEAST, found, MOST))
