"""Where the cases are found, and the summary of what was exchanged."""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))      # the tables of cases


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print how many files each side opened and the largest differences."""
    report = getattr(terminalreporter.config, "_interop_report", None)
    if report:
        terminalreporter.section("files exchanged with Java")
        terminalreporter.write_line(report)
