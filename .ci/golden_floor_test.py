"""No area may pass fewer recorded cases than ``tests/golden/floor.json`` says.

The checker and its data lie outside the repository; ``DL4PY_GOLDEN_CHECK`` names the script, else a
``tools/golden_check.py`` in a neighbouring folder is taken. Without one the test is skipped.
"""
from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FLOOR: dict[str, int] = json.loads((ROOT / "tests" / "golden" / "floor.json").read_text(encoding="utf-8"))
#: Areas that are run a second time by CUDA kernels, on the emulator.
ON_DEVICE = ("layers", "samediff", "training")
SECONDS = 2700
pytestmark = pytest.mark.timeout(len(FLOOR) * SECONDS)


def checker() -> Path | None:
    named = os.environ.get("DL4PY_GOLDEN_CHECK")
    found = [Path(named)] if named else sorted(ROOT.parent.glob("*/tools/golden_check.py"))
    return found[0] if found else None


def counts(areas: Iterable[str], device: str) -> dict[str, int]:
    """How many cases pass, by area."""
    script = checker()
    if script is None:
        pytest.skip("no golden_check.py beside the repository")

    def count(area: str) -> int:
        run = subprocess.run([sys.executable, str(script), "--area", area, "--max-seconds", str(SECONDS), "--json"],
                             cwd=ROOT, env={**os.environ, "DL4PY_DEVICE": device}, capture_output=True, text=True, check=False)
        assert run.stdout.strip(), run.stderr
        return int(json.loads(run.stdout)["areas"].get(area, {}).get("passed", 0))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(areas, pool.map(count, areas)))


@pytest.fixture(scope="module")
def passed() -> dict[str, int]:
    return counts(FLOOR, "cpu")


@pytest.mark.parametrize("area", FLOOR)
def test_no_fewer_cases_pass(passed, area):
    print(f"{area}: {passed[area]} cases pass, floor {FLOOR[area]}")
    assert passed[area] >= FLOOR[area]


@functools.cache
def on_device(device: str) -> dict[str, int]:
    return counts(ON_DEVICE, device)


@pytest.mark.parametrize("area", ON_DEVICE)
@pytest.mark.parametrize("device", ["emulated", "cuda:0"])
def test_no_fewer_cases_pass_on_a_device(device, area):
    look = subprocess.run([sys.executable, "-c", f"from dl4py.samediff import set_device; set_device({device!r})"],
                          cwd=ROOT, capture_output=True, text=True, check=False)
    if look.returncode:
        pytest.skip(look.stderr.strip().splitlines()[-1])
    found = on_device(device)
    print(f"{area} on {device}: {found[area]} cases pass, floor {FLOOR[area]}")
    assert found[area] >= FLOOR[area]
