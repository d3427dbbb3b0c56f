"""Results of a scan's steps, kept for the scan that goes back, which reads them instead of computing them again."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..base.spec import TensorSpec, size
from ..families.by_result import by_result
from ..families.elementwise import Elementwise, PartialDerivative
from ..families.subgraph import SubGraph
from ..ir.node import Node, needed
from ..ops.control.control import Scan

#: Where values of all steps would take more bytes than this, they are computed again.
MAX_KEPT = 1 << 30


def with_kept_steps(nodes: Sequence[Node], outputs: Sequence[str],
                    specs: dict[str, TensorSpec]) -> tuple[list[Node], dict[str, str]]:
    """The nodes of a graph, where a scan reads what one before it has computed in each step; and, for values that nothing computes any
    more, the names of those that are read in place of them.

    Parameters
    ----------
    nodes : in an order in which they can run
    outputs : names of what must be computed
    specs : static specs of all values; those of new ones are added
    """
    read = {n for node in nodes for n in node.inputs} | set(outputs)
    made: list[Node] = []
    places: dict[str | None, int] = {}       # of the scan that gives a value
    alias: dict[str, str] = {}
    for given in nodes:
        node = replace(given, inputs=tuple(None if n is None else alias.get(n, n) for n in given.inputs))
        if isinstance(node.op, Scan):
            for place in dict.fromkeys(places[n] for n in node.inputs if n in places):
                made[place], node = _joined(made[place], node, read, specs, alias)
            places.update(dict.fromkeys(node.outputs, len(made)))
        made.append(node)
    return made, alias


def _joined(first: Node, second: Node, asked: Collection[str | None], specs: dict[str, TensorSpec],
            alias: dict[str, str]) -> tuple[Node, Node]:
    """A scan that also gives what a later one computed again, and the later one, which reads it; both as they are if that is nothing."""
    op: Any = first.op
    later: Any = second.op
    carries, split, ends = later.carries, later.carries + later.sequences, later.body.outputs
    again = _again(first, second) if _is_as_declared(first, specs) else {}
    shapes = op.body.specs(op.step_specs([specs[str(n)] for n in first.inputs]))
    nodes = needed([n if n.outputs[0] in again else _by_result(n, again, shapes) for n in later.body.sd.nodes()], ends)
    dropped = {i for i, n in enumerate(ends) if i >= carries and n in again and shapes[n].is_static}
    left = [n for i, n in enumerate(ends) if i not in dropped]
    stacked = dict(zip(op.body.outputs[op.carries:], first.outputs[op.carries:]))
    read = {n for node in nodes if node.outputs[0] not in again for n in node.inputs} | set(left)
    rows = _rows([n for n in nodes if n.outputs[0] in again], read, later.body.inputs[carries:split], stacked, shapes)
    whole = {second.outputs[i]: ends[i] for i in dropped if second.outputs[i] in asked}
    more = [n for n in dict.fromkeys([*rows, *whole.values()]) if n not in stacked]
    steps = (specs[str(first.inputs[op.carries])].shape or ())[0]
    kept = {f"{first.name}>steps of {n}": TensorSpec((steps, *(shapes[n].shape or ())), shapes[n].dtype) for n in more}
    if not (rows or dropped) or sum(size(s.shape) * s.dtype.numpy.itemsize for s in kept.values()) > MAX_KEPT:
        return first, second
    specs.update(kept)
    stacked.update(zip(more, kept))
    alias.update({o: stacked[n] for o, n in whole.items()})
    count = len(op.body.outputs)
    first = replace(first, op=op.replace(body=SubGraph(op.body.sd, op.body.inputs, [*op.body.outputs, *more])),
                    outputs=(*first.outputs[:count], *kept, *first.outputs[count:]))
    inputs = [*later.body.inputs[:split], *rows, *later.body.inputs[split:]]
    body = SubGraph.of_nodes(later.body.sd, needed([n for n in nodes if set(n.outputs).isdisjoint(rows)], left), inputs, left)
    return first, replace(second, op=later.replace(body=body, sequences=later.sequences + len(rows)),
                          inputs=(*second.inputs[:split], *(stacked[n] for n in rows), *second.inputs[split:]),
                          outputs=tuple(n for i, n in enumerate(second.outputs) if i not in dropped))


def _is_as_declared(scan: Node, specs: Mapping[str, TensorSpec]) -> bool:
    """Whether a body is given the types that it was made for: else they are converted, and what it gives as well."""
    op: Any = scan.op
    return all(op.body.sd.variable(n).dtype is specs[str(outer)].dtype for n, outer in zip(op.body.inputs, scan.inputs))


def _again(first: Node, second: Node) -> dict[str, Node]:
    """The nodes of the second scan's body that the first has too, on the same values, by what they give."""
    op: Any = first.op
    later: Any = second.op
    here, there = op.body.sd, later.body.sd
    whole, taken = op.carries + op.sequences, later.carries + later.sequences
    given = dict(zip(op.body.inputs, [*first.outputs[len(op.body.outputs):], *first.inputs[op.carries:whole]]))
    rows = dict(zip(later.body.inputs[later.carries:taken], second.inputs[later.carries:taken]))
    outside = dict(zip(later.body.inputs[taken:], second.inputs[taken:]))
    same = {n for n, outer in given.items() if rows.get(n) == outer}
    same |= {n for n, outer in zip(op.body.inputs[whole:], first.inputs[whole:]) if outside.get(n) == outer}
    same |= {v.name() for v in here.variables() if v.is_constant() and there.tables.store.get(v.name()) is here.tables.store[v.name()]}
    found: dict[str, Node] = {}
    for node in needed(here.nodes(), op.body.outputs):
        other = there.tables.nodes.get(node.name)
        if other is None or node.op.stateful or not (node.op == other.op and node.inputs == other.inputs and node.outputs == other.outputs):
            continue
        if same.issuperset(n for n in node.inputs if n is not None):
            same.update(node.outputs)
            found.update(dict.fromkeys(node.outputs, other))
    return found


