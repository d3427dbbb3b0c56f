"""Plug-in of pytest that makes mistakes in functions of a running process: the tests are collected once, and run in a copy of the process
for each mistake.

It reads one order per line from the file descriptor ``DL4PY_ORDERS`` and answers on ``DL4PY_ANSWERS``, both in JSON.
"""
from __future__ import annotations

import functools
import hashlib
import inspect
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.limits import at_most, in_a_copy
from tests.mutation.reach import recompile
from tests.mutation.record import Row, recorded
from tests.mutation.swapping import changed_functions

ELSEWHERE, UNREACHED = 99, 97   # statuses of a mistake that is not in a function, and of one in a function that no test runs
MOST_SECONDS = 100      # for a test that was not recorded; a mistake may well be a loop without end


@functools.cache
def words(test: Any) -> frozenset[str]:
    """What the text of a test names, with that of the functions of its file that it calls."""
    found, waiting = set[str](), [test]
    seen = {test}
    while waiting:
        if not inspect.isfunction(one := waiting.pop()):
            continue
        found.update(re.findall(r"\w+", inspect.getsource(one)))
        near = {f for n in one.__code__.co_names if inspect.isfunction(f := one.__globals__.get(n)) and f.__module__ == test.__module__}
        waiting += near - seen
        seen |= near
    return frozenset(found)


def chosen(items: list[pytest.Item], order: dict[str, Any], rows: dict[str, Row]) -> list[pytest.Item]:
    """The tests that concern a mistake.

    Of those that were recorded, the ones that reach its function, the fast ones first, and the ones of which nobody knows last. Of others,
    those named like its file come first, then those with its ops, then those that use what it defines.
    """
    if rows:
        reaching = {i: r for i in items if (r := rows[i.nodeid]).passed and (r.reached is None or order["function"] in r.reached)}
        return sorted(reaching, key=lambda i: (reaching[i].reached is None, order["stem"] not in i.nodeid, reaching[i].seconds))
    defined = {*order["defined"]}
    found = [i for i in items if not i.nodeid.startswith(tuple(order["by_op"])) or any(n in i.nodeid for n in order["names"])
             or not defined.isdisjoint(words(getattr(i, "function", i)))]
    return sorted(found, key=lambda i: (order["stem"] not in i.nodeid, not any(n in i.nodeid for n in order["names"])))


def _run(session: pytest.Session, order: dict[str, Any], rows: dict[str, Row]) -> int:
    file = Path(order["file"])
    old, new = Path(order["old"]).read_bytes(), file.read_bytes()
    if order["module"] in sys.modules and not changed_functions(file, old, new):      # else it comes from the file
        return ELSEWHERE
    if "samediff/cpu" in order["file"]:
        recompile(order["module"], hashlib.sha256(new).hexdigest())
    items = chosen(session.items, order, rows)
    for item, after in zip(items, [*items[1:], None]):
        Path(order["told"]).write_text(item.nodeid)
        at_most(20 + 5 * rows[item.nodeid].seconds if rows else MOST_SECONDS)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        if session.testsfailed:
            return 1
    Path(order["told"]).write_text(f"{len(items)} tests")
    return UNREACHED if rows and all(rows[i.nodeid].reached is None for i in items) else 0


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Serve until there are no more orders."""
    from dl4py.samediff.cpu.compiler import sources as cache
    cache.toolchain()               # of the text without a mistake
    files = os.environ["DL4PY_RECORDED"].split()
    rows = recorded(session, files, Path(os.environ["DL4PY_RECORD"])) if files else {}
    with open(int(os.environ["DL4PY_ORDERS"])) as orders, open(int(os.environ["DL4PY_ANSWERS"]), "w") as answers:
        print("null", file=answers, flush=True)
        for line in orders:
            order = json.loads(line)
            print(json.dumps(in_a_copy(functools.partial(_run, session, order, rows))), file=answers, flush=True)
    return True
