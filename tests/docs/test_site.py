"""The documentation site has a page for everything public, and a way to each of its pages."""
from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path

import dl4py

DOCS = Path(__file__).parents[2] / "docs"


def loaded():
    spec = importlib.util.spec_from_file_location("site_reference", DOCS / "reference.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_everything_public_has_a_page(tmp_path):
    site = loaded()
    site.write(tmp_path)
    text = "\n".join(path.read_text() for path in tmp_path.glob("*.md"))
    shown = set(re.findall(r"<([\w.]+)>`", text))
    public = [v for v in map(dl4py.__dict__.get, dl4py.__all__) if inspect.isclass(v) or inspect.isfunction(v)]
    assert not {f"{v.__module__}.{v.__qualname__}" for v in public if v.__module__.startswith("dl4py.")} - shown
    stale, kept = tmp_path / "modules/dl4py.gone.rst", (tmp_path / "layers.md").stat().st_mtime_ns
    stale.write_text("of a module that was there once")
    site.write(tmp_path)
    assert not stale.exists() and (tmp_path / "layers.md").stat().st_mtime_ns == kept


def test_the_first_page_leads_to_all():
    listed = set(re.findall(r"^[\w/-]+$", (DOCS / "index.md").read_text(), re.M))
    assert {path.stem for path in DOCS.glob("*.md")} - {"index"} <= listed
