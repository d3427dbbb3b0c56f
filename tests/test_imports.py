"""The direction of imports: packages and their rooms stand in one order, and no files go round in a circle.

Imports of every kind count: when a module is loaded, inside of functions, and for type checkers alone.
"""
from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("samediff", "udf", "layers", "networks")
ALLOWED = {"samediff": set(), "udf": {"samediff"}, "layers": {"samediff"}, "networks": {"samediff", "udf", "layers"}}

#: The rooms of each package, lowest first: each may import those before it. What stands in the folder of a package itself comes last.
ROOMS = {
    "samediff": ("errors", "base", "text", "expressions", "configuration", "codecs", "drawing", "device", "initializers", "ir", "families",
                 "numpy_functions", "ops", "plans", "cpu", "cuda", "executor", "data", "evaluation", "files", "training",
                 "ui", "onnx", "tensorflow", "pytorch", "graph", "arrays", "scopes", "nd4j", "tools"),
    "layers": ("types", "ops", "functions", "preprocessors", "base", "kernels", "custom", "standard", "vertices", "checks"),
    "networks": ("legacy", "structure", "batches", "engine", "optimizers", "reports", "files", "keras", "models", "transfer",
                 "early_stopping", "parallel", "spark", "estimators", "pytorch", "zoo", "commands"),
    "udf": ("code", "java", "ops", "checks", "templates"),
}
#: The folders inside of rooms, lowest first.
FOLDERS = {
    "samediff.cpu": ("cache", "compiler", "library", "blas", "native", "code", "matrix", "kernels", "sweeps", "routines", "ops"),
    "samediff.cuda": ("kernels", "drivers", "code", "sweeps", "routines", "ops"),
    "samediff.data": ("sets", "given", "splits", "iterators", "normalizers", "records", "transforms", "readers", "pictures", "public"),
    "samediff.nd4j": ("op_classes", "matrices"),
    "samediff.onnx": ("converters", "exporters"),
    "samediff.ops": ("elementwise", "shape", "conv", "index", "linalg", "random", "image", "reduce", "control", "nn", "recurrent",
                     "losses"),
    "samediff.training": ("checkpoints", "updaters", "listeners", "tracking", "steps"),
    "samediff.base": ("java", "user_code"),
    "layers.kernels": ("cpu", "cuda"),
    "networks.keras": ("own", "table"),
}
#: Stubs that tools write, for type checkers and editors alone: methods in Java's spelling and of variables, with types of every room.
GENERATED = {"samediff/base/java_names.pyi", "samediff/ir/variable_ops.pyi", "networks/structure/java_names.pyi"}
#: Imports against the order, with their reasons.
AGAINST = {
    ("samediff.cpu.native.thresholds", "samediff.cpu.code.elementwise"): "what is measured once on a machine is a compiled loop",
}
#: Modules that are named by text against the order, with their reasons.
BY_TEXT = {
    ("samediff.device.devices", "samediff.cpu.backend"): "back ends are loaded when they are chosen",
    ("samediff.device.devices", "samediff.cuda.backend"): "back ends are loaded when they are chosen",
    ("samediff.base.user_code.users_arrays", "samediff.arrays.indarray"): "what users are given has DL4J's methods",
    ("samediff.base.read_only", "samediff.arrays.read_only"): "what users are given has DL4J's methods",
    ("samediff.base.registry", "layers"): "a name that is not known may be that of a layer, whose package was not imported yet",
    ("samediff.training.checkpoints.checkpoint_loading", "networks"): "a checkpoint says of which kind the model is that loads it",
    ("layers.checks.check", "networks.models.check_in_network"): "a layer is tried in a network, too",
}
MOST_FILES = 21


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("dl4py", *(parts[:-1] if parts[-1] == "__init__" else parts)))


def sources(root: str | None = None) -> dict[str, Path]:
    """The file of every module."""
    return {module_of(p): p for package in ([root] if root else PACKAGES) for p in sorted((ROOT / package).rglob("*.py"))}


