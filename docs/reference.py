"""Writes the pages of the site that follow from the sources: one for each public package and for each module of it, and the examples."""
from __future__ import annotations

import importlib
import inspect
from collections import defaultdict
from pathlib import Path
from typing import Any

#: What else is public is reached by these. A name is listed where it comes first.
PACKAGES = ("networks", "networks.zoo", "networks.early_stopping", "networks.transfer", "networks.optimizers", "networks.parallel",
            "networks.estimators", "networks.keras", "layers", "samediff", "samediff.training", "samediff.data", "samediff.evaluation",
            "samediff.ui", "samediff.nd4j", "samediff.arrays", "samediff.scopes", "samediff.onnx", "udf")
_INDEX = """# Reference

Everything public is in `dl4py` too: `from dl4py import DenseLayer` is `from dl4py.layers import DenseLayer`.

```{{toctree}}
:maxdepth: 1

{}
```
"""
#: In reStructuredText: myst_parser would keep all of Sphinx's environment in each page of which a part is
_MODULE = """:orphan:

{title}
{line}

.. automodule:: {module}
   :members: {names}
"""


def public() -> dict[str, list[Any]]:
    """The public classes and functions by package, each once."""
    found: dict[str, list[Any]] = {}
    seen: set[int] = set()
    for package in PACKAGES:
        module = importlib.import_module(f"dl4py.{package}")
        values = [getattr(module, name) for name in sorted(module.__all__, key=str.casefold)]
        found[package] = [v for v in values if (inspect.isclass(v) or inspect.isfunction(v)) and v.__module__.startswith("dl4py.")
                          and not (id(v) in seen or seen.add(id(v)))]  # type: ignore[func-returns-value]
    return found


def write(folder: Path) -> None:
    """All pages; those that stay as they are keep their time, so that nothing is built twice."""
    pages = {"index.md": _INDEX.format("\n".join(PACKAGES))}
    modules: dict[str, list[Any]] = defaultdict(list)
    for package, values in public().items():
        about = (importlib.import_module(f"dl4py.{package}").__doc__ or "").partition("\n")[0]
        rows = [f"| {{py:obj}}`{v.__name__} <{v.__module__}.{v.__qualname__}>` | {_first_sentence(v)} |" for v in values]
        pages[f"{package}.md"] = "\n".join([f"# dl4py.{package}", "", about, "", "| | |", "|---|---|", *rows, ""])
        for value in values:
            modules[value.__module__].append(value)
    for module, values in modules.items():
        names = ", ".join(v.__name__ for v in values)
        title = module.removeprefix("dl4py.")
        pages[f"modules/{module}.rst"] = _MODULE.format(title=title, line="=" * len(title), module=module, names=names)
    (folder / "modules").mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        _put(folder / name, text)
    for path in {p for p in folder.rglob("*") if p.is_file()} - {folder / name for name in pages}:
        path.unlink()


def write_examples(page: Path, folder: Path) -> None:
    """The programs, whole, each under what its docstring begins with."""
    parts = ["# Examples", ""]
    for path in sorted(folder.glob("*.py")):
        parts += [f"## {path.name}", "", f"```{{literalinclude}} ../examples/{path.name}", "```", ""]
    _put(page, "\n".join(parts))


def _put(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _first_sentence(value: Any) -> str:
    text = " ".join(line.strip() for line in (value.__doc__ or "").strip().partition("\n\n")[0].splitlines())
    return text.replace("|", "\\|")
