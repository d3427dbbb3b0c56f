"""Tests that do not end are ended: by the processor time that they use, since others may use the machine as well."""
from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

BROKEN = 98     # status of an error in here
STILL = 60      # seconds after which tests that do nothing are stuck


def at_most(seconds: float) -> None:
    """From now on, this process may use so many seconds of a processor."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds) + 1, resource.RLIM_INFINITY))


def _used(group: int) -> int:
    """The processor time that the processes of a group and those that they waited for used, in ticks."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15])) * (int(fields[2]) == group)
    return ticks


def waited(process: int) -> int | None:
    """The status of a process that leads a group; None for one that used up its time, or waits for nothing."""
    looked, used = time.monotonic(), 0
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            break
        if time.monotonic() - looked > STILL:
            before, used, looked = used, _used(process), time.monotonic()
            if abs(used - before) < STILL / 3:         # a tick is a hundredth of a second
                os.killpg(process, signal.SIGKILL)
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(status)
    return None if code in (-signal.SIGKILL, -signal.SIGXCPU) else code


def in_a_copy(run: Callable[[], int]) -> int | None:
    """The status of a run in a copy of this process; None for one that does not end."""
    process = os.fork()
    if not process:
        status = BROKEN
        try:
            os.setsid()
            status = run()
        finally:
            sys.stdout.flush()
            os._exit(status)
    return waited(process)
