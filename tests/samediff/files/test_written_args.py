"""What every op writes into files is the recorded text, and a slot in another place would be noticed."""
from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "ops"))
from written_args import RECORDED, table, written

from dl4py.samediff.codecs.default_args import DEFAULTS
from dl4py.samediff.files.node_args import file_args

OPS_BY_NAME = table()
VECTORS = ("ints", "floats", "bools", "dtypes", "strings")
PAIRS = [(name, vector) for name, op in OPS_BY_NAME.items() for vector in VECTORS if len(getattr(file_args(type(op)), vector)) > 1]


def recorded() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            found[line.partition(":")[0]] = own = []
        own.append(line)
    return found


def test_every_op_writes_what_is_recorded():
    lines = recorded()
    assert list(lines) == list(OPS_BY_NAME), "run python tests/samediff/files/written_args.py"
    for name, op in OPS_BY_NAME.items():
        assert written(op) == lines[name], name


@pytest.mark.parametrize(("name", "vector"), PAIRS)
def test_exchanged_slots_are_noticed(name, vector, monkeypatch):
    cls = type(OPS_BY_NAME[name])
    args = file_args(cls)
    first, second, *rest = getattr(args, vector)
    if first == second:
        return                      # two equal constants
    other = replace(args, **{vector: (second, first, *rest)})
    if cls.file is None:
        monkeypatch.setitem(DEFAULTS, cls.id, other)
    else:
        monkeypatch.setattr(cls, "file", other)
    assert written(OPS_BY_NAME[name]) != recorded()[name]


def test_most_vectors_have_several_slots():
    assert len(PAIRS) > 85
