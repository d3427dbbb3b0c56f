"""Calls of INDArray's methods that were recorded from DL4J 1.0.0-M2.1, and how they are done again."""
from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dl4py.samediff import Conditions, DataType, INDArray, MMulTranspose, NDArrayIndex

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "arrays"


def cases() -> Iterator[dict[str, Any]]:
    """Every recorded call."""
    for path in sorted(FOLDER.glob("*.json")):
        if path.name != "arrays.json":
            yield from json.loads(path.read_text(encoding="utf-8"))


@functools.cache
def tables() -> dict[str, Any]:
    return json.loads((FOLDER / "arrays.json").read_text())


def values(found: dict[str, Any]) -> np.ndarray:
    """The elements of a recorded array."""
    dtype = DataType[found["type"]].numpy
    if "values" not in found:                   # DL4J gives some empty arrays rank 0
        return np.zeros(found["shape"] or [0], dtype)
    return np.array([float(v) if isinstance(v, str) else v for v in found["values"]]).astype(dtype).reshape(found["shape"])


def built(found: dict[str, Any]) -> INDArray:
    """A recorded array, in its order."""
    return INDArray.of(np.array(values(found), order=found["order"].upper()))


def build(name: str, view: list[Any] | None = None) -> tuple[INDArray, INDArray]:
    """One of the arrays that methods are called on, or a view of it that some calls make, and the one that it is a view of."""
    known = tables()
    if name in known["arrays"]:
        made = base = built(known["arrays"][name])
    else:
        of, method, args = known["views"][name]
        base = build(of)[0]
        made = getattr(base, method)(*[argument(a) for a in args])
    for method, args in view or []:
        made = getattr(made, method)(*[argument(a) for a in args])
    return made, base


def _index(parts: list[Any]) -> NDArrayIndex:
    kind, *numbers = parts
    if kind == "interval" and len(numbers) > 2 and not isinstance(numbers[2], bool):      # begin, end, stride, inclusive
        numbers = [numbers[0], numbers[2], numbers[1], *numbers[3:]]
    return getattr(NDArrayIndex, kind)(*numbers)


def argument(text: dict[str, Any]) -> Any:
    """An argument of a call."""
    ((kind, value),) = text.items()
    special = {"a": lambda v: build(v)[0], "nd": built, "index": lambda v: [_index(i) for i in v], "type": DataType.of,
               "cond": lambda v: getattr(Conditions, v[0])(*v[1:]), "trans": lambda v: MMulTranspose(v[0], v[1])}
    return special[kind](value) if kind in special else float(value) if kind in ("d", "f", "N") else value
