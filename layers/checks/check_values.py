"""Checks of layers and vertices of other projects with special inputs: zeros, large numbers, more examples, masked steps."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...samediff.base.datatype import DataType
from ...samediff.base.user_code.check_report import CheckFailure
from ...samediff.executor.session import run_uncompiled
from ...samediff.ir.run_context import RunContext
from .check_subject import Runner, Subject, masks_for, time_axis

#: Inputs as large as this are far beyond those of which exp is finite in float32.
_LARGE = 200.0
#: Beside 0.
_NEAR = 1e-3


def special_inputs(subject: Subject) -> str:
    """Activations are numbers where the inputs are 0, though they are beside it, and where they are large."""
    if not all(a.dtype.kind == "f" for a in subject.arrays):
        return "not floating numbers"
    runner = Runner(subject, DataType.FLOAT)

    def numbers(arrays: Sequence[Any]) -> bool:
        with np.errstate(all="ignore"):
            return not np.isnan(runner.run(arrays).activations).any()
    pattern = [np.where(np.arange(a.size).reshape(a.shape) % 2, 1.0, -1.0) for a in subject.arrays]
    if all(numbers([by * p for p in pattern]) for by in (_NEAR, -_NEAR)) and not numbers([0 * p for p in pattern]):
        raise CheckFailure("examples of zeros, as behind relu, give NaN, and numbers beside 0 do not: add a small number to what is "
                           "divided by or under a root")
    if numbers([np.sign(a) + a for a in subject.arrays]) and not numbers([_LARGE * np.sign(a) + a for a in subject.arrays]):
        raise CheckFailure(f"inputs near {_LARGE:g} and {-_LARGE:g} give NaN: exp of large numbers is infinite, and infinity over infinity "
                           "no number; subtract the largest one before exp, as softmax does")
    return f"zeros, {_LARGE:g}"


def statistics_of_batches(subject: Subject) -> str:
    """Running statistics do not grow with the number of examples, and heed masks."""
    once, twice = (_moves(subject, [np.concatenate([a] * times) for a in subject.arrays]) for times in (1, 2))
    other = _moves(subject, subject.arrays, 1.0)
    names = [p.name for p in subject.parameters if p.name in once]
    for name in names:
        decays = not np.allclose(once[name], other[name], 1e-9, 1e-12)
        if decays and np.any(once[name]) and np.allclose(twice[name], 2 * once[name], 1e-9, 1e-12):
            raise CheckFailure(f"the statistic {name!r} goes to twice as much where a batch has each example twice: take the mean of a "
                               "batch, not its sum")
    masks = masks_for(subject)
    if masks is None or subject.has_loss:
        return ", ".join(names)
    changed = []
    for kind, a, mask in zip(subject.kinds, subject.arrays, masks):
        axis = time_axis(kind, a.ndim)
        there = None if mask is None or axis is None else np.expand_dims(mask, 3 - axis) if a.ndim == 3 else None
        changed.append(a if there is None else np.where(there != 0, a, a + 1.0))
    first, second = (_moves(subject, arrays, masks=masks) for arrays in (subject.arrays, changed))
    for name in names:
        if not np.allclose(first[name], second[name], 1e-9, 1e-12):
            raise CheckFailure(f"masked steps have an influence on the statistic {name!r}: multiply by the mask and divide by its sum "
                               "where define_layer is given one. If that is meant: allow={'statistics of batches'}")
    return ", ".join(names)


def _moves(subject: Subject, arrays: Sequence[Any], start: float = 0.0, masks: Sequence[Any] = ()) -> dict[str, Any]:
    """What is taken off each statistic, all of which have the same value at the start."""
    statistics = {p.name for p in subject.parameters if p.role == "statistic"}
    values = {n: np.full_like(v, start) if n in statistics else v for n, v in subject.values.items()}
    made = Subject(subject.given, subject.conf, subject.kinds, list(arrays), subject.preprocessor, subject.labels, subject.label_mask,
                   subject.parameters, values)
    runner = Runner(made)
    runner.run(arrays, masks)
    ((sd, built),) = runner.built.values()
    feeds = {f"x{i}": a for i, a in enumerate(arrays)} | {f"mask{i}": m for i, m in enumerate(masks) if m is not None}
    moves = built.hooks.statistic_updates
    with np.errstate(all="ignore"):
        found = run_uncompiled(sd, feeds, [v.name() for v in moves.values()], RunContext(training=True, seed=1, iteration=0))
    return {n: np.array(found[v.name()]) for n, v in moves.items()}
