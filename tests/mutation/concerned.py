"""Which tests concern a file: those of its area that name it, or an op that is made with it."""
from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Area:
    """A part of the sources and the tests that would notice a mistake there.

    ``by_op``: of these only those that have, in their names, an op that uses the file or a word of the file's name.
    """

    sources: str
    tests: tuple[str, ...]
    by_op: tuple[str, ...] = ()


_OPS, _NETWORKS = "tests/samediff/ops", "tests/networks"
AREAS = {
    "ops": Area("samediff/ops/*/*.py", (), (_OPS, "tests/samediff/graph", "tests/samediff/tools")),
    "kernels": Area("samediff/cpu/kernels/*.py", (), ("tests/samediff/cpu/kernels", f"{_OPS}/every/test_every_op.py")),
    "files": Area("samediff/files/*.py", ("tests/samediff/files", "tests/samediff/codecs", "tests/test_savers.py")),
    "training": Area("samediff/training/**/*.py", ("tests/samediff/training", "tests/layers/custom/test_authored.py", *(
        f"{_NETWORKS}/{part}.py" for part in (
            "models/test_training_listeners", "models/test_listeners_of_networks", "reports/test_profiling", "files/test_resuming",
            "files/test_checkpoints", "engine/test_on_device", "engine/test_half", "engine/test_state_layout", "reports/test_asked_answers",
            "reports/test_layer_view")))),
    "udf": Area("udf/**/*.py", ("tests/udf",)),
    "checks": Area("layers/checks/*.py", ("tests/layers/checks", "tests/layers/custom/test_contract_plugins.py")),
}


def _names(file: Path) -> set[str]:
    """The modules that a file imports, by their last name."""
    found = {a.name for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.ImportFrom) for a in node.names}
    modules = {node.module.rpartition(".")[2] for node in ast.walk(ast.parse(file.read_bytes()))
               if isinstance(node, ast.ImportFrom) and node.module}
    return found | modules


@functools.cache
def _importers(root: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for file in sorted((root / "samediff").rglob("*.py")):
        for name in _names(file):
            found.setdefault(name, []).append(file)
    return found


def _ops_in(file: Path) -> set[str]:
    """The ops that a file declares: by decorators, by calls that make a class, in tables of those."""
    statements = ast.parse(file.read_bytes()).body
    made = [d for s in statements if isinstance(s, ast.ClassDef) for d in s.decorator_list] + [
        node for s in statements if isinstance(s, (ast.Expr, ast.Assign, ast.AnnAssign)) for node in ast.walk(s)]
    names = [node.args[0] for node in made if isinstance(node, ast.Call) and node.args] + [
        k for node in made if isinstance(node, ast.Dict) for k, v in zip(node.keys, node.values) if isinstance(v, (ast.Tuple, ast.Lambda))]
    return {c.value for c in names if isinstance(c, ast.Constant) and isinstance(c.value, str) and len(c.value) > 1}


def names_with(file: Path, root: Path) -> list[str]:
    """What the names of tests that concern a file hold: its ops and the words of its own name."""
    return sorted({*ops_with(file, root), *(w.rstrip("s") for w in file.stem.split("_") if len(w) > 2)})


def defined_in(file: Path, root: Path) -> list[str]:
    """What the text of tests that concern a file names: the file, what it defines, and the classes of ops whose kernels it is part of."""
    defined = (s.name for s in ast.parse(file.read_bytes()).body if isinstance(s, (ast.FunctionDef, ast.ClassDef)))
    return [file.stem, *(name for name in defined if not name.startswith("_") and len(name) > 3), *sorted(_nearest(file, root, _served_by))]


def ops_with(file: Path, root: Path) -> set[str]:
    """The ops of a file, else of the files nearest to it that import it."""
    return _nearest(file, root, _ops_in)


def _served_by(file: Path) -> set[str]:
    """The classes of ops for which a file chooses kernels."""
    made = [d for s in ast.parse(file.read_bytes()).body if isinstance(s, ast.FunctionDef) for d in s.decorator_list]
    return {d.args[0].id for d in made if isinstance(d, ast.Call) and isinstance(d.func, ast.Name) and d.func.id == "kernel_for"
            and isinstance(d.args[0], ast.Name)}


def _nearest(file: Path, root: Path, found_in: Callable[[Path], set[str]]) -> set[str]:
    """What is found in a file, else in those that import it, else in those that import these."""
    seen, nearest = {file}, [file]
    while nearest:
        if found := set().union(*map(found_in, nearest)):
            return found
        nearest = [f for n in nearest for f in _importers(root).get(n.stem, ()) if f not in seen]
        seen.update(nearest)
    return set()
