"""Steps of transform processes, with what DL4J makes of the same records and writes into files."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dl4py.samediff.data import LocalTransformExecutor, Schema, SequenceSchema, TransformProcess

pytest.importorskip("pandas")
DL4J = json.loads(Path(__file__).with_name("dl4j_transforms.json").read_text())
CASES: dict[str, dict[str, Any]] = DL4J["cases"]


def process(case: dict[str, Any]) -> TransformProcess:
    schema = DL4J["sequence_schema" if "sequence" in case else "schema"]
    return TransformProcess.from_json(json.dumps({"initialSchema": schema, "actionList": case["steps"]}))


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, str) or wanted is None:
        return bool(found == wanted)
    return found == pytest.approx(wanted, 1e-6, 1e-9, nan_ok=True)


@pytest.mark.parametrize("name", CASES)
def test_values_schemas_and_files(name):
    case = CASES[name]
    own, rows = process(case), case.get("rows", DL4J["rows"])
    schema = own.get_final_schema()
    assert dict(zip(schema.get_column_names(), [kind.name for kind in schema.get_column_types()])) == case["columns"]
    if "sequence" in case:
        found, wanted = own.execute_sequence(rows), case["sequence"]
    else:
        found, wanted = LocalTransformExecutor.execute(rows, own), case.get("all") or [row for row in case["out"] if row is not None]
    assert same(found, wanted), (found, wanted)
    if "out" in case:
        assert same([own.execute(row) for row in rows[:2]], case["out"][:2])
    written = json.loads(own.to_json())
    assert written["actionList"] == case["steps"] and TransformProcess.from_json(own.to_json()) == own


def test_schemas():
    own = Schema.from_document(DL4J["schema"])
    assert json.loads(own.to_json()) == DL4J["schema"] and Schema.from_yaml(DL4J["yaml"]) == Schema.from_yaml(own.to_yaml()) == own
    assert type(Schema.from_document(DL4J["sequence_schema"])) is SequenceSchema
