"""Products of a scan's body that need no step before them: all steps at once, in front of the scan or behind it."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...base.spec import TensorSpec
from ...families.array_code.symbolic_size import NotInGraphError
from ...families.subgraph import SubGraph
from ...ir.node import Node, needed
from ...ir.op import Expandable
from ..linalg.matmul import Matmul
from ..shape.broadcasting import Flatten2D
from ..shape.reshaping import Reshape

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@dataclass(frozen=True)
class StepProduct:
    """The product of a matrix of each step and one from outside.

    Attributes
    ----------
    steps : number of the sequence that is the left factor, or of the output that it makes
    outside : number of the right factor among the inputs of the scan's body
    transposed : whether that one is transposed
    """

    steps: int
    outside: int
    transposed: bool


@dataclass(frozen=True)
class Hoisted:
    """A body without such products.

    Attributes
    ----------
    body : has the results of ``before`` as further elements, behind the others, and gives left factors of ``after`` instead of products
    before : products of elements
    after : products that are results and nothing else
    """

    body: SubGraph
    before: tuple[StepProduct, ...]
    after: tuple[StepProduct, ...]


def hoisted(body: SubGraph, carries: int, sequences: int, specs: Sequence[TensorSpec]) -> Hoisted:
    """The body without the products that can be moved out, and those products, for inputs of these static specs."""
    sd, split = body.sd, carries + sequences
    places = {n: i for i, n in enumerate(body.inputs)}
    known = body.specs(specs)
    kept, same = _simplified(needed(sd.nodes(), body.outputs), known)
    results = [same.get(n, n) for n in body.outputs]
    nodes = needed(kept, results)       # again: dropped nodes may have been the only readers of others
    readers: dict[str | None, int] = {}
    for n in [n for node in nodes for n in node.inputs] + results:
        readers[n] = readers.get(n, 0) + 1

    def right(node: Node) -> int:
        """The place of the right factor from outside, where it is a plain product of matrices by one."""
        op = node.op
        if type(op) is not Matmul or op.transpose_x or op.transpose_z or any(len(known[str(n)].shape or ()) != 2 for n in node.inputs):
            return -1
        place = places.get(str(node.inputs[1]), -1)
        return place if place >= split else -1

    before: dict[str, StepProduct] = {}
    after: dict[str, StepProduct] = {}
    left: dict[str, str] = {}
    for node in nodes:
        outside, (name, *_) = right(node), node.outputs
        if outside < 0:
            continue
        x = str(node.inputs[0])
        if carries <= places.get(x, -1) < split:
            before[name] = StepProduct(places[x] - carries, outside, node.op.transpose_y)  # type: ignore[attr-defined]  # a product
        elif readers[name] == 1 and name in results[carries:]:
            after[name] = StepProduct(results.index(name), outside, node.op.transpose_y)  # type: ignore[attr-defined]
            left[name] = x
    if not before and not after and results == list(body.outputs):
        return Hoisted(body, (), ())
    inputs = [*body.inputs[:split], *before, *body.inputs[split:]]
    kept = [n for n in nodes if n.outputs[0] not in before and n.outputs[0] not in after]
    return Hoisted(SubGraph.of_nodes(sd, kept, inputs, [left.get(n, n) for n in results]), tuple(before.values()), tuple(after.values()))


def _simplified(nodes: Sequence[Node], specs: Mapping[str, TensorSpec]) -> tuple[list[Node], dict[str, str]]:
    """The nodes without those that have no work to do for these specs, and what stands for their values."""
    same: dict[str, str] = {}
    kept = []
    for node in nodes:
        inputs = [None if n is None else same.get(n, n) for n in node.inputs]
        given = [specs[n] for n in inputs if n is not None]
        place = node.op.same_as(*given) if len(given) == len(inputs) else None
        if place is None:
            kept.append(replace(node, inputs=tuple(inputs)))
        else:
            same[node.outputs[0]] = str(inputs[place])
    return kept, same


class StepProducts(Expandable):
    """A scan as plans run it: products that need no step before them are nodes of their own, which others share or nobody reads; what the
    body gives several times is kept once, and what it does not read is not taken apart.

    Parameters
    ----------
    scan : the op
    """

    id = "step_products"

    def __init__(self, scan: Any) -> None:
        object.__setattr__(self, "scan", scan)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StepProducts) and self.scan == other.scan  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((StepProducts, self.scan))  # type: ignore[attr-defined]

    def expand(self, *inputs: SDVariable) -> tuple[SDVariable, ...]:
        """Products, scan, products; a TraceError where the scan is that already."""
        scan: Any = self.scan  # type: ignore[attr-defined]
        sd, carries, split = inputs[0].sd, scan.carries, scan.carries + scan.sequences
        elements = [TensorSpec((v.spec.shape or ())[1:], v.spec.dtype) for v in inputs[carries:split]]
        whole = [v.spec for v in (*inputs[:carries], *inputs[split:])]
        found = hoisted(scan.body, carries, scan.sequences, [*whole[:carries], *elements, *whole[carries:]])
        body, results = found.body, found.body.outputs[carries:]
        rows = body.inputs[carries:split + len(found.before)]
        kept = list(dict.fromkeys(n for n in results if n not in rows))
        if not (found.before or found.after or len(kept) < len(results)):
            raise NotInGraphError("the scan is in this form already")
        products = [_multiplied(sd, inputs[carries + p.steps], inputs[p.outside], p.transposed) for p in found.before]
        given = dict(zip(body.inputs, (*inputs[:split], *products, *inputs[split:])))
        read = {n for node in body.sd.nodes() for n in node.inputs} | {*body.outputs[:carries], *kept}
        taken = [n for n in rows if n in read] or [rows[0]]
        outside = [n for n in body.inputs[split + len(products):] if n in read]
        names = [*body.inputs[:carries], *taken, *outside]
        smaller = SubGraph.of_nodes(body.sd, body.sd.nodes(), names, [*body.outputs[:carries], *kept])
        made = sd.add_op(scan.replace(body=smaller, sequences=len(taken)), [given[n] for n in names])
        by_name = {**given, **dict(zip(kept, made[carries:]))}
        stacked = [by_name[n] for n in results]
        for p in found.after:
            stacked[p.steps - carries] = _multiplied(sd, stacked[p.steps - carries], inputs[p.outside], p.transposed)
        return (*made[:carries], *stacked, *made[carries + len(kept):])


def _multiplied(sd: Any, x: SDVariable, y: SDVariable, transposed: bool) -> SDVariable:
    """The products of all steps as one."""
    rows = sd.add_op(Matmul(transpose_y=transposed), [sd.add_op(Flatten2D(axis=2), [x]), y])
    return sd.add_op(Reshape((*(x.spec.shape or ())[:2], rows.spec.shape[1])), [rows])  # type: ignore[no-any-return]
