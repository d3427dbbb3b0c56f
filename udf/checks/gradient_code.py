"""Checks of a gradient that is array code or a kernel, run by itself on inputs, outputs and gradients of outputs."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...samediff.base.user_code.check_report import CheckFailure
from ..code.gradient_op import gradient_example
from ..ops.base import UserOp
from . import runs
from .examples import Example


def stands_alone(op: UserOp, arrays: Example) -> str:
    """It writes to nothing that it is given, and uses nothing that an earlier call has left."""
    gradient, given = gradient_example(op, arrays, runs.results(op, arrays))

    def found(read_only: bool = False) -> list[Any]:
        fresh = [None if a is None else np.array(a) for a in given]
        for a in fresh:
            if a is not None:
                a.flags.writeable = not read_only
        with np.errstate(all="ignore"):
            made = [np.array(r) for r in runs.results(gradient, fresh)]
        _unwritten(given, fresh, len(arrays), op.saved)
        return made
    wanted = found()
    try:
        runs.plan_rewrite(gradient, given, strided=True)
    except CheckFailure as error:
        raise CheckFailure(f"where inputs, outputs and their gradients do not lie in memory one value after the other: {error}. Read "
                           "them by their indices, or from np.ascontiguousarray(x)") from error
    try:
        found(read_only=True)
    except ValueError as error:
        if "read-only" in str(error):
            raise CheckFailure(f"grad writes to what it is given ({error}), which other nodes read: work on a copy") from error
        raise
    with np.errstate(all="ignore"):
        kept = runs.results(gradient, [None if a is None else np.array(a) for a in given])
        copies = [np.array(r) for r in kept]
        runs.results(gradient, [None if a is None else 2 * a for a in given])
    if not runs.equal(copies, [np.asarray(r) for r in kept]):
        raise CheckFailure("a gradient changes when grad is called again, for another node: it lies in memory that is kept; return a new "
                           "array")
    for by in (2, -1):
        try:
            with np.errstate(all="ignore"):
                runs.results(op, runs.scaled(arrays, by))
        except Exception:       # values that it refuses leave nothing
            continue
        if not runs.equal(found(), wanted):
            raise CheckFailure("grad gives something else once the op has run for other inputs: it uses what compute left, or keeps "
                               "something itself. It is given inputs and outputs; further results are kept for it by saved=1")
    return f"{len(wanted)} gradients"


def _unwritten(before: Example, after: Example, inputs: int, saved: int) -> None:
    """CheckFailure when one of the arrays was written, which is named as ``grad`` knows it."""
    outputs = (len(before) - inputs - saved) // 2 + saved
    for i, (a, b) in enumerate(zip(before, after)):
        if a is not None and not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
            name = (f"inputs[{i}]" if i < inputs else f"outputs[{i - inputs}]" if i < inputs + outputs
                    else f"output_grads[{i - inputs - outputs}]")
            raise CheckFailure(f"grad changes {name}, which other nodes read: work on a copy")
