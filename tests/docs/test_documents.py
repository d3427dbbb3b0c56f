"""The Python blocks of the documents run, in order and in one session."""
from __future__ import annotations

import re

import pytest

from tests.docs.blocks import ROOT, blocks, run

DOCUMENTS = ["README.md", "docs/quick-start.md", "docs/data.md", "docs/arrays.md",
             "docs/compiled.md", "docs/files.md", "docs/onnx.md", "docs/plug-ins.md",
             "docs/plug-ins-advanced.md", "docs/adding-ops.md", "docs/zoo.md", "docs/seeing.md"]

#: Pages that are there once the site is built.
GENERATED = {"examples.md", "reference/index.md"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_blocks_run(document, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": __name__}
    found = blocks(document)
    assert found
    for block in found:
        run(block, names, document)
    shown = capsys.readouterr().out
    assert "FAIL" not in shown and "nan" not in shown


@pytest.mark.parametrize("document", [p.relative_to(ROOT).as_posix() for p in sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])])
def test_links_lead_somewhere(document):
    here = (ROOT / document).parent
    links = re.findall(r"\]\((?!https?:)([^)#]*)(#[^)]*)?\)", (ROOT / document).read_text(encoding="utf-8"))
    missing = [target for target, _ in links if target and target not in GENERATED and not (here / target).exists()]
    assert not missing
