"""References in docstrings: the classes, members and modules that they name exist."""
from __future__ import annotations

import ast
import builtins
import importlib.util
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = "samediff", "layers", "networks", "udf"
ROLE = re.compile(r":(?:class|meth|func|attr|data|mod|exc):`~?([\w./]+)`")
MEMBER = re.compile(r"(?<!`)``([A-Z]\w+\.[a-z_0-9]+)(?:\(\))?``(?!`)")         # names in Java's spelling are DL4J's


def bound(target: ast.AST) -> list[str]:
    """The names that the target of an assignment binds."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for part in target.elts for name in bound(part)]
    return []


def names_of(body: list[ast.stmt]) -> set[str]:
    """The names that statements define or import, in branches too."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).split(".")[0] for a in node.names)
        elif isinstance(node, ast.Assign):
            found.update(name for target in node.targets for name in bound(target))
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
            found.update(bound(node.target))
        elif isinstance(node, (ast.If, ast.Try, ast.With, ast.For)):
            found |= names_of([n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt)])
    return found


def members_of(cls: ast.ClassDef) -> set[str]:
    """The names in the body of a class, and those that its methods give to ``self``."""
    own = {n.attr for n in ast.walk(cls) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    return names_of(cls.body) | own | {n.name for n in cls.body if isinstance(n, ast.ClassDef)}


class Tree:
    """All modules of the packages, and the names in them."""

    def __init__(self) -> None:
        self.texts = {p.relative_to(ROOT): p.read_text(encoding="utf-8") for f in FOLDERS for p in sorted((ROOT / f).rglob("*.py"))}
        self.names: dict[Path, set[str]] = {}
        self.classes: dict[Path, list[str]] = defaultdict(list)
        self.members: dict[str, set[str]] = defaultdict(set)            # of classes of a name, wherever they stand
        self.bases: dict[str, set[str]] = defaultdict(set)
        self.paths: set[str] = set()                                    # with dots, of modules and what they hold
        for path, text in self.texts.items():
            module = ".".join(["dl4py", *path.with_suffix("").parts]).removesuffix(".__init__")
            tree = ast.parse(text)
            self.names[path] = names_of(tree.body)
            self.paths |= {module, *(f"{module}.{name}" for name in self.names[path])}
            for cls in ast.walk(tree):
                if isinstance(cls, ast.ClassDef):
                    self.classes[path].append(cls.name)
                    self.members[cls.name] |= members_of(cls)
                    self.bases[cls.name] |= {ast.unparse(b).split("[")[0].split(".")[-1] for b in cls.bases}
                    self.paths |= {f"{module}.{cls.name}.{name}" for name in self.members[cls.name]}
        self.ends = {".".join(parts[i:]) for path in self.paths for parts in [path.split(".")] for i in range(len(parts))}

    def has(self, cls: str, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a class has a member, by itself or by a base."""
        if cls not in self.members:
            return False
        return name in self.members[cls] or any(self.has(b, name, seen | {cls}) for b in self.bases[cls] - {*seen, cls})

    def knows(self, reference: str, path: Path, classes: list[str]) -> bool:
        """Whether a reference in a file, inside these classes, names something."""
        plain = reference.lstrip(".")
        first, *rest = plain.split(".")
        if rest:
            owner, last = plain.split(".")[-2:]
            if plain in self.ends or self.has(owner, last):
                return True
            return last in self.members if first == "dl4py" else reference == plain and _is_installed(first)
        if reference != plain:
            return plain in self.ends
        return first in self.names[path] or first in self.members or any(self.has(c, first) for c in classes or self.classes[path]) or \
            hasattr(builtins, first) or (path.parent / f"{first}.py").exists() or (path.parent / first).is_dir() or _is_installed(first)


def _is_installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree()


def docstrings(text: str) -> list[tuple[str, list[str]]]:
    """Each docstring with the classes around it."""
    found: list[tuple[str, list[str]]] = []

    def walk(node: ast.AST, classes: list[str]) -> None:
        if isinstance(node, ast.ClassDef):
            classes = [*classes, node.name]
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            found.append((ast.get_docstring(node) or "", classes))
        for child in ast.iter_child_nodes(node):
            walk(child, classes)

    walk(ast.parse(text), [])
    return found


@pytest.mark.slow
def test_roles_name_what_exists(tree):
    dead = [f"{path}: {name}" for path, text in tree.texts.items() for doc, classes in docstrings(text)
            for name in ROLE.findall(doc) if "/" not in name and not tree.knows(name, path, classes)]
    assert dead == []


@pytest.mark.slow
def test_members_named_in_docstrings_exist(tree):
    dead = [f"{path}: {name}" for path, text in tree.texts.items() for doc, _ in docstrings(text) for name in MEMBER.findall(doc)
            if name.split(".")[0] in tree.members and not tree.has(*name.split(".")) and name not in tree.ends]
    assert dead == []