@functools.cache
def imported(path: Path) -> tuple[str, ...]:
    """The full name of every module or name that the file imports."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    package = ["dl4py", *path.relative_to(ROOT).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = [*base, *([node.module] if node.module else [])]
            yield from (".".join([*stem, alias.name]) for alias in node.names)


def modules_used(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of this project that a file imports, or from which it imports names."""
    found = {name if name in known else name.rpartition(".")[0] for name in imported(path)}
    return (found & set(known)) - {module_of(path)}


def packages_used(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imported(path) if name.startswith("dl4py.")}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ALLOWED)
def test_packages_import_in_one_direction(folder):
    wrong = {str(p.relative_to(ROOT)): sorted(extra) for p in sorted((ROOT / folder).rglob("*.py"))
             if (extra := packages_used(p) - ALLOWED[folder] - {folder})}
    assert not wrong


def place(module: str) -> int:
    """Where a module stands in the order of its package."""
    _, package, *rest = module.split(".")
    order = ROOMS[package]
    return order.index(rest[0]) if rest and rest[0] in order else len(order)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("package", PACKAGES)
def test_rooms_import_in_one_direction(package):
    known = sources()
    wrong = [f"{name} imports {other}, but the room {name.split('.')[2]!r} stands below {other.split('.')[2]!r}"
             for name, path in sources(package).items() for other in sorted(modules_used(path, known))
             if other.split(".")[1] == package and place(name) < place(other) and other != f"dl4py.{package}"]
    assert not wrong, "\n".join(wrong)


def local(module: str) -> str:
    return module.removeprefix("dl4py.")


@pytest.mark.parametrize("room", sorted({str(p.parent.parent.relative_to(ROOT)).replace("/", ".") for package in PACKAGES
                                         for p in (ROOT / package).rglob("*/*/__init__.py")} - set(PACKAGES)))
def test_folders_inside_of_a_room_have_an_order(room):
    """What stands between them in the folder of the room has a place, too: nothing goes round in a circle."""
    known, prefix = sources(), f"dl4py.{room}."
    arrows: dict[str, set[str]] = {}
    for name, path in known.items():
        if name.startswith(prefix):
            own = name.removeprefix(prefix).split(".")[0]
            used = {o for o in modules_used(path, known) if o.startswith(prefix) and (local(name), local(o)) not in AGAINST}
            arrows.setdefault(own, set()).update({o.removeprefix(prefix).split(".")[0] for o in used} - {own})
    folders = [f.name for f in sorted((ROOT / room.replace(".", "/")).iterdir()) if (f / "__init__.py").exists()]
    assert len(folders) < 2 or room in ("samediff.cpu.ops", "samediff.cuda.ops") or set(FOLDERS[room]) == set(folders)
    assert not [c for c in circles(arrows) if set(c) & set(folders)]
    order = FOLDERS.get(room, ())
    assert not [f"{a} imports {b}" for a in order for b in arrows.get(a, ()) if b in order and order.index(a) < order.index(b)]


@pytest.mark.slow
def test_stubs_keep_the_order():
    """But for those that tools write."""
    known = sources()
    stubs = {str(p.relative_to(ROOT)): p for package in PACKAGES for p in (ROOT / package).rglob("*.pyi")}
    against = {name for name, path in stubs.items() for other in modules_used(path, known)
               if other.split(".")[1] == name.split("/")[0] and place(module_of(path)) < place(other)}
    assert against == GENERATED


@pytest.mark.slow
def test_modules_that_are_named_by_text():
    known = sources()
    found = set()
    for name, path in known.items():
        package = name.split(".")[1] if "." in name else ""
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            other = node.value.partition(":")[0] if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            if other in known and other.startswith("dl4py."):
                target = other.split(".")[1]
                up = target == package and place(name) < place(other) and other != f"dl4py.{package}"
                if up or target not in ALLOWED[package] | {package}:
                    found.add((local(name), local(other)))
    assert found == set(BY_TEXT)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_is_a_room(package):
    folders = {p.name for p in (ROOT / package).iterdir() if (p / "__init__.py").exists()}
    assert folders == {room for room in ROOMS[package] if not (ROOT / package / f"{room}.py").exists()}


