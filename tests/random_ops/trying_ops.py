"""Random calls of ops by both executors: ``python -m tests.random_ops.trying_ops CASES [--seed N] [--case N]``.

A call is a row of the table of ops with other sizes, types, values and attributes, drawn so that most calls are accepted: sizes that
agree go on agreeing, indices stay in range, axes exist. Some calls are drawn wildly.
"""
from __future__ import annotations

import contextlib
import os
import sys
import typing
import warnings
from dataclasses import dataclass
from enum import Enum
from typing import Any
from unittest import mock

import ml_dtypes
import numpy as np

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ir import signature
from dl4py.samediff.ir.op import METHODS, Op
from tests.helpers import randomruns
from tests.samediff.ops.rows.mutations import MUTATIONS
from tests.samediff.ops.rows.op_rows import drawn
from tests.samediff.ops.rows.op_table import ROWS, Row

FLOATS = (np.float64, np.float32, np.float16, ml_dtypes.bfloat16)
INTEGERS = (np.int32, np.int64, np.int8, np.int16, np.uint8)
FINITE = (0.0, -0.0, 1.0, -1.0, 1e6, -1e6, 1e-30)
SPECIAL = (*FINITE, np.nan, np.inf, -np.inf)
#: Sizes that take the place of those in the table.
SIZES = (1, 1, 2, 3, 4, 5, 8, 17, 0)
#: Attributes that count axes.
AXES = ("axis", "axes", "dimension", "dimensions")
#: Calls of these have nothing to compare: they print, or both executors are asked for the time.
LEFT_OUT = {"print_variable"}
CALLS = [r for r in ROWS if r.op_id not in LEFT_OUT]
#: Ops that users call; the others get what gradients hand them, which is finite.
PUBLIC = {cls.id for classes in METHODS.values() for cls in classes}


@dataclass
class Call:
    """What is called: the op, its arrays (None: left out) and how each is given."""

    op: Any
    arrays: list[Any]
    given: list[str]
    open: list[tuple[bool, ...]]
    turned: list[bool]
    signature: Any
    differentiated: bool
    seed: int

    def __str__(self) -> str:
        inputs = ", ".join("-" if a is None else f"{g}{' turned' * t} {a.dtype}{a.shape}" + (f"={a.tolist()}" if a.size < 25 else "")
                           for a, g, t in zip(self.arrays, self.given, self.turned))
        return f"{self.op!r}({inputs}){' with gradients' * self.differentiated}"


def call_of(seed: int, number: int) -> Call:
    """The call of that number."""
    rng = np.random.default_rng((seed, number))
    for _ in range(100):
        row = CALLS[rng.integers(len(CALLS))]
        try:
            op, arrays = _wild(rng, row) if rng.random() < 0.08 else likely(rng, row)
            break
        except (DL4PyError, ValueError, TypeError, AttributeError, IndexError):    # no op or no array comes of it
            continue
    given = [("placeholder", "placeholder", "constant", "variable")[rng.integers(4)] for _ in arrays]
    shapes = [() if a is None else a.shape for a in arrays]
    ways = [s for s in signature.formals(type(op)) if rng.random() < 0.7]
    return Call(op, arrays, given, [tuple(rng.random(len(s)) < 0.3) for s in shapes],
                [len(s) > 1 and rng.random() < 0.15 for s in shapes], ways[rng.integers(len(ways))] if ways else None,
                bool(rng.random() < 0.5), int(rng.integers(1 << 30)))


def _wild(rng: np.random.Generator, row: Row) -> tuple[Any, list[Any]]:
    cases = list(MUTATIONS.values())
    for _ in range(20):
        case = cases[rng.integers(len(cases))](row, int(rng.integers(3)))
        if case is not None and not any(a is not None and a.dtype.kind in "OU" for a in case[0]):
            return type(row.op())(**case[1]), case[0]
    return row.op(), row.arrays()


