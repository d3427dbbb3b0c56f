"""How Sphinx makes the documentation site of these pages and the docstrings: ``sphinx-build -W -j auto docs build/site``."""
from __future__ import annotations

import builtins
import inspect
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from docutils.nodes import document
from sphinx.addnodes import pending_xref

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


def look_up_once(app: Any, page: document) -> None:
    """Have names of Python and other libraries, which have no page here, not compared with the ends of all names."""
    for link in page.findall(pending_xref):
        name = link["reftarget"]
        if link.get("refspecific") is False and (name in vars(builtins) or ("." in name and not name.startswith("dl4py."))):
            del link.attributes["refspecific"]      # that it is there is enough for the comparison


def setup(app: Any) -> None:
    """Write the pages of the reference before any page is read."""
    folder = Path(__file__).parent
    reference.write(folder / "reference")
    reference.write_examples(folder / "examples.md", folder.parent / "examples")
    app.connect("autodoc-skip-member", skip)
    app.connect("doctree-read", look_up_once)
