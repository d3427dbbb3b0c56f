"""Private parts of Python and other packages are used in few files, each of which checks that they are there and does without them else."""
from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.test_imports import ROOT, sources

#: What is documented in spite of its name: by Python, and by Numba for its extensions.
DOCUMENTED = {"_getframe", "_exit", "_asdict", "_getvalue"}

#: The files that may, and what they use.
FENCES = {
    # locks of other threads after a fork: without these names a fork waits for fewer of them
    "samediff/base/locks.py": {"_at_fork_reinit", "_bootstrap", "_is_owned", "_module_locks"},
    # variables of the environment: else by os.environ
    "samediff/base/environment.py": {"_data"},
    # Numba's compiler: else Numba as it is, see compiler/choice.py
    "samediff/cpu/compiler/lean.py": {"_LowerResult", "_ensure_finalized", "_final_module", "_linking_libraries", "_optimize_final_module"},
    # code that Python calls, on disk: else it is compiled in each process
    "samediff/cpu/compiler/dispatcher_cache.py": {"_rebuild", "_reduce"},
    # where arrays are: else by what NumPy documents
    "samediff/cpu/native/array_address.py": {"from_address"},
    # guard zones of the emulator, around arrays whose first and last byte are known
    "samediff/cuda/drivers/guards.py": {"from_address"},
    # a process that is being started and would start others: else multiprocessing says it
    "networks/parallel/process_workers.py": {"_inheriting"},
    # PySpark's own way into Java, and the way of its own estimators: there is no other
    "networks/spark/files.py": {"_jsc", "_jvm"},
    "networks/spark/rounds.py": {"_jrdd", "_jrdd_deserializer", "_jvm"},
    "networks/spark/ml.py": {"_copyValues", "_dummy", "_input_kwargs", "_resetUid", "_setDefault"},
    # PyTorch's trees of arguments and results, in which it exports programs
    "networks/pytorch/modules.py": {"_pytree"},
    "samediff/pytorch/recording.py": {"_pytree"},
}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


@cache
def trees() -> dict[str, ast.Module]:
    return {str(p.relative_to(ROOT)): ast.parse(p.read_text(encoding="utf-8")) for p in sources().values()}


@cache
def own_names() -> frozenset[str]:
    """Every name that is given to something in this project."""
    found = set()
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                found.add(node.name)
            elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Store):
                found.add(node.attr if isinstance(node, ast.Attribute) else node.id)
            elif isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__slots__" for t in node.targets):
                found.update(c.value for c in ast.walk(node.value) if isinstance(c, ast.Constant))
    return frozenset(found)


def root_of(node: ast.expr) -> str:
    """The name with which an expression begins; nothing for another one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def foreign(tree: ast.Module) -> set[str]:
    """Private names of others that a file uses."""
    modules = {a.asname or a.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module != "__future__":
            found |= {n for n in (*(node.module or "").split("."), *(a.name for a in node.names)) if is_private(n)}
        elif isinstance(node, ast.Attribute) and (is_private(node.attr) or node.attr == "from_address"):
            if node.attr not in own_names() or root_of(node.value) in modules:
                found.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
            name = node.args[1]
            if isinstance(name, ast.Constant) and isinstance(name.value, str) and is_private(name.value) and (
                    name.value not in own_names() or root_of(node.args[0]) in modules):
                found.add(name.value)
    return found


@pytest.mark.slow
def test_private_names_stand_in_few_files():
    used = {file: names for file, tree in trees().items() if (names := foreign(tree) - DOCUMENTED)}
    assert used == FENCES


def modules_in(node: ast.AST) -> list[str]:
    """The modules that a statement imports, and texts that may be names of some."""
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    if isinstance(node, ast.Import):
        return [a.name for a in node.names]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value else []


def test_parts_of_numba_that_are_not_documented_stay_behind_the_fence():
    """Numba documents ``numba``, ``numba.extending``, ``numba.types`` and, for extensions, ``numba.core.cgutils``."""
    inner = re.compile(r"numba\.(?!core\.cgutils\b)(core|np|cpython|misc|typed)\b")
    allowed = ("samediff/cpu/compiler/", "samediff/base/locks.py")      # which asks whether Numba's lock is there
    texts = {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in sources().values()}
    named = {file for file, text in texts.items() if "numba." in text
             for node in ast.walk(ast.parse(text)) for name in modules_in(node) if inner.match(name)}
    assert {f for f in named if not f.startswith(allowed)} == set()
