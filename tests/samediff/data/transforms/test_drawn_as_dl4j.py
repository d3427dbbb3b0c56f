"""Transform processes of steps drawn at random, as DL4J wrote and ran them."""
from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dl4py.samediff.data import SequenceSchema, TransformProcess

pytest.importorskip("pandas")
CASES = json.loads(Path(__file__).with_name("drawn_transforms.json").read_text())


def same(found: Any, wanted: Any) -> bool:
    """A value of a record and DL4J's: the class of its writable and its text."""
    kind, text = wanted
    if isinstance(found, str):              # DL4J leaves numbers that become categories as they are
        return found == text
    if kind == "NullWritable":
        return found is None
    if kind == "BooleanWritable":
        return isinstance(found, bool) and str(found).lower() == text
    if kind in ("IntWritable", "LongWritable"):
        return type(found) is int and str(found) == text
    held = np.float32 if kind == "FloatWritable" else np.float64
    return type(found) is float and (held(found) == held(text) or (math.isnan(found) and text == "NaN") or
                                     abs(found - float(text)) <= 1e-15 * abs(found))


def same_rows(found: Any, wanted: Any) -> bool:
    if wanted is None or found is None:
        return wanted is found
    if wanted and isinstance(wanted[0][0], list):
        return len(found) == len(wanted) and all(map(same_rows, found, wanted))
    return len(found) == len(wanted) and all(map(same, found, wanted))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{CASES.index(case)}")
def test_values_and_files(case):
    process = TransformProcess.from_json(json.dumps(case["process"]))
    schema = process.get_final_schema()
    assert [[name, kind.name] for name, kind in zip(schema.get_column_names(), schema.get_column_types())] == case["columns"]
    run = process.execute_sequence if isinstance(process.initial_schema, SequenceSchema) else process.execute
    for given, wanted in case["runs"]:
        found = run(given)
        assert same_rows(found, wanted), (given, found, wanted)
    assert TransformProcess.from_json(process.to_json()) == process
