"""No step is called from Python in training and inference of the catalogue's networks, but for those that are listed with their reasons."""
from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.networks.engine.planned_networks import PARTS

#: Ops whose steps run in Python, and why.
CALLED = {
    "yolo_loss": "one op of NumPy's array code",
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("part", PARTS)
def test_steps(part):
    command = [sys.executable, "-m", "tests.networks.engine.planned_networks", part]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    wrong = {f"{name} {what}: {label}: {reason}" for name, runs in found.items() for what, steps in runs.items() for label, reason in steps
             if label not in CALLED}
    assert found and not wrong, "\n".join(sorted(wrong))
