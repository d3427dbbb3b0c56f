"""Every recorded case that ships passes."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: How many cases there are to pass, by area, of one case of so many; of the others DL4J is wrong, or they have no check here.
CASES = {12: {"bad": 3, "evaluation": 1, "files": 1, "init": 1, "layers": 4, "samediff": 1, "training": 8},
         1: {"bad": 32, "evaluation": 12, "files": 7, "init": 2, "layers": 38, "samediff": 20, "training": 98}}
#: Of the ops fewer pass than were recorded: DL4J's random numbers, and results of its that are wrong without a better one on record.
OPS = 2612


def check(areas: Iterable[str], every: int = 1) -> tuple[dict[str, int], list[str]]:
    """How many cases pass, by area, and what is said of those that do not."""
    named = [word for area in areas for word in ("--area", area)]
    run = subprocess.run([sys.executable, "-m", "tests.recorded.check", *named, "--every", str(every), "--json"], cwd=ROOT, text=True,
                         capture_output=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert run.stdout.strip(), run.stderr
    found = json.loads(run.stdout)
    return ({area: counts["passed"] for area, counts in found["areas"].items()},
            [f"{c['key']}: {c['text']}" for c in found["cases"] if c["status"] in ("failed", "missing")])


@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_cases_pass(every):
    passed, wrong = check(CASES[every], every)
    assert not wrong, "\n".join(wrong)
    assert passed == CASES[every]


@pytest.mark.slow
def test_ops():
    passed, wrong = check(["ops"])
    assert passed["ops"] >= OPS, "\n".join(wrong)


def test_a_wrong_value_is_seen():
    import numpy as np

    from tests.recorded import core
    seen = core.Check()
    seen.close("a", np.ones(3, np.float32), np.array([1, 1, 1.001], np.float32))
    seen.close("b", np.ones(2, np.float32), np.ones(3, np.float32))
    seen.close("c", np.ones(3, np.float64), np.ones(3, np.float32))
    seen.close("d", np.ones(3, np.float32), np.ones(3, np.float32))
    assert [problem[0] for problem in seen.problems] == ["a", "b", "c"]