def likely(rng: np.random.Generator, row: Row) -> tuple[Any, list[Any]]:
    texts = [t if isinstance(t, str) and t != "-" else None for t in row.inputs]
    sizes = sorted({int(n) for t in texts if t for n in t.partition(":")[2].split(",") if n})
    kept = rng.random() < 0.4
    new = {n: n if kept or rng.random() < 0.4 else int(SIZES[rng.integers(len(SIZES))]) for n in sizes}
    floating = FLOATS[rng.choice(4, p=(0.35, 0.5, 0.1, 0.05))]
    whole = INTEGERS[rng.choice(5, p=(0.5, 0.3, 0.08, 0.06, 0.06))]
    arrays = []
    for text, given in zip(texts, row.inputs):
        a = drawn(rng, given) if text is None else _drawn(rng, text, new)
        if a is not None and a.dtype.kind == "f":
            a = a.astype(floating)
            if rng.random() < 0.08 and a.size and row.op_id in PUBLIC:
                places = rng.integers(0, a.size, rng.integers(1, 4))
                special = SPECIAL if not arrays else FINITE             # weights that are not finite have no right result
                with np.errstate(all="ignore"):
                    a.reshape(-1)[places] = np.array([special[k] for k in rng.integers(0, len(special), len(places))]).astype(a.dtype)
        elif a is not None and a.dtype == np.int32 and text is not None and (not a.size or a.max() <= np.iinfo(whole).max):
            a = a.astype(whole)
            if rng.random() < 0.04 and a.size:
                a.reshape(-1)[rng.integers(a.size)] = rng.integers(-3, 9) % 120
        arrays.append(a)
    op = row.op()
    if row.op_id not in PUBLIC:
        return op, arrays
    changes = _attributes(rng, op, max((a.ndim for a in arrays[:1] if a is not None), default=0))
    return op.replace(**changes) if changes else op, arrays


def _drawn(rng: np.random.Generator, text: str, new: dict[int, int]) -> Any:
    kind, _, shape = text.partition(":")
    if kind[0] == "i" and int(kind[1:]) in new:                     # indices into an axis of that size
        kind = f"i{max(new[int(kind[1:])], 1)}"
    return drawn(rng, f"{kind}:{','.join(str(new[int(n)]) for n in shape.split(',') if n)}")


def _attributes(rng: np.random.Generator, op: Any, rank: int) -> dict[str, Any]:
    hints, changes = signature.attribute_types(type(op)), {}
    for name in op.attribute_names():
        if rng.random() < 0.75:
            continue
        value = getattr(op, name)
        if isinstance(value, bool):
            changes[name] = bool(rng.random() < 0.5)
        elif name in AXES and rank and isinstance(value, int):
            changes[name] = int(rng.integers(-rank, rank))
        elif name in AXES and rank and isinstance(value, tuple) and all(isinstance(v, int) for v in value):
            count = rank if op.id == "permute" else int(rng.integers(0, rank + 1))
            changes[name] = tuple(int(k) - (rank if rng.random() < 0.3 else 0) for k in rng.permutation(rank)[:count])
        elif isinstance(value, Enum) and not isinstance(value, DataType):
            changes[name] = list(type(value))[rng.integers(len(type(value)))]
        elif isinstance(value, DataType):
            changes[name] = (DataType.FLOAT, DataType.DOUBLE, DataType.INT, DataType.LONG)[rng.integers(4)]
        elif typing.get_origin(hints[name]) is typing.Literal:
            choices = typing.get_args(hints[name])
            changes[name] = choices[rng.integers(len(choices))]
        elif isinstance(value, float):
            changes[name] = float(value * (0.5, 1.5, 1.0, -1.0)[rng.integers(4)])
        elif isinstance(value, int):
            changes[name] = max(value + int(rng.integers(-1, 2)), 0 if value >= 0 else value)
    return changes


# Running

