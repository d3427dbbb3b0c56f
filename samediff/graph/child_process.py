"""Checks in a child process: code that ends the process is a finding, not the end of the caller."""
from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import functools
import os
import pickle
import re
import signal
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Callable, Collection, Sequence
from multiprocessing.connection import Connection, Pipe
from typing import IO, Any, TypeVar

from ..base.source_line import PACKAGES, SourceLine
from ..base.user_code import check_report
from ..base.user_code.check_report import Check, CheckReport
from ..device.devices import current_device
from ..errors import ConfigurationError

Checks = Sequence[tuple[str, Callable[[], str | None]]]

#: Seconds that one check may take, by the clock and of the processor's time.
LIMIT, WORK = 300, 120
_DEATH_OF_PARENT = 1            # PR_SET_PDEATHSIG of Linux
_STUCK = "did not come back within"
#: Folders of Python, libraries and dl4py, and how their code without files is called.
_LIBRARIES = (sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib"), *PACKAGES, "<frozen ", "<dl4py-")


def possible() -> bool:
    """Whether a child can do what this process does: other systems cannot copy a process, and a copy cannot use a GPU."""
    return sys.platform == "linux" and current_device().kind != "cuda"


def needed() -> bool:
    """Whether checks run in a child process: where one can be made and this process is not one itself."""
    return possible() and not check_report.watched


def run_apart(report: CheckReport, checks: Checks, decisive: Collection[str] = ()) -> None:
    """Add checks to a report, run one after the other in a child; where one ends the child, another child goes on with the next.

    The child is a copy of this process, so the checks need not be sent to it. What one check compiles, the next ones find.
    Where one of the ``decisive`` ones fails, no further ones are run.
    """
    left = list(checks)
    while left and not is_stuck(report) and not _is_decided(report, decisive):
        found: list[Check] = []
        end = _child(lambda send, left=left: run_here(CheckReport(""), left, decisive, send),  # type: ignore[misc]
                     lambda check, found=found: found.append(check))  # type: ignore[misc]
        report.checks += found
        left = left[len(found):]
        if left and not _is_decided(report, decisive):
            report.checks.append(Check(left.pop(0)[0], False, end))


def run_here(report: CheckReport, checks: Checks, decisive: Collection[str] = (),
             tell: Callable[[Check], object] = lambda check: None) -> None:
    """Add checks to a report, run in this process, up to a decisive one that fails, and ``tell`` what each found."""
    for name, check in checks:
        passed = report.run(name, check)
        tell(report.checks[-1])
        if not passed and name in decisive:
            return


def _is_decided(report: CheckReport, decisive: Collection[str]) -> bool:
    return any(c.name in decisive for c in report.failures)


def is_stuck(report: CheckReport) -> bool:
    """Whether a check did not return, so that no further ones are run."""
    return any(c.detail.startswith(_STUCK) for c in report.checks)


Whole = TypeVar("Whole", bound=Callable[..., CheckReport])


def in_child(check: Whole) -> Whole:
    """Run a check of other projects' code in a child process; if that ends, the report has the checks finished so far."""
    @functools.wraps(check)
    def run(*args: Any, **options: Any) -> CheckReport:
        subject = next(iter((*args, *options.values())), None)
        if type(subject).__module__.startswith(("dl4py.", "builtins")) or not needed():
            return check(*args, **options)
        said: list[Any] = []
        end = _child(lambda send: _watched(send, lambda: check(*args, **options)), said.append)
        if said and isinstance(said[-1], Exception):
            raise said[-1]
        if said and isinstance(said[-1], CheckReport):
            return said[-1]
        begun = [s for s in said if isinstance(s, tuple)]
        report = CheckReport(begun[-1][0] if begun else f"{type(subject).__name__}", [s for s in said if isinstance(s, Check)])
        report.checks.append(Check(begun[-1][1] if begun else "runs", False, end))
        return report
    return run  # type: ignore[return-value]  # the same signature


def _watched(send: Callable[[Any], None], work: Callable[[], CheckReport]) -> None:
    """Send the names of checks begun, their results and the report, or the error for invalid options."""
    check_report.watched.append(send)
    try:
        found: Any = work()
    except Exception as error:
        found = error
    try:
        send(found)
    except Exception:       # an error of the user's code that cannot be sent
        send(ConfigurationError(f"{type(found).__name__}: {found}"))


def _child(work: Callable[[Callable[[Any], None]], None], take: Callable[[Any], object]) -> str:
    """Run ``work(send)`` in a child process and ``take`` its messages; returns how the child ended, if before the end of the work."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()              # else both would write what is waiting
    results, own = Pipe(duplex=False)
    with results, tempfile.TemporaryFile("w+") as lines:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)       # Python warns of the threads; locks are held over the fork
            child = os.fork()
        if child == 0:
            _run(work, own, lines)
        own.close()
        end = f"{_STUCK} {LIMIT} seconds"
        try:
            while results.poll(LIMIT):
                take(results.recv())
        except EOFError:
            end = ""
        finally:
            if end:
                os.kill(child, signal.SIGKILL)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        lines.seek(0)
        return end or _ended(status) + _place(lines.read())


def _run(work: Callable[[Callable[[Any], None]], None], results: Connection, lines: IO[str]) -> None:
    """The work of the child, which never returns."""
    def send(what: Any) -> None:
        results.send(what)
        signal.setitimer(signal.ITIMER_PROF, WORK)          # the signal ends the process, whatever it does
    try:
        _end_with_parent()
        faulthandler.enable(lines, all_threads=False)
        with contextlib.suppress(ImportError, ValueError, OSError):
            import resource
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, WORK)
        work(send)
        sys.stdout.flush()
    finally:
        os._exit(0)


def _end_with_parent() -> None:
    """A child whose parent is killed has nobody who would end it."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DEATH_OF_PARENT, signal.SIGKILL)


def _ended(status: int) -> str:
    if status == -signal.SIGPROF:
        return f"{_STUCK} {WORK} seconds of processor time"
    how = f"exit status {status}"
    if status < 0:
        known = -status in {int(s) for s in signal.Signals}         # those of real time have no names
        how = f"{signal.Signals(-status).name if known else f'signal {-status}'}, {signal.strsignal(-status)}"
    return f"the process ended: {how}"


def _place(lines: str) -> str:
    """`` at file:line`` of the innermost line that ran and is neither a library's nor dl4py's; in a text only where none is in a file."""
    found: list[SourceLine] = []
    for file, line in re.findall(r'File "(.*)", line (\d+)', lines):
        if file == __file__:
            break
        if not file.startswith(_LIBRARIES) and "site-packages" not in file:
            found.append(SourceLine(file, int(line)))
    in_files = [place for place in found if not place.file.startswith("<")]
    return f" at {(in_files or found)[0]}" if found else ""


def in_copy(work: Callable[[], Any]) -> Any:
    """The result of a function in a copy of this process; None where it ends without one."""
    results, own = Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            _end_with_parent()
            own.send_bytes(pickle.dumps(work()))
        finally:
            os._exit(0)
    own.close()
    with results:
        try:
            found = pickle.loads(results.recv_bytes())
        except EOFError:
            found = None
    os.waitpid(child, 0)
    return found
