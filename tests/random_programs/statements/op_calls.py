"""Calls of the ops in namespaces, made from the rows of the table of ops."""
from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from dl4py.samediff import INDArray
from dl4py.samediff.ir import signature
from dl4py.samediff.ir.op import METHODS
from tests.random_ops.trying_ops import CALLS, likely

from .helping import ops
from .statement import Statement

#: Ops in which nothing is to be compared, or that want more than arrays and options.
LEFT_OUT = {"print_variable"}


def _methods() -> dict[tuple[str, str], list[Any]]:
    rows = defaultdict(list)
    for row in CALLS:
        rows[type(row.op())].append(row)
    found = {key: [r for cls in classes for r in rows.get(cls, ()) if r.op_id not in LEFT_OUT and not cls.stateful]
             for key, classes in METHODS.items() if key[0] != "var"}
    return {key: given for key, given in found.items() if given}


#: Rows by namespace and method.
ROWS = _methods()
NAMES = sorted(ROWS)


def call_of(rng: np.random.Generator) -> tuple[Statement, list[Any]] | None:
    """A call of an op and arrays for it; None where the row's op cannot be called by name."""
    space, method = NAMES[rng.integers(len(NAMES))]
    rows = ROWS[space, method]
    op, arrays = likely(rng, rows[rng.integers(len(rows))])
    values = {n: getattr(op, n) for n in op.attribute_names()}
    named = signature.input_names(type(op))
    given = [i for i, a in enumerate(arrays) if a is not None]
    simple = "*" not in type(op).inputs
    ways = [f for f in signature.formals(type(op)) if _holds(f, named, given, simple, values, op)]
    if not ways:
        return None
    formals = ways[rng.integers(len(ways))]
    target = ops if space == "base" else getattr(ops, space)
    keywords = bool(rng.random() < 0.3) and simple and not any(f.varargs for f in formals)

    def function(*operands: Any) -> Any:
        rest = dict(zip(given, operands))
        args: list[Any] = []
        options: dict[str, Any] = {}
        for f in formals:
            if f.kind == "input" and f.varargs:
                args += operands[named.index(f.name):len(operands) - (len(named) - 1 - named.index(f.name))]
            elif f.kind == "input":
                args.append(rest.get(named.index(f.name)) if simple else operands[named.index(f.name) - len(named)])
            elif keywords:
                options[f.name] = values[f.name]
            elif f.varargs:
                args += list(values[f.name])
            else:
                args.append(values[f.name])
        made = getattr(target, method)(*args, **options)
        return made[0] if isinstance(made, (tuple, list)) else made
    shown = ", ".join(f"{k}={v!r}" for k, v in values.items())
    text = f"ops.{method if space == 'base' else f'{space}.{method}'}"
    return (Statement(f"{text}({shown}{', by keywords' if keywords else ''})", f"ops {space}", len(given), function),
            [INDArray.of(np.array(arrays[i])) for i in given])


def _holds(formals: Any, named: list[str], given: list[int], simple: bool, values: dict[str, Any], op: Any) -> bool:
    """Whether a way to call an op has all that was drawn: the inputs that are there, and attributes that are not as by default."""
    inputs = {f.name for f in formals if f.kind == "input"}
    attributes = {f.name for f in formals if f.kind == "attribute"}
    if any(f.kind == "config" for f in formals):
        return False
    if simple and {named[i] for i in given} != inputs & {named[i] for i in given}:
        return False
    if simple and any(f.default is signature.MISSING and named.index(f.name) not in given for f in formals if f.kind == "input"):
        return False
    if not simple and inputs != set(named):
        return False
    if any(f.varargs and f.kind == "attribute" for f in formals[:-1]):
        return False
    try:
        plain = type(op)(**{n: values[n] for n in attributes})
    except Exception:
        return False
    return bool(plain == op)
