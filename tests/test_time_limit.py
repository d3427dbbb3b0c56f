"""A test that hangs ends, with the stacks of all threads, and so does the run."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"

HANGING = "import threading\n\ndef test_that_hangs():\n    threading.Event().wait()\n"


def test_every_test_has_a_time_limit(pytestconfig):
    assert float(pytestconfig.getini("faulthandler_timeout")) > 0 and pytestconfig.getini("faulthandler_exit_on_timeout")


def test_a_test_that_hangs_ends_the_run(tmp_path):
    path = tmp_path / "test_hanging.py"
    path.write_text(HANGING, encoding="utf-8")
    run = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", str(PYPROJECT), "-o", "faulthandler_timeout=1",
                          str(path)], capture_output=True, text=True, timeout=100, check=False)
    assert run.returncode and "in test_that_hangs" in run.stdout + run.stderr
