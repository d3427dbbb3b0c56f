"""The order of axes in memory: results that are only read with their axes permuted lie like that from the start."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..base.spec import TensorSpec
from ..ops.shape.reshaping import Permute
from ..plans.plan_data import PlanStep, Value


def orders(steps: Sequence[PlanStep], specs: Mapping[Value, TensorSpec], kept: Collection[str]) -> dict[str, list[int]]:
    """The order of the axes of each result that is not to lie in its own: the heads of an attention meet without a copy.

    Parameters
    ----------
    steps : of a plan
    specs : static specs of all values
    kept : names of results that lie as somebody outside wants them
    """
    readers: dict[Value | None, list[PlanStep]] = {}
    for step in steps:
        for n in dict.fromkeys(step.inputs):
            readers.setdefault(n, []).append(step)
    found = {}
    for step in steps:
        if step.orders is None or not step.outputs:                 # a control dependency computes nothing
            continue
        name = step.outputs[0]
        read = readers.get(name, [])
        if name in kept or len(read) != 1:
            continue
        order = _permuted(read[0], len(specs[name].shape or ()))
        if order is not None and step.orders(order):
            found[name] = order
    return found


def _permuted(step: PlanStep, rank: int) -> list[int] | None:
    op = step.nodes[0].op
    return op.order(rank, op.dimensions) if isinstance(op, Permute) and len(step.inputs) == 1 else None
