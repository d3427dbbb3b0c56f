"""Gradients by graph nodes, to any order."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import GradientError
from ..ir.node import Node, needed
from .input_gradient import fitted

if TYPE_CHECKING:
    from ..ir.core import GraphCore
    from ..ir.variable import SDVariable


def gradients(sd: GraphCore, losses: Sequence[SDVariable], wrt: Iterable[SDVariable],
              seeds: Mapping[str, SDVariable] | None = None, name_results: bool = False,
              among: Iterable[Node] | None = None) -> dict[str, SDVariable | None]:
    """Add nodes that compute d(sum of losses)/d(variable) to the graph.

    Parameters
    ----------
    sd : graph to extend
    losses : variables whose elements are summed
    wrt : variables to differentiate by
    seeds : name -> gradient, optional
        Gradients that start the sweep in place of ones (external errors).
    name_results : bool
        Name the gradient of variable ``w`` ``w-grad``.
    among : nodes, optional
        All that lie between ``wrt`` and the losses, where the caller knows them: the rest of the graph is not looked at.

    Returns
    -------
    dict of name -> gradient variable; None where the loss does not depend on the variable, zeros where it depends on it
    only through ops that are constant piece by piece.

    Raises
    ------
    GradientError
        When an op on the path has no gradient; names the op and its line.
    """
    wanted = dict.fromkeys(v.name() for v in wrt)       # in this order, so that plans are the same in every process
    starts = dict(seeds or {})
    nodes = needed(sd.nodes() if among is None else among, [v.name() for v in losses] + list(starts))
    path = _depends_on(nodes, wanted)
    sums: dict[str, list[SDVariable]] = {}
    for loss in losses:
        sums.setdefault(loss.name(), []).append(sd.call("base", "ones_like", loss))
    for name, seed in starts.items():
        sums.setdefault(name, []).append(seed)
    for node in reversed(nodes):
        if not path.intersection(node.outputs) or not any(n in sums for n in node.outputs):
            continue
        before = sd.tables.differentiated
        sd.tables.differentiated = before or node.name        # a gradient may be built of gradients: the outermost counts
        try:
            _backward(sd, node, sums, path)
        finally:
            sd.tables.differentiated = before
    read = {n for node in nodes for n in node.inputs}
    for name in wanted:
        if name not in sums and name in read:  # reached only through piecewise constant ops
            sums[name] = [sd.call("base", "zeros_like", sd.variable(name))]
    return {name: _total(sd, name, sums, name_results) for name in wanted}


def _depends_on(nodes: Sequence[Node], wanted: Iterable[str]) -> set[str]:
    """Names of variables that depend on one of ``wanted``."""
    path = set(wanted)
    for node in nodes:
        if any(n in path for n in node.inputs if n is not None):
            path.update(node.outputs)
    return path


def _backward(sd: GraphCore, node: Node, sums: dict[str, list[SDVariable]], path: set[str]) -> None:
    asked = [i for i, n in enumerate(node.inputs) if n in path and sd.variable(n).dtype.is_floating]
    kind = "full" if node.differentiate else node.op.gradient
    if not asked or kind == "zero":
        return
    lacking = asked if kind == "none" else [i for i in asked if i in node.op.not_differentiable_by and not node.differentiate]
    if lacking:
        by = "" if kind == "none" else f" by its input {node.op.inputs.split()[lacking[0]]!r}"
        raise GradientError(f"{node.where()} has no gradient{by}, and {node.inputs[lacking[0]]!r} lies on the way to the loss through it")
    inputs = [None if n is None else sd.variable(n) for n in node.inputs]
    outputs = [sd.variable(n) for n in node.outputs]
    arrived = [_total(sd, n, sums) for n in node.outputs]
    filled = [sd.call("base", "zeros_like", o) if g is None else g for o, g in zip(outputs, arrived)]
    try:
        results = node.grad(inputs, outputs, filled)
    except Exception as error:
        error.add_note(f"while building the gradient of {node.where()}")
        raise
    for i in asked:
        result = results[i] if i < len(results) else None  # left out at the end: zero
        x = inputs[i]
        if result is not None and x is not None:
            sums.setdefault(x.name(), []).append(fitted(node, i, x, result))


def _total(sd: GraphCore, name: str, sums: dict[str, list[SDVariable]], name_it: bool = False) -> SDVariable | None:
    parts = sums.get(name)
    if not parts:
        return None
    total = parts[0]
    for part in parts[1:]:
        total = sd.call("math", "add", total, part)
    if name_it:
        total = sd.call("base", "identity", f"{name}-grad", total)
    sums[name] = [total]
    return total


def check_losses(losses: Sequence[SDVariable]) -> None:
    """GradientError unless every loss is floating."""
    for loss in losses:
        if not loss.dtype.is_floating:
            raise GradientError(f"loss {loss!r} must be of a floating type to be differentiated")
