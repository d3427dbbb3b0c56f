"""Sweeps as scalar expressions, of which each back end prints its text."""
from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...expressions import expression as ex
from ...expressions.scalar import DType
from ...expressions.tracing import trace_by_name
from .spec import Stage, Sweep

_WHOLE = np.dtype(np.int64)


@dataclass(frozen=True)
class TracedStage:
    """A :class:`~.spec.Stage`; ``unless``: of the folds before, where it holds, there is nothing to go over."""

    term: ex.Expr
    combine: str
    result: ex.Expr
    counting: bool
    keep: bool
    unless: ex.Expr | None = None


@dataclass(frozen=True)
class SecondPass:
    """The first two folds once more, in a ``unit``, of slices that are not ``near``; they have the unit 1 before."""

    near: ex.Expr
    unit: ex.Expr
    folds: tuple[TracedStage, ...]


@dataclass(frozen=True)
class TracedSweep:
    """A :class:`~.spec.Sweep` whose inputs have types; expressions read inputs by the names of parameters."""

    folds: tuple[TracedStage, ...]
    results: tuple[ex.Expr, ...]
    epilogue: ex.Expr | None
    second_pass: SecondPass | None


def reads(*expressions: ex.Expr | None) -> frozenset[str]:
    """The names of the inputs of expressions."""
    return frozenset(str(name) for name in ex.inputs_of([e for e in expressions if e is not None]))


@functools.lru_cache(maxsize=1024)
def traced(sweep: Sweep, dtypes: tuple[DType, ...]) -> TracedSweep:
    """The expressions for inputs of these types, of which the first is that of the arithmetic: terms and results are numbers of
    it, but those of folds that count, whose totals are LONG."""
    own = dtypes[0]
    types = {**{f"x{k}": d for k, d in enumerate(dtypes)}, "first": own, "unit": own, "kept": own, "n": own, "j": _WHOLE, "count": _WHOLE}
    folds = []
    for k, fold in enumerate(sweep.folds):
        folds.append(_stage(fold, types, own))
        types[f"r{k}"] = folds[-1].result.dtype
    results = tuple(trace_by_name(f, types) for f in sweep.results)
    epilogue = None if sweep.epilogue is None else trace_by_name(sweep.epilogue, types)
    second_pass = None
    if sweep.near is not None and sweep.unit is not None:
        near, unit = (trace_by_name(f, {**types, "t": own}) for f in (sweep.near, sweep.unit))
        second_pass = SecondPass(near, ex.cast(unit, own), tuple(folds[:2]))
    return TracedSweep(tuple(_in_units_of_one(f, own) for f in folds), results, epilogue, second_pass)


def _in_units_of_one(fold: TracedStage, own: DType) -> TracedStage:
    term, result = ex.compose([fold.term, fold.result], {"unit": ex.constant(1, own)})
    return replace(fold, term=term, result=result)


def _stage(fold: Stage, types: Mapping[str, DType], own: DType) -> TracedStage:
    names = {**types, "t": _WHOLE if fold.counting else own}
    term, result = trace_by_name(fold.term, names), trace_by_name(fold.result, names)
    if not fold.counting:
        term, result = ex.cast(term, own), ex.cast(result, own)
    return TracedStage(term, fold.combine, result, fold.counting, fold.keep)
