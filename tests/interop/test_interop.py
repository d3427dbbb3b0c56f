"""What Python writes, DL4J 1.0.0-M2.1 opens, runs, trains and saves, and Python opens that again.

All files are written first, then one Java process opens them all. ``known_differences`` says where DL4J is known to refuse a
file or to compute something else, and what is compared then.
"""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.required import missing
from tests.interop.cases import MAYBE, Case, Folder
from tests.interop.drawn_cases import drawn_cases
from tests.interop.file_cases import file_cases
from tests.interop.graph_cases import graph_cases
from tests.interop.java import Unavailable, program, run
from tests.interop.network_cases import network_cases
from tests.interop.random_cases import random_cases

pytestmark = pytest.mark.jvm
CASES = {**network_cases(), **drawn_cases(), **random_cases(), **graph_cases(), **file_cases()}

#: What Java says about ops that it does not know at all.
UNKNOWN = ("No op known for hash", "Unknown op type passed in: 120", "Could not find class for hash")


class Exchange:
    """Files both ways, and what Java found."""

    def __init__(self, root: Path) -> None:
        self.target = root / "target"
        program(self.target)
        self.folder = Folder(root / "given", root / "found")
        self.folder.given.mkdir()
        self.folder.found.mkdir()
        self.cases: dict[str, Case] = {name: make() for name, make in CASES.items()}
        manifest = [{"name": c.name, "id": c.id, **c.write(self.folder)} for c in self.cases.values()]
        (self.folder.given / "manifest.json").write_text(json.dumps(manifest))
        self.results = run(self.target, self.folder.given, self.folder.found)
        self.read_again: list[str] = []

    def report(self) -> str:
        """How much was exchanged, and the largest difference of each kind."""
        opened = sum("error" not in r for r in self.results.values())
        largest: dict[str, tuple[float, str]] = {}
        for case in self.cases.values():
            kind = case.name.partition("/")[0]
            for what, apart in case.differences.items():
                largest[kind] = max(largest.get(kind, (0.0, "")), (apart, f"{what} of {case.name}"))
        lines = [f"Python wrote {len(self.cases)} files; Java opened and saved {opened} of them, Python read {len(self.read_again)} again"]
        lines += [f"  {kind}: largest relative difference {apart:.2g} ({where or 'none'})" for kind, (apart, where) in largest.items()]
        return "\n".join(lines)


@pytest.fixture(scope="module")
def exchange(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DL4PY_EXECUTOR", "reference")         # files are compared here, not kernels
        try:
            made = Exchange(tmp_path_factory.mktemp("interop"))
        except Unavailable as why:
            missing("jvm", str(why))
        yield made



@pytest.mark.parametrize("name", CASES)
def test_file(name: str, exchange: Exchange) -> None:
    case, result = exchange.cases[name], exchange.results.get(name, {"error": "Java ended before"})
    error = result.get("error", "")
    if case.refused == MAYBE:
        if any(text in error for text in UNKNOWN):
            pytest.skip("an op of dl4py's own that DL4J does not know")
    elif case.refused and error:
        assert "process ended" not in error
        pytest.skip(case.refused)
    assert not case.refused or name.startswith("op/"), f"DL4J opens it after all, though: {case.refused}"
    assert not error
    case.check(exchange.folder, result)
    exchange.read_again.append(name)


def test_most_files_are_opened(exchange: Exchange, record_property: Any) -> None:
    record_property("files exchanged with Java", exchange.report())
    opened = {kind: sum(1 for n, r in exchange.results.items() if n.startswith(f"{kind}/") and "error" not in r)
              for kind in ("layer", "vertex", "op", "loss", "training", "control")}
    assert opened["layer"] > 75 and opened["vertex"] > 20 and opened["op"] > 380
    assert opened["loss"] == 10 and opened["training"] > 10 and opened["control"] == 3
