"""The order of axes in memory: results that are only read with their axes permuted lie like that from the start."""
from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

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
        for order in _permuted(name, len(specs[name].shape or ()), readers, kept):
            if step.orders(order):          # that of the last one counts
                found[name] = order
    return found


def _permuted(name: str, rank: int, readers: Mapping[Value | None, Sequence[PlanStep]], kept: Collection[str]) -> Iterator[list[int]]:
    """The orders in which permutations that follow each other, and of which each alone reads the one before, take the axes."""
    order = list(range(rank))
    while name not in kept and len(read := readers.get(name, ())) == 1:
        op = read[0].nodes[0].op
        if not isinstance(op, Permute) or len(read[0].inputs) != 1:
            return
        order = [order[axis] for axis in op.order(rank, op.dimensions)]
        yield order
        name = read[0].outputs[0]
