"""Rules for the source tree as a whole."""
from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("samediff", "layers", "networks", "udf", "tests", "examples", "benchmarks", "docs", ".ci")
TEXT = {".py", ".pyi", ".cu", ".cuh", ".h", ".md", ".toml", ".yaml", ".yml", ".json", ".txt", ""}
LONGEST = 500
MACHINE = re.compile(r"(?<![\w.$}])/(?:" + "|".join(("work", "tmp", "home", "root", "Users", "mnt")) + r")(?=/)")


def sources(*suffixes: str) -> dict[str, str]:
    """Text of every source file by its path; what is not in version control does not count, where there is one."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    found = [ROOT / name for name in listed.stdout.split("\0")] if listed.returncode == 0 else \
        [p for f in FOLDERS for p in (ROOT / f).rglob("*") if "__pycache__" not in p.parts] + list(ROOT.iterdir())
    return {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in sorted(found)
            if p.is_file() and p.suffix in (suffixes or TEXT)}


def test_no_source_file_is_too_long():
    sizes = {name: len(text.splitlines()) for name, text in sources(".py", ".cu").items()}          # stubs are generated
    assert not {name: size for name, size in sizes.items() if size > LONGEST}


def test_no_path_of_one_machine():
    assert not {name: match.group() for name, text in sources().items() if (match := MACHINE.search(text))}


@cache
def modules():
    """The parsed modules of the packages, by path."""
    packages = "samediff/", "layers/", "networks/", "udf/"
    return {name: ast.parse(text) for name, text in sources(".py").items() if name.startswith(packages)}


@pytest.mark.slow
def test_one_class_for_a_name():
    names = Counter(node.name for tree in modules().values() for node in tree.body if isinstance(node, ast.ClassDef))
    # DataVec's beside the base of all; DL4J's for files alone beside the whole one; its function beside the exporter's
    assert [n for n, count in names.items() if count > 1] == ["Configuration", "Nd4j", "Value"]


@pytest.mark.slow
def test_modules_and_classes_say_what_they_are():
    """The first line begins with the subject: no questions."""
    asks = re.compile(r"(What|How|Which|Where|From|When|Whose|Who|Why)\b")
    first = {f"{name}:{getattr(node, 'name', '')}": (ast.get_docstring(node) or "").split("\n")[0]
             for name, tree in modules().items() for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef)}
    assert not {name: line for name, line in first.items() if asks.match(line) or (not line and name.endswith(":"))}