def _graph(call: Call) -> tuple[SameDiff, dict[str, Any], list[str]]:
    """The graph of a call, values for its placeholders, and the names of results and gradients."""
    sd, feeds = SameDiff.create(), {}
    sd.seed = call.seed
    inputs: list[Any] = []
    for i, (a, given, is_open, turned) in enumerate(zip(call.arrays, call.given, call.open, call.turned)):
        if a is None:
            inputs.append(None)
            continue
        stored, name = a.transpose() if turned else a, f"in{i}"
        if given == "placeholder":
            shape = [-1 if o else n for o, n in zip(is_open[::-1] if turned else is_open, stored.shape)]
            made = sd.placeholder(name, DataType.of(a), *shape)
            feeds[name] = stored
        elif given == "variable" and a.dtype.kind not in "b":
            made = sd.var(name, np.ascontiguousarray(stored).reshape(stored.shape))
        else:
            made = sd.constant(name, np.ascontiguousarray(stored).reshape(stored.shape))
        inputs.append(sd.permute(made) if turned else made)
    with sd.at_inference() if call.seed % 2 else contextlib.nullcontext():
        made = _added(sd, call, inputs)
    results = [v for v in (made if isinstance(made, (list, tuple)) else [made]) if v is not None]
    names = [v.name() for v in results]
    targets = [v for v in inputs if v is not None and v.dtype.is_floating]
    floating = [v for v in results if v.dtype.is_floating]
    if call.differentiated and type(call.op).gradient == "full" and targets and floating:
        with contextlib.suppress(DL4PyError):               # what has no gradient says so
            loss = sum((sd.math.sin(v.cast_to(DataType.DOUBLE)) * 0.7).sum() for v in floating)
            names += [g.name() for g in sd.gradients(loss, targets) if g is not None]
    return sd, feeds, names


def _added(sd: SameDiff, call: Call, inputs: list[Any]) -> Any:
    """By a signature where one holds all that is given, else as it is."""
    op, values = call.op, {n: getattr(call.op, n) for n in call.op.attribute_names()}
    formals, named = call.signature, signature.input_names(type(op))
    simple = "*" not in type(op).inputs and all(v is not None for v in inputs) and type(op).compute is not Op.compute
    if formals is None or not simple or any(f.kind == "config" for f in formals) or \
            {f.name for f in formals if f.kind == "input"} != set(named[:len(inputs)]):
        return op.place(sd, inputs, None)
    arguments: list[Any] = []
    for f in formals:
        value = inputs[named.index(f.name)] if f.kind == "input" else values.pop(f.name)
        arguments += value if f.varargs else [value]
    from dl4py.samediff.ir.namespaces import call_one_of
    return call_one_of(sd, [type(op)], "op", op.id, tuple(arguments), {})


def _run(call: Call, reference: bool, moved: bool = False) -> list[tuple[str, Any]]:
    """Names and values of all results."""
    if moved:
        arrays = [a if a is None or a.dtype.kind in "biu" else _moved(a) for a in call.arrays]
        call = Call(call.op, arrays, call.given, call.open, call.turned, call.signature, call.differentiated, call.seed)
    with warnings.catch_warnings(), mock.patch.dict(os.environ, {"DL4PY_EXECUTOR": "reference"} if reference else {}):
        warnings.simplefilter("ignore")
        sd, feeds, names = _graph(call)
        first = sd.output(feeds, *names)
        if not reference and not any(n.op.stateful for n in sd.nodes()):
            again = randomruns.different(list(sd.output(feeds, *names).items()), list(first.items()), loose=0.0)
            assert not again, f"a second run gives {again}"
        return list(first.items())


def _moved(a: Any) -> Any:
    """Changed by rounding."""
    with np.errstate(all="ignore"):
        steps = np.where(np.arange(a.size).reshape(a.shape) % 2, 1, -2) * 2 * float(ml_dtypes.finfo(a.dtype).eps)
        return (a.astype(np.float64) * (1 + steps)).astype(a.dtype)


def case(seed: int, number: int) -> randomruns.Outcome:
    """Run a call by both executors and compare."""
    call = call_of(seed, number)
    least = max((randomruns.LIMITS.get(str(a.dtype), 0.0) for a in call.arrays if a is not None), default=0.0)
    outcome = randomruns.judged(lambda: _run(call, False), lambda moved: _run(call, True, moved), least=least)
    if outcome.kind == "differs" and outcome.error and type(call.op).id not in PUBLIC:
        return randomruns.Outcome("refused", outcome.text)          # nobody calls it with inputs that do not fit together
    if outcome.kind == "differs":
        outcome.text = f"{call}\n   {outcome.text}"
    return outcome


def described(seed: int, number: int) -> str:
    """A call in words."""
    return str(call_of(seed, number))


if __name__ == "__main__":
    sys.exit(randomruns.main("tests.random_ops.trying_ops", __doc__ or ""))
