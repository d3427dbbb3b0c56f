"""Calls in new processes, which know of users' code what they find by importing it: no state of this process, other hashes."""
from __future__ import annotations

import contextlib
import inspect
import json
import os
import subprocess
import sys
import types
from collections.abc import Sequence
from typing import Any

from .check_report import CheckFailure

#: Seconds that a call may take.
LIMIT = 300
#: What follows from hashes by a small remainder is equal in one other process by chance.
PROCESSES = 2

ADVICE = "Values follow from inputs and attributes, not from hash(), ids, the order of a set, the environment or what ran before"

#: Set in the new process, which starts no other: the module that it imports may hold checks itself.
_INSIDE = "DL4PY_IN_NEW_PROCESS"
_CODE = """import importlib, json, sys
given = json.load(sys.stdin)
sys.path[:] = given["path"]
importlib.import_module(given["module"])
module, function = given["function"].split(":")
getattr(importlib.import_module(module), function)(*given["arguments"])
"""


def unreachable(owner: Any) -> str:
    """The reason why a new process would not find a class or function; empty where it does."""
    name = owner.__module__
    if os.environ.get(_INSIDE):
        return "this is a new process already"
    module = sys.modules.get(name)
    if name == "__main__" or getattr(module, "__spec__", None) is None:
        return f"no other process can import the module {name}, in which it is written"
    if "<locals>" in owner.__qualname__:
        return "it is made inside of a function"
    own = getattr(module, "__file__", None)
    elsewhere = [f for f in _files(owner) if own is None or os.path.realpath(f) != os.path.realpath(own)]
    return f"it is written in {elsewhere[0]}, which importing {name} does not run" if elsewhere else ""


def _files(owner: Any) -> list[str]:
    """Where the functions of a class, or a function, are written: not in the file of their module where ``exec`` and doctests make them."""
    found = vars(owner).values() if isinstance(owner, type) else [owner]
    functions = [inspect.unwrap(getattr(f, "__func__", f)) for f in found if callable(getattr(f, "__func__", f))]
    written = [f for f in functions if isinstance(f, types.FunctionType) and f.__module__ == owner.__module__]
    return [f.__code__.co_filename for f in written if f.__code__.co_filename != "<string>"]         # of dataclasses


def call(owner: Any, function: str, *arguments: str) -> None:
    """Import the module of ``owner`` in new processes, and call ``"module:function"`` there with a number of the process in front.

    There are :data:`PROCESSES` of them, which differ in the hashes of texts. CheckFailure where one of them fails.
    """
    with contextlib.ExitStack() as ends:
        started = [_start(owner.__module__, function, [str(i), *arguments]) for i in range(PROCESSES)]
        for process in started:
            ends.enter_context(process)
            ends.callback(process.kill)
        for process in started:
            try:
                _, errors = process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                raise CheckFailure(f"a new process, which imports {owner.__module__}, took more than {LIMIT} seconds") from None
            if process.returncode:
                why = _last(errors) or f"exit status {process.returncode}"
                raise CheckFailure(f"in a new process, which imports {owner.__module__}: {why}")


def _start(module: str, function: str, arguments: Sequence[str]) -> subprocess.Popen[str]:
    own, hashes = os.environ.get("PYTHONHASHSEED"), str(1 + int(arguments[0]))
    environment = os.environ | {_INSIDE: "1", "PYTHONHASHSEED": hashes if hashes != own else str(1 + PROCESSES)}
    process = subprocess.Popen([sys.executable, "-c", _CODE], env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):          # it says itself why it ended
        json.dump({"path": sys.path, "module": module, "function": function, "arguments": arguments}, process.stdin)
        process.stdin.close()
    process.stdin = None
    return process


def _last(text: str) -> str:
    """The last line, which names the error."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
