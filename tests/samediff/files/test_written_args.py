"""What every op writes into files is the recorded text, and a slot in another place would be noticed."""
from __future__ import annotations

from dataclasses import replace

import pytest

from dl4py.samediff.codecs.flatbuffers.graph import FlatNode
from dl4py.samediff.files.node_args import file_args, file_inputs, spread_inputs
from tests.samediff.files.written_args import RECORDED, table, written

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
    assert list(lines) == list(OPS_BY_NAME), "run .ci/generate"
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
    monkeypatch.setattr(cls, "file", other)
    assert written(OPS_BY_NAME[name]) != recorded()[name]


def test_most_vectors_have_several_slots():
    assert len(PAIRS) > 85


def test_inputs_come_back_in_the_order_of_the_class():
    ordered = 0
    for name, op in OPS_BY_NAME.items():
        count = len(op.inputs.split())
        if not count or "*" in op.inputs or "?" in op.inputs:
            continue
        inputs = tuple(f"input{i}" for i in range(count))
        stored = file_inputs(op, inputs)
        order = file_args(type(op)).order
        assert stored == [inputs[i] for i in order or range(count)], name
        assert spread_inputs(op, FlatNode(name="n"), stored) == inputs, name
        assert spread_inputs(op, FlatNode(name="n"), stored[1:]) == tuple(stored[1:]), name        # too few: the order tells nothing
        ordered += stored != list(inputs)
    assert ordered
