"""Private names stay private: what one file calls ``_name`` no other file touches, and state is declared where it is made."""
from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("samediff", "layers", "networks", "udf")

#: Names with an underscore that are no secrets, with the reason.
KNOWN = {
    # As of named tuples: plain names belong to the fields that each class declares.
    "_fields", "_options", "_spellings", "_read", "_class_of", "_replace", "_asdict",
    # Of Python, which has no other way to ask.
    "_getframe", "_exit", "_is_owned", "_at_fork_reinit", "_group_actions", "_option_string_actions", "_subparsers",
    # Of Numba and llvmlite, which have no public way to compile with passes of one's own and to keep machine code.
    "_reduce", "_rebuild", "_cache", "_getvalue", "_tm", "_linking_libraries", "_numba_type_",
}


def own_names(tree: ast.Module) -> set[str]:
    """The private names that a file defines itself: methods, fields, attributes of ``self`` and ``cls``; not what protocols ask for."""
    found = set()
    asked = {inner for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
             and any(isinstance(b, ast.Name) and b.id == "Protocol" for b in node.bases) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if node in asked:
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {n.id for part in node.body if isinstance(part, ast.Assign | ast.AnnAssign) for n in ast.walk(part)
                      if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and of_itself(node.value):
            found.add(node.attr)
    return found


def of_itself(value: ast.expr) -> bool:
    """Whether an attribute is one of ``self``, ``cls`` or ``super()``."""
    inner = value.func if isinstance(value, ast.Call) else value
    return isinstance(inner, ast.Name) and inner.id in ("self", "cls", "super")


def touched(source: str) -> Iterator[str]:
    """What a file touches of the private names of others."""
    tree = ast.parse(source)
    own = own_names(tree) | KNOWN
    for node in ast.walk(tree):
        name = node.attr if isinstance(node, ast.Attribute) else ""
        if name.startswith("_") and not name.startswith("__") and name not in own and not of_itself(node.value):
            yield f"{node.lineno}: {ast.unparse(node)}"


def undeclared(source: str) -> Iterator[str]:
    """State that a file makes where it is first used, rather than where its class declares it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            text = ast.unparse(node)
            late = text.startswith(("getattr(self, '_", "hasattr(self, '_")) and "'__" not in text
            if late or "__dict__.setdefault(" in text.split("'")[0]:
                yield f"{node.lineno}: {text}"
        elif isinstance(node, ast.Compare) and ast.unparse(node.comparators[-1]) == "self.__dict__" and isinstance(node.left, ast.Constant):
            yield f"{node.lineno}: {ast.unparse(node)}"


def sources(package: str) -> Iterator[Path]:
    return iter(sorted((ROOT / package).rglob("*.py")))



#: Where state is kept in the dictionary of an instance on purpose: what declares state for all others.
DECLARES = ("samediff/base/lazy_property.py",)


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_no_file_touches_private_names_of_another(package):
    wrong = [f"{path.relative_to(ROOT)}:{found}" for path in sources(package) for found in touched(path.read_text(encoding="utf-8"))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_state_is_declared_where_it_is_made(package):
    wrong = [f"{path.relative_to(ROOT)}:{found}" for path in sources(package) if str(path.relative_to(ROOT)) not in DECLARES
             for found in undeclared(path.read_text(encoding="utf-8"))]
    assert not wrong, "\n".join(wrong)


def test_what_is_private_is_seen():
    source = "class A:\n    def _own(self, b):\n        return b._own, b._other, self._third, super()._fourth, b.sd._fifth"
    assert [found.partition(": ")[2] for found in touched(source)] == ["b._other", "b.sd._fifth"]
    protocol = "class B(Protocol):\n    _own: int\ndef f(b: B):\n    return b._own"
    assert list(touched(protocol)) == ["4: b._own"]
    assert list(undeclared("if '_x' not in self.__dict__: pass")) == ["1: '_x' not in self.__dict__"]
    assert list(undeclared("self.__dict__.setdefault('_x', 1)\ngetattr(self, '_x', None)\ngetattr(self, '__post_init__', None)")) == [
        "1: self.__dict__.setdefault('_x', 1)", "2: getattr(self, '_x', None)"]
