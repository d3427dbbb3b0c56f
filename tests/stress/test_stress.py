"""Some seconds of what ``stressing.py`` does for minutes."""
from __future__ import annotations

import os
import threading

import pytest

from tests.stress import stressing

pytestmark = [pytest.mark.slow,
              # An interrupt between the opening of a file and its name, or in a destructor, is Python's to report.
              pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
               pytest.mark.skipif(not hasattr(os, "fork") or threading.current_thread() is not threading.main_thread(),
                                                   reason="forks and signals")]


def test_many_threads_on_one_network(tmp_path):
    stress = stressing.Stress(32, 1, tmp_path)
    stress.run(6)
    assert not stress.wrong, "\n".join(stress.wrong)
    assert all(stress.calls[kind] for kind in ("ask", "fit", "save_and_load", "clone", "evaluate", "fork", "replace", "interrupts"))
