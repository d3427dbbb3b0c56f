"""Checks of an op with other values: special ones, and such as show how many digits are kept."""
from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...samediff.base.datatype import DataType, is_floating
from ...samediff.base.user_code import precision
from ...samediff.base.user_code.check_report import CheckFailure
from ...samediff.ir.op import Op, as_tuple
from ..ops.base import UserOp
from . import runs
from .circumstances import finite
from .examples import Example

#: Whole numbers that float32 cannot hold, a step that it does not see there, and one that it does.
_WHOLE, _SMALL_STEP, _LARGE_STEP = 2 ** 40, 2 ** 12, 2 ** 30


def keeps_precision(op: Op, arrays: Example) -> str | None:
    """Outputs have the digits of their inputs and of numbers that are attributes."""
    _keeps_whole(op, arrays)
    wide = [a if a is None or not is_floating(a.dtype) else a.astype(np.float64) for a in arrays]
    if not any(a is not None and is_floating(a.dtype) and a.size for a in wide) or not runs.takes(op, wide):
        return "not run"

    def times(by: float) -> list[Any]:
        """Results; a few numbers of them are too few to tell, so those of other inputs stand beside them."""
        found = [[np.asarray(r) for r in runs.results(op, [a if a is None or not is_floating(a.dtype) else a * by * more for a in wide])]
                 for more in (1.0, 1.13, 1.31)]
        return [np.concatenate([r.reshape(-1) for r in several]) for several in zip(*found)]
    precision.keeps_precision(times, "output")
    for name in op.attribute_names() if isinstance(op, UserOp) else ():
        value = getattr(op, name)
        if isinstance(value, float):
            def changed(by: float, name: str = name, value: float = value) -> Any:
                return runs.results(op.replace(**{name: value * by}), wide)
            precision.keeps_precision(changed, f"with digits of the attribute {name!r} lost, output")
    return None


def follows_types(op: Op, arrays: Example) -> str:
    """Results of float32 inputs are not float64, unless a shape rule or an attribute asks for it."""
    narrow = [a if a is None or not is_floating(a.dtype) else a.astype(np.float32) for a in arrays]
    if not any(a is not None and is_floating(a.dtype) for a in narrow) or not runs.takes(op, narrow):
        return "not run"
    wide = [i for i, r in enumerate(runs.results(op, narrow)) if np.asarray(r).dtype == np.float64]
    promised = as_tuple(op.infer(*runs.specs_of(narrow)))  # type: ignore[arg-type]
    asked = not isinstance(op, UserOp) or op.has_infer() or any(
        isinstance(getattr(op, n), (DataType, np.ndarray)) for n in op.attribute_names())
    if wide and not (asked and promised[wide[0]].dtype == DataType.DOUBLE):
        raise CheckFailure(f"output {wide[0]} of float32 inputs is float64, and a network of FLOAT goes on in DOUBLE: {precision.WIDENS}; "
                           "or end with .astype(x.dtype). If it is meant: allow={'result types'}")
    return "float32 of float32"


def _keeps_whole(op: Op, arrays: Example) -> None:
    """CheckFailure where results of 64 bits of large whole numbers do not heed their last digits."""
    whole = [i for i, a in enumerate(arrays) if a is not None and a.dtype == np.int64 and a.size]
    for i in whole:
        def found(more: int, i: int = i) -> list[Any]:
            return [np.asarray(r) for r in runs.results(op, [a + more if j == i else a for j, a in enumerate(arrays)])]
        try:
            with np.errstate(all="ignore"):
                small, beside, first, near, far = map(found, (0, _SMALL_STEP, _WHOLE, _WHOLE + _SMALL_STEP, _WHOLE + _LARGE_STEP))
        except Exception:       # values that it refuses, such as indices out of range
            continue
        for a, b, c, d, e in zip(small, beside, first, near, far):
            if a.dtype.itemsize == 8 and np.array_equal(c, d) and not np.array_equal(c, e) and not np.array_equal(a, b):
                raise CheckFailure(f"last digits of large whole numbers in input {i} make no difference: on the way they are floating "
                                   "numbers of 32 bits. Compute in the type of the input, x.dtype, or in float64")


def other_values(op: UserOp, arrays: Example) -> str:
    """Kernels against array code for values of the other sign, larger and smaller ones."""
    taken = 0
    for by in (-10.0, 10.0, -1.0, 0.01, 0.0):
        given = [a if a is None or not is_floating(a.dtype) else np.asarray(a * by, a.dtype) for a in arrays]
        if finite(op, given):
            try:
                runs.plan_rewrite(op, given)
            except CheckFailure as error:
                raise CheckFailure(f"for inputs times {by:g}: {error}") from error
            taken += 1
    return f"{taken} others"


def special_values(op: UserOp, arrays: Example) -> str:
    """Kernels against array code for NaN, infinity, negative and large numbers, as far as the code takes them."""
    taken, numbers = 0, map(partial(getattr, op), op.attribute_names())
    steps = {1.0, *(v for v in numbers if isinstance(v, float) and math.frexp(v)[0] == 0.5)}     # halves of others are not exact
    for i, a in enumerate(arrays):
        for what, other in _special(a, steps):
            given = [other if j == i else b for j, b in enumerate(arrays)]
            if not runs.takes(op, given):
                continue
            taken += 1
            try:
                with np.errstate(all="ignore"):
                    if not _numbers(op, given):         # code that drops NaN may have a kernel that keeps it
                        runs.plan_rewrite(op, given)
            except CheckFailure as error:
                raise CheckFailure(f"where input {i} holds {what}: {error}. The kernel gives what the code gives there too, or the code "
                                   "refuses it (of comparisons with NaN each is false: x if x > 0 else 0 drops it). If that is meant: "
                                   "allow={'special values'}") from error
    return f"{taken} cases"


def _numbers(op: Op, arrays: Example) -> bool:
    """Whether the code gives numbers for what holds NaN: it drops them, and a kernel may not."""
    return any(a is not None and is_floating(a.dtype) and np.isnan(a).any() for a in arrays) and not any(
        is_floating(r.dtype) and np.isnan(r).any() for r in map(np.asarray, runs.results(op, arrays)))


def _special(a: Any, steps: Collection[float]) -> Iterator[tuple[str, Any]]:
    """An input with one or all of its values changed, and what is special about them; ``steps``: halves of these are."""
    if a is None or not a.size:
        return
    if is_floating(a.dtype):
        for what, value in (("NaN", np.nan), ("infinity", np.inf), ("-infinity", -np.inf)):
            changed = np.array(a)
            changed.reshape(-1)[a.size // 2] = value
            yield what, changed
        halves = np.arange(a.size).reshape(a.shape) - a.size // 2 + 0.5
        yield from ((f"halves of {step:g}", np.asarray(halves * step, a.dtype)) for step in sorted(steps))
        if a.size > 1 and not np.isin(a, (0, 1)).all():
            yield "equal numbers", np.full_like(a, a.reshape(-1)[0])
        yield from ((f"numbers near {by:g}", np.asarray(np.sign(a) * by + a, a.dtype)) for by in (1e3, 1e-3))
    elif a.dtype.kind == "i":
        yield "negative numbers", -1 - np.abs(a)
        if a.dtype.itemsize == 8:
            yield "large numbers", a + _WHOLE + 1
