"""INDArray's methods against those of DL4J 1.0.0-M2.1: values, types, shapes, orders, what shares memory, what changes."""
from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import INDArray
from dl4py.samediff.base.javanames import to_snake
from dl4py.samediff.errors import DL4PyError
from tests.samediff.arrays import differences
from tests.samediff.arrays.recorded import argument, build, cases, tables, values


def strides(shape: Any, found: Any) -> list[int]:
    """Strides of the axes that have any."""
    return [s for n, s in zip(shape, found) if n > 1]


def same_array(found: Any, expected: dict[str, Any]) -> str:
    """What differs between an array and a recorded one, empty where nothing does."""
    if not isinstance(found, INDArray):
        return f"gives a {type(found).__name__}"
    wanted = values(expected)
    if found.data_type().name != expected["type"] or found.shape != wanted.shape:
        return f"gives {found.data_type().name}{tuple(found.shape)}, recorded {expected['type']}{wanted.shape}"
    eps = {"float32": 2e-6, "float64": 1e-13, "float16": 1e-3}.get(found.dtype.name, 0)
    if not np.allclose(np.asarray(found, np.float64), wanted.astype(np.float64), rtol=eps, atol=eps, equal_nan=True):
        return f"gives {found.tolist()}, recorded {wanted.tolist()}"
    if sum(n > 1 for n in wanted.shape) > 1 and wanted.size and (
            strides(found.shape, found.stride()) != strides(wanted.shape, expected["stride"])):
        return f"has strides {found.stride()}, recorded {expected['stride']}"
    return ""


def same_value(found: Any, expected: dict[str, Any]) -> str:
    """The same for results of any kind."""
    if "array" in expected:
        return same_array(found, expected["array"])
    value = next(iter(expected.values()))
    if "list" in expected:
        same = np.allclose(np.array(found, np.float64), np.array(value, np.float64), equal_nan=True)
        return "" if same else f"gives {found}, recorded {value}"
    if "number" in expected:
        if not isinstance(found, (int, float)):
            return f"gives a {type(found).__name__}"
        return "" if np.isclose(found, float(value), rtol=2e-6, equal_nan=True) else f"gives {found}, recorded {value}"
    found = getattr(found, "name", found)
    return "" if found == value and type(found) is type(value) else f"gives {found!r}, recorded {value!r}"


def shown(found: Any) -> str:
    """A result in a line."""
    return f"{found.data_type().name}{tuple(found.shape)} {found.tolist()}" if isinstance(found, INDArray) else repr(found)


def outcome(case: dict[str, Any]) -> str:
    """How a call differs from the recorded one; empty where it does not."""
    on, base = build(case["on"], case.get("view"))
    args = [argument(a) for a in case["args"]]
    try:
        with np.errstate(all="ignore"):
            found = getattr(on, case["call"])(*args)
    except DL4PyError as error:
        return "" if "error" in case else f"raises {error}"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    if "error" in case:
        return f"gives {shown(found)} where DL4J raises {case['error']}"
    wrong = same_value(found, case["result"])
    if wrong:
        return wrong
    if "base" in case and (wrong := same_array(base, case["base"])):
        return f"leaves in the array that it is a view of: {wrong}"
    if "is" in case:
        wanted = on if case["is"] == "self" else args[case["is"]]
        return "" if found is wanted else "gives another array than the one that DL4J gives back"
    if "after" in case and (wrong := same_array(on, case["after"])):
        return f"leaves: {wrong}"
    for i, change in case.get("changed", {}).items():
        if wrong := same_array(args[int(i)], change):
            return f"writes: {wrong}"
    if "shares" in case and isinstance(found, INDArray) and np.shares_memory(found, base) != case["shares"]:
        return "shares memory" if not case["shares"] else "is a copy"
    return ""


CASES = list(cases())


@pytest.mark.parametrize("call", sorted({c["call"] for c in CASES}))
def test_methods_do_what_dl4j_does(call):
    found = {json.dumps([c["on"], *c.get("view", []), c["call"], *c["args"]]): wrong for c in CASES
             if c["call"] == call and (wrong := outcome(c)) and differences.reason(c) is None}
    assert not found, "\n".join(f"{k}: {v}" for k, v in found.items())


def test_every_reason_to_differ_is_needed():
    different = [c for c in CASES if differences.reason(c) is not None and outcome(c)]
    assert {differences.reason(c) for c in different} == set(differences.REASONS)
    assert len(different) < len(CASES) / 10


def test_there_are_recordings_of_all_methods_of_dl4j():
    assert len(CASES) > 3000 and len({c["call"] for c in CASES}) > 190


#: Methods that reach into DL4J's own memory.
OF_MEMORY = {"getId", "linearIndex", "markAsCompressed", "setCloseable", "setData", "setOrder", "setShapeAndStride", "shapeDescriptor",
             "shapeInfo", "shapeInfoDataBuffer", "shapeInfoJava", "sliceVectors", "toFlatArray"}


def test_every_method_is_there_in_both_spellings():
    names = tables()["methods"]
    assert {n for n in names if not hasattr(INDArray, n) or not hasattr(INDArray, to_snake(n))} == OF_MEMORY