BACK_ENDS = ("samediff.cpu.", "samediff.cuda.")
#: Who may import a back end, besides the back ends: their kernels of ops, and what is there to look at one of them.
KNOW_BACK_ENDS = {
    "layers.kernels": "kernels of ops that layers need alone, for each back end",
    "samediff.tools.op_docs": "the table of ops says which kernels there are",
    "udf.checks.kernels": "checks that the kernels of a user's op agree with its array code",
    "udf.code.gpu_text": "prints a user's loop as CUDA source",
    "networks.commands.machine": "says what CuPy and compilers are on this machine",
    "networks.parallel.device_all_reduce": "the exchange between GPUs, by NCCL",
}
#: What back ends take from each other: the emulator keeps its machine code in the cache of the CPU's.
SHARED = {("dl4py.samediff.cuda.drivers.host_code", "dl4py.samediff.cpu.cache.store")}


@pytest.mark.slow
def test_back_ends_do_not_know_each_other():
    """What they share stands below both."""
    known = sources()
    found = {(name, other) for name, path in known.items() for other in modules_used(path, known)
             for a, b in (("cpu", "cuda"), ("cuda", "cpu")) if f".samediff.{a}." in name and f".samediff.{b}." in other}
    assert found == SHARED


@pytest.mark.slow
def test_no_room_but_theirs_knows_a_back_end():
    """All others ask for it by its protocol; a reason that nobody needs any more goes."""
    known = sources()
    found = {local(name) for name, path in known.items() if not f"{local(name)}.".startswith(BACK_ENDS)
             for other in modules_used(path, known) if f"{local(other)}.".startswith(BACK_ENDS)}
    needed = {reason for reason in KNOW_BACK_ENDS for name in found if f"{name}.".startswith(f"{reason}.")}
    assert {name for name in found if not any(f"{name}.".startswith(f"{reason}.") for reason in KNOW_BACK_ENDS)} == set()
    assert needed == set(KNOW_BACK_ENDS)


def test_rooms_are_small():
    counts = {folder: len(list(folder.glob("*.py"))) for package in PACKAGES for folder in (ROOT / package).rglob("*") if folder.is_dir()}
    assert not {str(f.relative_to(ROOT)): n for f, n in counts.items() if n > MOST_FILES}


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Groups of names from each of which arrows lead to all others (Tarjan 1972)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for other in arrows[name]:
            if other not in number:
                visit(other)
            if other in stack:
                lowest[name] = min(lowest[name], lowest[other])
        if lowest[name] == number[name]:
            group = stack[stack.index(name):]
            del stack[stack.index(name):]
            if len(group) > 1:
                found.append(sorted(group))
    for name in arrows:
        if name not in number:
            visit(name)
    return found


def defines(path: Path) -> bool:
    """Whether a module defines functions or classes."""
    return any(isinstance(n, ast.FunctionDef | ast.ClassDef) for n in ast.parse(path.read_text(encoding="utf-8")).body)


@pytest.mark.slow
def test_no_files_go_round_in_a_circle():
    """An ``__init__`` that only gives on what others define is no file of its own here."""
    known = sources()
    files = {name for name, path in known.items() if path.name != "__init__.py" or defines(path)}
    against = {(f"dl4py.{a}", f"dl4py.{b}") for a, b in AGAINST}
    found = circles({name: {o for o in modules_used(known[name], known) & files if (name, o) not in against} for name in sorted(files)})
    assert not found, "\n".join("these import each other: " + ", ".join(group) for group in found)


def test_a_circle_would_be_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a", "d"}}) == [["b", "c"]]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("folder", ALLOWED)
def test_no_import_by_the_bare_folder_name(folder):
    wrong = [str(p.relative_to(ROOT)) for p in sorted((ROOT / folder).rglob("*.py"))
             if any(name.split(".")[0] in ALLOWED for name in imported(p))]
    assert not wrong


def test_every_spelling_of_an_import_is_seen(tmp_path, monkeypatch):
    folder = tmp_path / "samediff" / "data"
    folder.mkdir(parents=True)
    source = folder / "sample.py"
    source.write_text("from ...layers import base\nfrom ..op import op\nimport dl4py.networks\nfrom dl4py import udf\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert packages_used(source) == {"samediff", "layers", "networks", "udf"}
