"""Which tests concern a file: those of its area that name it, or an op that is made with it."""
from __future__ import annotations

import ast
import functools
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


_OPS = "tests/samediff/ops"
AREAS = {
    "ops": Area("samediff/ops/*/*.py", (), (_OPS,)),
    "kernels": Area("samediff/cpu/kernels/*.py", (), ("tests/samediff/cpu/kernels", f"{_OPS}/test_every_op.py")),
    "files": Area("samediff/files/*.py", ("tests/samediff/files", "tests/test_savers.py")),
    "training": Area("samediff/training/**/*.py", ("tests/samediff/training", "tests/networks/test_training_listeners.py",
                                                "tests/networks/test_profiling.py")),
    "udf": Area("udf/*.py", ("tests/udf",)),
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
    """The ops that a file declares."""
    return {str(d.args[0].value) for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.ClassDef)
            for d in node.decorator_list if isinstance(d, ast.Call) and d.args and isinstance(d.args[0], ast.Constant)}


def names_with(file: Path, root: Path) -> list[str]:
    """What the names of tests that concern a file hold: its ops and the words of its own name."""
    return sorted({*ops_with(file, root), *(w.rstrip("s") for w in file.stem.split("_") if len(w) > 2)})


def ops_with(file: Path, root: Path) -> set[str]:
    """The ops of a file, else of the files nearest to it that import it."""
    seen, nearest = {file}, [file]
    while nearest:
        if ops := set().union(*map(_ops_in, nearest)):
            return ops
        nearest = [f for n in nearest for f in _importers(root).get(n.stem, ()) if f not in seen]
        seen.update(nearest)
    return set()
