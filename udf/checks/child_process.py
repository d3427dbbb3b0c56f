"""Checks in a child process: code that ends the process is a finding, not the end of the caller."""
from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, Pipe
from typing import IO

from ...samediff.base.source_line import PACKAGES, SourceLine
from ...samediff.base.user_code.check_report import Check, CheckReport
from ...samediff.device.devices import current_device

Checks = Sequence[tuple[str, Callable[[], str | None]]]

#: Seconds that one check may take.
LIMIT = 300


def possible() -> bool:
    """Whether a child can do what this process does: other systems cannot copy a process, and a copy cannot use a GPU."""
    return sys.platform == "linux" and current_device().kind != "cuda"


def run_apart(report: CheckReport, checks: Checks) -> None:
    """Add checks to a report, run one after the other in a child; where one ends the child, another child goes on with the next.

    The child is a copy of this process, so the checks need not be sent to it.
    """
    left = list(checks)
    while left:
        found, end = _child(left)
        report.checks += found
        left = left[len(found):]
        if left:
            report.checks.append(Check(left.pop(0)[0], False, end))


def _child(checks: Checks) -> tuple[list[Check], str]:
    """The checks that a child finished, and how it ended."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()              # else both would write what is waiting
    results, own = Pipe(duplex=False)
    with results, tempfile.TemporaryFile("w+") as lines:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)       # Python warns of the threads; locks are held over the fork
            child = os.fork()
        if child == 0:
            _run(checks, own, lines)
        own.close()
        found: list[Check] = []
        end = f"took more than {LIMIT} seconds"
        try:
            while len(found) < len(checks) and results.poll(LIMIT):
                found.append(results.recv())
        except EOFError:
            end = ""
        finally:
            if len(found) < len(checks) and end:
                os.kill(child, signal.SIGKILL)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        lines.seek(0)
        return found, end or _ended(status) + _place(lines.read())


def _run(checks: Checks, results: Connection, lines: IO[str]) -> None:
    """The work of the child, which never returns."""
    try:
        faulthandler.enable(lines, all_threads=False)
        with contextlib.suppress(ImportError, ValueError, OSError):
            import resource
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for name, check in checks:
            report = CheckReport("")
            report.run(name, check)
            results.send(report.checks[0])
        sys.stdout.flush()
    finally:
        os._exit(0)


def _ended(status: int) -> str:
    how = f"exit status {status}"
    if status < 0:
        known = -status in {int(s) for s in signal.Signals}         # those of real time have no names
        how = f"{signal.Signals(-status).name if known else f'signal {-status}'}, {signal.strsignal(-status)}"
    return f"the process ended: {how}"


def _place(lines: str) -> str:
    """`` at file:line`` of the innermost line that ran and is neither a library's nor dl4py's."""
    for file, line in re.findall(r'File "(.*)", line (\d+)', lines):
        if file == __file__:
            break
        if not file.startswith((sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib"), "<", *PACKAGES)) and "site-packages" not in file:
            return f" at {SourceLine(file, int(line))}"
    return ""
