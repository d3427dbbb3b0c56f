"""Plug-in of pytest that makes mistakes in functions of a running process: the tests are collected once, and run in a copy of the process
for each mistake.

It reads one order per line from the file descriptor ``DL4PY_ORDERS`` and answers on ``DL4PY_ANSWERS``, both in JSON.
"""
from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
import signal
import sys
import time
import types
from pathlib import Path
from typing import Any

import pytest
from reach import recompile

ELSEWHERE, BROKEN = 99, 98      # statuses of a mistake that is not in a function, and of an error in here


def _codes(code: types.CodeType) -> list[types.CodeType]:
    return [code, *(inner for c in code.co_consts if isinstance(c, types.CodeType) for inner in _codes(c))]


def changed_functions(file: Path, old: bytes, new: bytes) -> int:
    """Give the functions of a file their new code; how many there are of them."""
    before, after = (_codes(compile(text, str(file), "exec", dont_inherit=True)) for text in (old, new))
    codes = {a: b for a, b in zip(before, after) if a != b and a.co_freevars == b.co_freevars} if len(before) == len(after) else {}
    found = [f for f in gc.get_objects() if type(f) is types.FunctionType and f.__code__ in codes      # no isinstance: it asks proxies
             and Path(f.__code__.co_filename).resolve() == file.resolve()]
    for f in found:
        f.__code__ = codes[f.__code__]
    return len(found)


def chosen(items: list[pytest.Item], order: dict[str, Any]) -> list[pytest.Item]:
    """The tests that concern a file; those named like it come first."""
    found = [i for i in items if not i.nodeid.startswith(tuple(order["by_op"])) or any(n in i.nodeid for n in order["names"])]
    return sorted(found, key=lambda i: order["stem"] not in i.nodeid)


def _run(session: pytest.Session, order: dict[str, Any]) -> int:
    os.setsid()
    file = Path(order["file"])
    old, new = Path(order["old"]).read_bytes(), file.read_bytes()
    if order["module"] in sys.modules and not changed_functions(file, old, new):      # else it comes from the file
        return ELSEWHERE
    if "samediff/cpu" in order["file"]:
        recompile(order["module"], hashlib.sha256(new).hexdigest())
    items = chosen(session.items, order)
    for item, after in zip(items, [*items[1:], None]):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        if session.testsfailed:
            Path(order["told"]).write_text(item.nodeid)
            return 1
    Path(order["told"]).write_text(f"{len(items)} tests")
    return 0


def _waited(process: int, seconds: float) -> int | None:
    """The status of a process; None for one that took too long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Serve until there are no more orders."""
    from dl4py.samediff.cpu.cache import sources as cache
    cache.toolchain()               # of the text without a mistake
    with open(int(os.environ["DL4PY_ORDERS"])) as orders, open(int(os.environ["DL4PY_ANSWERS"]), "w") as answers:
        print("null", file=answers, flush=True)
        for line in orders:
            order = json.loads(line)
            process = os.fork()
            if not process:
                status = BROKEN
                try:
                    status = _run(session, order)
                finally:
                    sys.stdout.flush()
                    os._exit(status)
            print(json.dumps(_waited(process, order["seconds"])), file=answers, flush=True)
    return True
