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
    # Of PySpark, whose own libraries are built on them.
    "_jvm", "_jsc", "_jrdd", "_jrdd_deserializer", "_dummy", "_resetUid",
    # Of what places ops, which namespaces of ops ask.
    "_op_method",
    # Of PyTorch, which has no public way to ask what an op changes, nor (in all versions) to take structures apart.
    "_schema", "_pytree",
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


def imported_privately(source: str) -> Iterator[str]:
    """Private names that a file takes from another one of the project."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("dl4py")):
            yield from (f"{node.lineno}: {a.name}" for a in node.names if a.name.startswith("_") and not a.name.startswith("__"))


Function = ast.FunctionDef | ast.AsyncFunctionDef
MAKES = ("__init__", "__post_init__", "__new__", "__setstate__", "__init_subclass__", "__set_name__")


class Class:
    """A class: what it declares, and what its methods set on ``self``."""

    def __init__(self, node: ast.ClassDef) -> None:
        self.bases = [ast.unparse(b).partition("[")[0].rpartition(".")[2] for b in node.bases]
        self.methods = {m.name: m for m in node.body if isinstance(m, Function)}
        self.declared = {n.value if isinstance(n, ast.Constant) else n.id for part in node.body if not isinstance(part, Function)
                         for n in ast.walk(part) if isinstance(n, ast.Name) or (isinstance(n, ast.Constant) and isinstance(n.value, str))}
        self.there = self.declared.union(self.methods, *(self.made(m) for m in MAKES if m in self.methods))

    def sets(self, method: str) -> Iterator[tuple[str, int]]:
        """The attributes of ``self`` that a method sets, with their lines."""
        for node in ast.walk(self.methods[method]):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and of_itself(node.value):
                yield node.attr, node.lineno

    def made(self, method: str) -> set[str]:
        """Those that are set by the time that a method which makes the object is done: those of methods that it calls too."""
        found, waiting = set(), {method}
        while (name := next(iter(waiting - found), None)) is not None:
            found.add(name)
            waiting |= {n.func.attr for n in ast.walk(self.methods[name]) if isinstance(n, ast.Call)
                        and isinstance(n.func, ast.Attribute) and n.func.attr in self.methods}
        return {a for name in found for a, _ in self.sets(name)}


def late(classes: dict[str, list[Class]]) -> Iterator[str]:
    """Attributes that are set by other methods than those that make an object, and that no class of the name declares."""
    def known(name: str, below: tuple[str, ...] = ()) -> set[str]:
        found: set[str] = set()
        for one in classes.get(name, ()) if name not in below else ():
            found = found.union(one.there, *(known(b, (*below, name)) for b in one.bases))
        return found
    for name, group in classes.items():
        names = known(name)
        for one in group:
            setters = {m for m, node in one.methods.items() if any(ast.unparse(d).endswith(".setter") for d in node.decorator_list)}
            for method in one.methods.keys() - set(MAKES) - setters:
                # those that end with an underscore are scikit-learn's way to say what fit has found
                yield from (f"{name}.{method}, line {line}: {a}" for a, line in one.sets(method) if a not in names and not a.endswith("_"))


def classes_in(*texts: str) -> dict[str, list[Class]]:
    """All classes of some files, by name."""
    found: dict[str, list[Class]] = {}
    for text in texts:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(Class(node))
    return found


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


@pytest.mark.slow
def test_private_names_are_not_imported():
    wrong = [f"{path.relative_to(ROOT)}:{found}" for package in PACKAGES for path in sources(package)
             for found in imported_privately(path.read_text(encoding="utf-8"))]
    assert not wrong, "\n".join(wrong)


#: Fields of classes that others wrote: of the standard library, of Numba, of users; and what ``vars(self).update`` has declared.
LATE = {"ZipWriter.__exit__", "CodeLibrary.finalize", "CodeLibrary.join", "_Decorator._register", "UserDefinedCustomOp.add_to"}


@pytest.mark.slow
def test_attributes_are_there_from_the_beginning():
    classes = classes_in(*(path.read_text(encoding="utf-8") for package in PACKAGES for path in sources(package)))
    wrong = [found for found in late(classes) if found.partition(",")[0] not in LATE]
    assert not wrong, "\n".join(sorted(wrong))


def test_late_attributes_are_seen():
    source = "class A:\n    b: int\n    def __init__(self): self.c = 1; self.start()\n    def start(self): self.d = 1\n"
    source += "    def later(self): self.b = self.c = self.d = self.e = 1\nclass F(A):\n    def go(self): self.c = self.g = 1"
    assert [found.rpartition(": ")[2] for found in late(classes_in(source))] == ["e", "g"]
    assert list(imported_privately("from .a import _b, c\nfrom os import _exit\nfrom dl4py.d import _e")) == ["1: _b", "3: _e"]


def test_what_is_private_is_seen():
    source = "class A:\n    def _own(self, b):\n        return b._own, b._other, self._third, super()._fourth, b.sd._fifth"
    assert [found.partition(": ")[2] for found in touched(source)] == ["b._other", "b.sd._fifth"]
    protocol = "class B(Protocol):\n    _own: int\ndef f(b: B):\n    return b._own"
    assert list(touched(protocol)) == ["4: b._own"]
    assert list(undeclared("if '_x' not in self.__dict__: pass")) == ["1: '_x' not in self.__dict__"]
    assert list(undeclared("self.__dict__.setdefault('_x', 1)\ngetattr(self, '_x', None)\ngetattr(self, '__post_init__', None)")) == [
        "1: self.__dict__.setdefault('_x', 1)", "2: getattr(self, '_x', None)"]
