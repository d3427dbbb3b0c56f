"""No area may pass fewer recorded cases than ``tests/golden/floor.json`` says, of a larger collection than the one in ``tests/golden``:
of all cases, and, which is quicker, of one case of three.

``DL4PY_GOLDEN`` names its folder, else a neighbouring folder called ``golden`` is taken. Without one the test is skipped: what ships is
checked by ``tests/recorded``.
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

from tests.helpers.required import missing

ROOT = Path(__file__).resolve().parent.parent
FLOOR: dict[str, dict[str, int]] = json.loads((ROOT / "tests" / "golden" / "floor.json").read_text(encoding="utf-8"))
#: One case of so many.
EVERY = {"all": 1, "third": 3}
#: Areas that are run a second time by CUDA kernels, on the emulator.
ON_DEVICE = ("layers", "samediff", "training")
#: Cases that ask for an error about the values of indices or masks: a device, where nothing can be raised, answers with NaN.
ANSWERED_BY_NAN = {"layers": 2}
SECONDS = 2700


def collection() -> Path | None:
    """The folder of a larger collection of cases."""
    named = os.environ.get("DL4PY_GOLDEN")
    found = [Path(named)] if named else [p for p in sorted(ROOT.parent.glob("*/golden")) if (p / "layers").is_dir()]
    return found[0] if found else None


def counts(areas: Iterable[str], device: str, every: int = 1) -> dict[str, int]:
    """How many cases pass, by area."""
    folder = collection()
    if folder is None:
        missing("golden", "no larger collection of recorded cases beside the repository")

    def count(area: str) -> int:
        run = subprocess.run([sys.executable, "-m", "tests.recorded.check", "--golden", str(folder), "--area", area,
                              "--every", str(every), "--max-seconds", str(SECONDS), "--json"],
                             cwd=ROOT, env={**os.environ, "DL4PY_DEVICE": device}, capture_output=True, text=True, check=False)
        assert run.stdout.strip(), run.stderr
        return int(json.loads(run.stdout)["areas"].get(area, {}).get("passed", 0))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(areas, pool.map(count, areas)))


@functools.cache
def on_cpu(share: str) -> dict[str, int]:
    return counts(FLOOR[share], "cpu", EVERY[share])


@pytest.mark.parametrize("share, area", [(share, area) for share in FLOOR for area in FLOOR[share]])
def test_no_fewer_cases_pass(share, area):
    found, floor = on_cpu(share)[area], FLOOR[share][area]
    print(f"{area}, {share}: {found} cases pass, floor {floor}")
    assert found >= floor


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
    floor = FLOOR["all"][area] - ANSWERED_BY_NAN.get(area, 0)
    print(f"{area} on {device}: {found[area]} cases pass, floor {floor}")
    assert found[area] >= floor
