"""What counts as equal, refused, sensitive and different, and that the program goes on when a case kills it."""
from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dl4py.samediff.errors import ShapeError
from tests.helpers import randomruns

ONE = np.ones(3, np.float32)


def refused():
    raise ShapeError("no")


def judged(compiled, reference, moved=None):
    def results(value):
        return value() if callable(value) else [("y", value)]
    return randomruns.judged(lambda: results(compiled), lambda m: results(reference if moved is None or not m else moved)).kind


@pytest.mark.parametrize(("compiled", "reference", "moved", "kind"), [
    (ONE, ONE, None, "equal"), (ONE * (1 + 1e-5), ONE, None, "equal"), (ONE * (1 + 1e-4), ONE, ONE * (1 + 1e-7), "differs"),
    (ONE * (1 + 1e-4), ONE, ONE * (1 + 5e-5), "sensitive"), (ONE * np.nan, ONE, ONE, "differs"),
    (ONE * np.nan, ONE, ONE * np.nan, "sensitive"),
    (ONE.astype(int), ONE.astype(int), None, "equal"), (2 * ONE.astype(int), ONE.astype(int), ONE.astype(int), "differs"),
    (ONE.astype(np.float64), ONE, None, "differs"), (ONE[:2], ONE, None, "differs"), (refused, refused, None, "refused"),
    (refused, ONE, None, "differs"), (ONE, refused, None, "differs"), (lambda: 1 / 0, lambda: 1 / 0, None, "differs")])
def test_outcomes(compiled, reference, moved, kind):
    assert judged(compiled, reference, moved) == kind


def test_a_case_that_kills_its_process(tmp_path, monkeypatch, capsys):
    """It is counted, and the cases behind it are tried all the same."""
    (tmp_path / "deadly_cases.py").write_text(
        "import os\nfrom tests.helpers import randomruns\n"
        "def case(seed, number):\n"
        "    os._exit(9) if number == 2 else None\n"
        "    return randomruns.Outcome('equal' if number < 6 else 'differs')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(randomruns, "MOST_CASES", 7)
    counts, bad = randomruns.tried("deadly_cases", 8, seed=1)
    assert counts == {"equal": 5, "crashed (9)": 1, "differs": 2} and bad == [2, 6, 7]


@pytest.mark.parametrize("looks, late", [([1000.0, 1.0, None], False), ([1.0] * 9, True), ([1000.0] * 9, True)])
def test_time_while_everything_is_stopped_does_not_count(monkeypatch, looks, late):
    """A look for an outcome that takes longer than it was to take is one during which nothing ran; None: the outcome is there."""
    clock, left = [0.0], iter(looks)

    class Results:
        def poll(self, seconds):
            spent = next(left)
            clock[0] += spent or 0
            return spent is None
    monkeypatch.setattr(randomruns, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    assert randomruns._answers(Results(), 5.0) is not late
