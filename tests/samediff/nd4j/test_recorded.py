"""``Nd4j``, ``Transforms``, the generator and executed ops against calls recorded from DL4J 1.0.0-M2.1.

``tests/golden/nd4j/*.json`` hold a list of calls each: class, method, arguments as ``[kind, value]`` (``v`` varargs of sizes,
``va`` of arrays, ``nd`` an array with type and order, ``f[]`` a Java array), the seed set before, and the result with shape, type and
order, or the results; ``after`` are the arguments that the call changed. They were made by calling these methods through the JVM with
these arguments. Calls whose result is a mistake of DL4J are left out: where(condition, x, y), not of numbers.
"""
from __future__ import annotations

import json
import keyword
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType
from dl4py.samediff.errors import DataTypeError
from dl4py.samediff.nd4j import DynamicCustomOp, Nd4j, Transforms

FOLDER = Path(__file__).parents[2] / "golden" / "nd4j"

JAVA = {"d": np.float64, "f": np.float32, "i": np.int32, "l": np.int64, "b": np.bool_}


def cases() -> list[Any]:
    rows = [(path.stem, i, row) for path in sorted(FOLDER.glob("*.json")) for i, row in enumerate(json.loads(path.read_text()))]
    return [pytest.param(row, id=f"{stem[5:]}-{i}-{row['call']}") for stem, i, row in rows]


def given(argument: list[Any]) -> list[Any]:
    """The Python arguments for a recorded one."""
    kind, *rest = argument
    if kind in ("v", "vi"):
        return list(rest[0])
    if kind == "va":
        return [a for x in rest[0] for a in given(x)]
    if kind == "list":
        return [[a for x in rest[0] for a in given(x)]]
    if kind == "nd":
        return [array(*rest)]
    if kind == "t":
        return [DataType[rest[0]]]
    if kind == "null":
        return [None]
    if kind == "rng":
        return [Nd4j.getRandom()]
    if kind.startswith("d["):
        return [np.array(rest[0], np.float64)]
    if kind.startswith("f["):
        return [np.array(rest[0], np.float32)]
    return [float(rest[0]) if kind in ("d", "f") else rest[0]]


def array(data: Any, data_type: str = "FLOAT", order: str = "c") -> Any:
    return Nd4j.create(np.array(np.array(data, np.float64).astype(DataType[data_type].numpy), order=order.upper()), order)


def compare(found: Any, expected: Any, seeded: bool = False) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            compare(a, b)
    elif isinstance(expected, dict):
        kind = DataType[expected["type"]]
        assert isinstance(found, np.ndarray)
        assert DataType.of(found.dtype) is kind
        if expected["data"] or expected["shape"]:
            assert list(np.shape(found)) == expected["shape"]
        if kind is DataType.UTF8:
            assert [str(v) for v in np.asarray(found).reshape(-1)] == expected["data"]
            return
        numbers = np.array([float(v) for v in expected["data"]])
        tolerance = {DataType.DOUBLE: 1e-9, DataType.HALF: 1e-2}.get(kind, 2e-6)
        np.testing.assert_allclose(np.asarray(found, np.float64).reshape(-1), numbers, rtol=tolerance,
                                   atol=tolerance * max(1.0, np.abs(numbers[np.isfinite(numbers)]).max(initial=0)))
        if expected.get("order") == "f":
            assert found.flags.f_contiguous
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
    elif isinstance(expected, str):
        assert getattr(found, "name", found) == expected
    else:
        assert found == expected


def has_fraction(value: Any) -> bool:
    return isinstance(value, (float, np.ndarray)) and np.ndim(value) == 0 and float(value) % 1 != 0


@pytest.mark.sampled(39)
@pytest.mark.parametrize("row", cases())
def test_recorded_call(row: Any):
    arguments = [given(a) for a in row["args"]]
    if row["call"] in ("scalar", "createFromArray"):        # Python's own numbers are FLOAT and INT, NumPy's tell their type
        arguments = [[np.array(a[1], JAVA[a[0][0]])] if a[0][0] in JAVA else given(a) for a in row["args"]]
    if row["call"] == "create" and row["args"][0][0] in ("i[]", "l[]"):      # sizes: a tuple
        arguments[0] = [tuple(row["args"][0][1])]
    if row["call"] in ("rand", "randn") and row["args"][0][0] == "l":       # a seed: sizes are a list
        arguments[1] = [arguments[1]]
    flat = [v for values in arguments for v in values]
    if "seed" in row:
        Nd4j.getRandom().setSeed(row["seed"])
    if row["class"] == "exec":
        op = DynamicCustomOp.builder(row["call"]).addInputs(*flat).build()
        op.addIArgument(*row.get("i", ()))
        op.addTArgument(*map(float, row.get("t", ())))
        op.addBArgument(*row.get("b", ()))
        compare(Nd4j.exec(op), row["result"])
        return
    holder = {"Nd4j": Nd4j, "Transforms": Transforms}.get(row["class"]) or Nd4j.getRandom()
    name = row["call"] + "_" * keyword.iskeyword(row["call"])
    if name in ("valueArrayOf", "scalar") and DataType[row["result"]["type"]].is_integer and any(map(has_fraction, flat)):
        with pytest.raises(DataTypeError, match="has a fraction"):      # DL4J cuts it
            getattr(holder, name)(*flat)
        return
    found = getattr(holder, name)(*flat)
    compare(found, row["result"])
    for i, expected in row.get("after", {}).items():
        compare(flat[int(i)] if len(flat) == len(arguments) else arguments[int(i)][0], expected)
