"""Rows of the table of ops: example inputs and attributes of one op.

Inputs are text, ``kind:sizes`` joined by blanks, or lists of numbers. Kinds: f values of both signs away from 0, p positive,
u between 0.1 and 0.9, s between -0.9 and 0.9, d positive definite matrices, t triangular ones, b booleans, iN integers
below N; ``-`` leaves an optional input out.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff import ops as _ops  # noqa: F401 - registers the ops
from dl4py.samediff.families.subgraph import SubGraph
from dl4py.samediff.ir.op import OPS


@dataclass(frozen=True)
class Row:
    """One example. ``derivatives`` 0 leaves gradients out, 1 second ones; ``why`` says why. ``gradient`` asks for them where
    they are not checked by default; ``through(sd, op, variables)`` adds what is differentiated instead of all outputs, ``fixed`` inputs
    are constants then; ``saved_as`` is what files hold instead."""

    op_id: str
    inputs: tuple[Any, ...]
    attributes: dict[str, Any]
    derivatives: int = 2
    why: str = ""
    gradient: bool | None = None
    saved_as: str = ""
    through: Callable[..., Any] | None = None
    fixed: tuple[int, ...] = ()

    def arrays(self) -> list[Any]:
        """The example inputs, floating ones in double precision."""
        rng = np.random.default_rng(sum(map(ord, self.op_id)))
        return [drawn(rng, text) for text in self.inputs]

    def op(self) -> Any:
        """The op with its attributes."""
        return OPS[self.op_id](**self.attributes)


def drawn(rng: np.random.Generator, text: Any) -> Any:
    """An array of a kind and shape."""
    if not isinstance(text, str):
        return np.asarray(text, np.int32) if np.asarray(text).dtype.kind == "i" else np.asarray(text)
    if text == "-":
        return None
    kind, _, sizes = text.partition(":")
    shape = tuple(int(n) for n in sizes.split(",") if n)
    count = int(np.prod(shape))
    grid = np.linspace(0.0, 1.0, count + 2)[1:-1]                                       # distinct: no ties at maxima
    spaced = rng.permutation(grid + rng.uniform(-0.3, 0.3, count) / (count + 1)).reshape(shape)
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind[0] == "i":
        return rng.integers(0, int(kind[1:]), shape).astype(np.int32)
    if kind == "d":
        return spaced @ np.swapaxes(spaced, -1, -2) + np.eye(shape[-1]) * (1.0 + spaced)
    if kind == "t":
        return np.tril(spaced) + np.eye(shape[-1])
    signs = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    return {"f": signs * (0.3 + 1.4 * spaced), "p": 0.3 + 1.4 * spaced, "u": 0.1 + 0.8 * spaced, "s": signs * (0.1 + 0.8 * spaced)}[kind]


ROWS: list[Row] = []


def row(ids: str, *inputs: Any, derivatives: int = 2, why: str = "", check: bool | None = None,
        saved_as: str = "", through: Callable[..., Any] | None = None, fixed: tuple[int, ...] = (), **attributes: Any) -> None:
    """Add the same example for several ops; one text may hold several inputs."""
    flat = [part for given in inputs for part in (given.split() if isinstance(given, str) else [given])]
    ROWS.extend(Row(name, tuple(flat), attributes, derivatives, why, check, saved_as, through, fixed) for name in ids.split())


def sub(*functions: Any, floats: int, extra: int = 0) -> Iterator[SubGraph]:
    """Graphs of functions of scalars or vectors, as control flow holds them."""
    for function in functions:
        sd = SameDiff()
        inputs = [sd.placeholder(f"in{i}", DataType.DOUBLE, *([3] if i < floats else [])) for i in range(floats + extra)]
        made = function(*inputs)
        yield SubGraph(sd, [v.name() for v in inputs], [v.name() for v in (made if isinstance(made, list) else [made])])
