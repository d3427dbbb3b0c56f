"""Rows of the table of ops made wrong, and what may come of it."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.samediff.ops.rows.op_table import Row

Case = tuple[list[Any], dict[str, Any]]
Mutation = Callable[[Row, int], Case | None]


def _arrays(row: Row, i: int, change: Callable[[Any], Any]) -> Case | None:
    arrays = row.arrays()
    if i >= len(arrays) or arrays[i] is None:
        return None
    arrays[i] = change(arrays[i])
    return arrays, row.attributes


def _integers(row: Row, i: int, value: int) -> Case | None:
    """The same with the i-th of the integer inputs holding ``value`` in front."""
    arrays = row.arrays()
    if i >= len(arrays) or arrays[i] is None or arrays[i].dtype.kind != "i" or not arrays[i].size:
        return None
    arrays[i].reshape(-1)[0] = value
    return arrays, row.attributes


def _attribute(row: Row, i: int, value: int) -> Case | None:
    """The same with the i-th of the attributes that are integers, or tuples of them, being ``value``."""
    op = row.op()
    names = [n for n in op.attribute_names() if _whole(getattr(op, n))]
    if i >= len(names):
        return None
    old = getattr(op, names[i])
    return row.arrays(), row.attributes | {names[i]: value if isinstance(old, int) else (value, *old[1:])}


def _whole(value: Any) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(isinstance(v, int) and not isinstance(v, bool) for v in value)
    return isinstance(value, int) and not isinstance(value, bool)


MUTATIONS: dict[str, Mutation] = {
    "one axis more": lambda row, i: _arrays(row, i, lambda a: a[None]),
    "one axis less": lambda row, i: _arrays(row, i, lambda a: a[0] if a.ndim and len(a) else a[None, None]),
    "scalar": lambda row, i: _arrays(row, i, lambda a: a.reshape(-1)[0].copy() if a.size else a),
    "longer": lambda row, i: _arrays(row, i, lambda a: np.concatenate([a, a[:1]]) if a.ndim else np.stack([a, a])),
    "longer last": lambda row, i: _arrays(row, i, lambda a: np.concatenate([a, a[..., :1]], -1) if a.ndim else np.stack([a, a])),
    "empty": lambda row, i: _arrays(row, i, lambda a: a[:0] if a.ndim else a[None][:0]),
    "integers": lambda row, i: _arrays(row, i, lambda a: a.astype(np.int32)),
    "booleans": lambda row, i: _arrays(row, i, lambda a: a != 0),
    "other floats": lambda row, i: _arrays(row, i, lambda a: a.astype(np.float32)),
    "text": lambda row, i: _arrays(row, i, lambda a: np.full(a.shape, "text", object)),
    "far index": lambda row, i: _integers(row, i, 99),
    "negative index": lambda row, i: _integers(row, i, -99),
    "attribute 99": lambda row, i: _attribute(row, i, 99),
    "attribute 0": lambda row, i: _attribute(row, i, 0),
    "attribute -7": lambda row, i: _attribute(row, i, -7),
}


def cases(row: Row) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """Every mutation of a row."""
    for name, mutation in MUTATIONS.items():
        for i in range(max(len(row.inputs), len(dataclasses.fields(row.op())))):
            case = mutation(row, i)
            if case is not None:
                yield f"{name} {i}", *case
