"""Which tests run which functions: all are run once, in a copy of the process in which the functions tell that they run."""
from __future__ import annotations

import ast
import builtins
import functools
import gc
import hashlib
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.mutation.limits import in_a_copy
from tests.mutation.swapping import pairs, swapped

_Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_TOLD = "_dl4py_reached"
_STARTS = frozenset(("subprocess.Popen", "os.posix_spawn"))
_PROGRAMS = ("py", "sh")        # in names of programs that may run what is recorded; compilers do not


class Row(NamedTuple):
    """What is known of a test: how long it takes, which functions it runs (None: it starts programs, who knows), whether it passes."""

    seconds: float
    reached: list[str] | None
    passed: bool


UNKNOWN = Row(20.0, None, True)


def recorded(session: pytest.Session, files: Sequence[str], target: Path) -> dict[str, Row]:
    """A row for each test: what an earlier run wrote, where the files are the same; tests that came since are unknown."""
    sources = hashlib.sha256(b"".join(Path(f).read_bytes() for f in files)).hexdigest()
    known = target.exists() and json.loads(target.read_text())["sources"] == sources
    if not known and in_a_copy(lambda: _record(session, files, target, sources)) != 0:
        raise SystemExit("the tests could not be recorded")
    rows = json.loads(target.read_text())["rows"]
    return {item.nodeid: Row(*rows.get(item.nodeid, UNKNOWN)) for item in session.items}


def starts_more(event: str, args: tuple[Any, ...]) -> bool:
    """Whether an event of the process is the start of a program that may run the functions: of Python, with this tree on its path."""
    if event not in _STARTS:
        return False
    program, env = os.path.basename(os.fsdecode(args[0])), args[3] if event == "subprocess.Popen" else None
    return any(p in program for p in _PROGRAMS) and (env is None or env.get("PYTHONPATH") == os.environ.get("PYTHONPATH"))


def _functions(tree: ast.AST) -> list[ast.AST]:
    """The functions in a text, each before those inside it."""
    return [node for node in ast.walk(tree) if isinstance(node, _Function)]


def function_at(source: bytes, start: int) -> int | None:
    """The number of the innermost function whose body holds a byte of a text; None where it runs with the module."""
    line = source.count(b"\n", 0, start) + 1
    at = (line, start - source.rfind(b"\n", 0, start) - 1)
    found = None
    for k, node in enumerate(_functions(ast.parse(source))):
        body = node.body if isinstance(node.body, list) else [node.body]          # type: ignore[attr-defined]
        if (body[0].lineno, body[0].col_offset) <= at < (body[-1].end_lineno, body[-1].end_col_offset):
            found = k
    return found


def telling(file: str, source: bytes) -> ast.Module:
    """The text, in which each function tells its number when it runs."""
    tree = ast.parse(source)
    for k, node in enumerate(_functions(tree)):
        told = ast.Call(ast.Name(_TOLD, ast.Load()), [ast.Constant(f"{file}:{k}")], [])
        if isinstance(node, ast.Lambda):
            node.body = ast.Subscript(ast.Tuple([told, node.body], ast.Load()), ast.Constant(1), ast.Load())
        else:
            node.body.insert(0, ast.Expr(told))
    ast.fix_missing_locations(tree)
    return tree


def _worked() -> float:
    """The processor time that this process and those that it waited for used."""
    return sum(os.times()[:4])


def _record(session: pytest.Session, files: Sequence[str], target: Path, sources: str) -> int:
    """Run all the tests and write a row for each."""
    told_by_children = tempfile.TemporaryFile("a+b", buffering=0)      # noqa: SIM115  # as long as this process
    reached: set[str] = set()
    processes: list[str] = []
    here = os.getpid()

    def tell(function: str) -> None:
        if function not in reached:
            reached.add(function)
            if os.getpid() != here:
                told_by_children.write(f"{function}\n".encode())

    setattr(builtins, _TOLD, tell)
    told = {}
    for file in files:
        importlib.import_module(".".join(("dl4py", *Path(file).with_suffix("").parts)).removesuffix(".__init__"))    # else it comes late
        source, path = Path(file).read_bytes(), Path(file).resolve()
        before, after = (compile(text, str(path), "exec", dont_inherit=True) for text in (source, telling(file, source)))
        told[path] = dict(pairs(before, after))
    swapped(told)
    remembered = [f for f in gc.get_objects() if type(f) is functools._lru_cache_wrapper and hasattr(f.__wrapped__, "__code__")
                  and Path(f.__wrapped__.__code__.co_filename).resolve() in told]
    sys.addaudithook(lambda event, args: processes.append(event) if starts_more(event, args) else None)
    rows: dict[str, Row] = {}
    for item, after_it in zip(session.items, [*session.items[1:], None]):
        reached.clear()
        processes.clear()
        told_by_children.truncate(0)
        for function in remembered:         # else only the first test runs them
            function.cache_clear()
        failed, begin = session.testsfailed, _worked()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after_it)
        told_by_children.seek(0)
        reached.update(told_by_children.read().decode().split())
        rows[item.nodeid] = Row(_worked() - begin, None if processes else sorted(reached), session.testsfailed == failed)
    target.write_text(json.dumps({"sources": sources, "rows": rows}))
    return 0
