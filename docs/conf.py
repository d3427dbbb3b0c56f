"""How Sphinx makes the documentation site of these pages and the docstrings: ``sphinx-build -W -j auto docs build/site``."""
from __future__ import annotations

import inspect
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import reference

project, author = "dl4py", "the dl4py developers"
release = version = metadata.version("dl4py")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme, html_title = "furo", f"dl4py {release}"
html_copy_source = html_show_copyright = False
myst_heading_anchors = 4
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
napoleon_google_docstring = False
napoleon_use_param = napoleon_use_rtype = False


def skip(app: Any, kind: str, name: str, value: Any, given: bool, options: Any) -> bool | None:
    """Leave out other names for classes that have pages of their own, and what other libraries have written."""
    other_name = kind == "class" and inspect.isclass(value) and value.__qualname__ == value.__name__
    return True if other_name or "sklearn" in str(getattr(value, "__module__", "")) or name.startswith("set_fit_request") else None


def setup(app: Any) -> None:
    """Write the pages of the reference before any page is read."""
    folder = Path(__file__).parent
    reference.write(folder / "reference")
    reference.write_examples(folder / "examples.md", folder.parent / "examples")
    app.connect("autodoc-skip-member", skip)