def _by_result(node: Node, again: Mapping[str, Node], shapes: Mapping[str, TensorSpec]) -> Node:
    """A derivative from the result of the op, where that is known and spares an input."""
    op, inputs = node.op, node.inputs[:-1]
    if not isinstance(op, PartialDerivative):
        return node
    result = next((n for n, made in again.items() if made.inputs == inputs and made.op == op.op), None)
    if result is None:
        return node
    made = by_result(op, [shapes[str(n)].dtype for n in inputs], shapes[result].dtype)
    return node if made is None else replace(node, op=made, inputs=(*(inputs[k] for k in made.read), result, node.inputs[-1]))


def _rows(nodes: Sequence[Node], read: Collection[str | None], elements: Sequence[str], stacked: Collection[str],
          shapes: Mapping[str, TensorSpec]) -> list[str]:
    """The values to be read rather than computed again.

    Computed again is what is the same in every step, what has another shape in every step, and what follows element by element from
    values at hand.
    """
    wanted = set(read)
    for node in reversed(nodes):
        if wanted.intersection(node.outputs) and not all(shapes[n].is_static for n in node.outputs):
            wanted.update(node.inputs)
    moving, at_hand, rows = set(elements), set(elements), list[str]()
    for node in nodes:
        before = moving.intersection(str(n) for n in node.inputs)
        moving.update(node.outputs if before else ())
        asked = [n for n in node.outputs if n in wanted]
        if not before or not asked:
            continue
        local = (isinstance(node.op, Elementwise) or node.op.is_view) and at_hand.issuperset(before)
        if all(n in stacked for n in asked) or (not local and all(shapes[n].is_static for n in node.outputs)):
            rows += asked
        at_hand.update(asked)
    return rows
