"""Writes the import lists of packages: what their modules name in ``__all__``.

    python -m dl4py.samediff.tools.exports            # after adding or renaming something public
"""
from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: The packages, each with all modules below it.
PACKAGES = ("layers", "layers/preprocessors", "layers/vertices", "samediff/data", "samediff/data/transforms", "samediff/training")
MARK = "# The rest is written by `python -m dl4py.samediff.tools.exports`: do not edit.\n"
WIDTH = 140


def public(path: Path) -> list[str]:
    """The names in ``__all__`` of a module, without importing it."""
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return list(ast.literal_eval(statement.value))
    return []


def generate(package: str) -> str:
    """The text of the ``__init__`` of a package."""
    folder = ROOT / package
    found = {p.relative_to(folder): names for p in sorted(folder.rglob("*.py")) if p.name != "__init__.py" and (names := public(p))}
    imports = [_import(".".join(path.with_suffix("").parts), names) for path, names in found.items()]
    every = sorted(name for names in found.values() for name in names)
    twice = sorted({name for name in every if every.count(name) > 1})
    if twice:
        raise ValueError(f"two modules of {package} name {', '.join(twice)} in __all__")
    head = (folder / "__init__.py").read_text(encoding="utf-8").partition(MARK)[0]
    quoted = [f'"{name}"' for name in every]
    return head + MARK + "".join(imports) + f"\n__all__ = [\n{_packed(quoted)}]\n"


def _import(module: str, names: Iterable[str]) -> str:
    line = f"from .{module} import {', '.join(sorted(names))}\n"
    return line if len(line) <= WIDTH else f"from .{module} import (\n{_packed(sorted(names))})\n"


def _packed(items: Iterable[str]) -> str:
    return textwrap.fill(", ".join(items), WIDTH - 1, initial_indent="    ", subsequent_indent="    ", break_long_words=False) + ",\n"


def main() -> None:
    """Write the lists."""
    for package in PACKAGES:
        text = generate(package)
        (ROOT / package / "__init__.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
