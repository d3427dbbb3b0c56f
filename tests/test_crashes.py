"""A run whose worker dies ends at once, and names the test."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DIES = "import os\ndef test_before(): pass\ndef test_dies(): os.abort()\n"
WORKS = "import pytest\n@pytest.mark.parametrize('k', range(20))\ndef test_works(k): pass\n"


@pytest.mark.slow
def test_a_worker_that_dies_ends_the_run(tmp_path):
    """Without a limit of restarts xdist waits for ever where tests go by files."""
    for name, text in (("test_a.py", DIES), ("test_b.py", WORKS), ("test_c.py", WORKS)):
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), "-n", "2",
               "--dist", "loadfile", "-p", "no:cacheprovider", "-q", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1 and "crashed while running 'test_a.py::test_dies'" in done.stdout, done.stdout + done.stderr
