"""Rules for the source tree as a whole."""
from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("samediff", "layers", "networks", "udf", "tests", "examples", "benchmarks", "docs", ".ci")
TEXT = {".py", ".pyi", ".cu", ".cuh", ".h", ".md", ".toml", ".yaml", ".yml", ".json", ".txt", ""}
LONGEST = 500
MACHINE = re.compile(r"(?<![\w.$}])/(?:" + "|".join(("work", "tmp", "home", "root", "Users", "mnt")) + r")(?=/)")


def sources(*suffixes: str) -> dict[str, str]:
    """Text of every source file by its path."""
    found = [p for f in FOLDERS for p in (ROOT / f).rglob("*")] + list(ROOT.iterdir())
    return {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in sorted(found)
            if p.is_file() and p.suffix in (suffixes or TEXT) and "__pycache__" not in p.parts and p.name != ".git"}


def test_no_source_file_is_too_long():
    sizes = {name: len(text.splitlines()) for name, text in sources(".py", ".cu").items()}          # stubs are generated
    assert not {name: size for name, size in sizes.items() if size > LONGEST}


def test_no_path_of_one_machine():
    assert not {name: match.group() for name, text in sources().items() if (match := MACHINE.search(text))}
