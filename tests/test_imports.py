"""The direction of imports between the four packages."""
from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = {"samediff": set(), "layers": {"samediff"}, "networks": {"samediff", "layers"}, "udf": {"samediff"}}


def imported(path: Path) -> Iterator[str]:
    """The full name of every module or name that the file imports."""
    package = ["dl4py", *path.relative_to(ROOT).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = [*base, *([node.module] if node.module else [])]
            yield from (".".join([*stem, alias.name]) for alias in node.names)


def packages_used(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imported(path) if name.startswith("dl4py.")}


@pytest.mark.parametrize("folder", ALLOWED)
def test_packages_import_in_one_direction(folder):
    wrong = {str(p.relative_to(ROOT)): sorted(extra) for p in sorted((ROOT / folder).rglob("*.py"))
             if (extra := packages_used(p) - ALLOWED[folder] - {folder})}
    assert not wrong


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
