"""No public function takes a parameter that it never looks at, unless its text says so."""
from __future__ import annotations

import ast
import inspect
import re
import textwrap

import pytest

from dl4py.samediff.base.javanames import JavaSpelling
from dl4py.samediff.configuration.configuration import Configuration
from tests.helpers.public_api import public

SHARED = JavaSpelling, Configuration        # bases that have nothing to do with what a class does
#: What PySpark's ``keyword_only`` puts where the body of a function reads it.
ELSEWHERE = "_input_kwargs"


def unused(function):
    """Parameters that the body of a function never reads; none for a body that only refuses."""
    if function.__name__ == "<lambda>":         # of a table
        return []
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if all(isinstance(s, (ast.Raise, ast.Pass)) for s in body):
        return []
    if any(isinstance(n, ast.Attribute) and n.attr == ELSEWHERE for s in body for n in ast.walk(s)):
        return []
    read = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    names = [p for p in inspect.signature(function).parameters if p not in ("self", "cls") and not p.startswith("_")]
    return [name for name in names if name not in read]


def family(cls):
    """The classes that a method of ``cls`` shares its signature with: bases, derived ones, and those of the same base."""
    bases = [b for b in cls.__mro__[1:-1] if b not in SHARED]
    related = [*bases, *cls.__subclasses__(), *(s for b in bases for s in b.__subclasses__())]
    for one in related:
        related += [d for d in one.__subclasses__() if d not in related]
    return {*related} - {cls}


def functions():
    """Public functions, and methods whose signature is their own choice, with their text."""
    for name, member in public():
        if inspect.isfunction(member):
            yield name, member, member.__doc__
        for method, value in vars(member).items() if inspect.isclass(member) else ():
            plain = inspect.unwrap(getattr(value, "__func__", value)) if callable(getattr(value, "__func__", value)) else None
            if not inspect.isfunction(plain) or plain.__code__.co_filename.startswith("<"):
                continue
            if method == "__init__":
                yield f"{name}.{method}", plain, member.__doc__
            elif not method.startswith("_") and not any(method in vars(other) for other in family(member)):
                yield f"{name}.{method}", plain, plain.__doc__


@pytest.mark.slow
def test_what_is_never_read_is_said_to_have_no_effect():
    silent = [f"{name}({parameter})" for name, function, doc in functions() for parameter in unused(function)
              if parameter not in (doc or "") or not re.search("(no|without) effect", doc, re.IGNORECASE)]
    assert not silent, "\n".join(silent)


@pytest.mark.parametrize("source, found", [
    ("def f(a, b): return a", ["b"]),
    ("def f(a, b): return [b for a in range(3)]", ["a"]),
    ("def f(a):\n    a = 3", ["a"]),
    ("def f(a): raise ValueError", []),
    ("class A:\n    def f(self, a):\n        'text'\n        return lambda: a", []),
])
def test_parameters_that_are_not_read_are_found(source, found, monkeypatch):
    space = {}
    exec(source, space)
    function = space["f"] if "f" in space else space["A"].f
    text = source if "f" in space else textwrap.dedent(source.partition("\n")[2])
    monkeypatch.setattr(inspect, "getsource", lambda _: text)
    assert unused(function) == found
